"""A whole server over real gRPC, on the running loop, that a test can stop and start again."""

from pathlib import Path
from types import TracebackType
from typing import Self

from towline.client import Client, Connection
from towline.clock import Clock, SystemClock
from towline.server.app import Server
from towline.server.grpc.server import GrpcServer
from towline.server.settings import Settings
from towline.testing.ids import SequenceIds


class RealServer:
    """One address and one database, served by one server after the other."""

    def __init__(self, db_path: Path, *, clock: Clock | None = None) -> None:
        self._settings = Settings(db_path=db_path)
        self.clock = clock or SystemClock()
        self.address = "127.0.0.1:0"
        self._ids = SequenceIds("run")
        self._server: Server | None = None
        self._front: GrpcServer | None = None

    async def start(self) -> None:
        """Serve, the second time on the same port."""
        self._server = Server(self._settings, clock=self.clock, ids=self._ids)
        await self._server.start()
        self._front = GrpcServer(self._server.services, address=self.address)
        self.address = f"127.0.0.1:{await self._front.start()}"

    async def stop(self) -> None:
        """End all polls and connections, and the server."""
        if self._server is not None and self._front is not None:
            self._server.send_home()
            await self._front.stop(0)
            await self._server.stop()
        self._server = self._front = None

    async def connect(self) -> Client:
        """A client with all its I/O on this loop, and the server's clock."""
        connection = await Connection.on_this_loop(self.address, clock=self.clock, ids=SequenceIds("client"))
        return Client(connection, identity="me")

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
