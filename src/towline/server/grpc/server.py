"""The listening end."""

from typing import Final

import grpc.aio
import structlog
from grpc_health.v1 import health, health_pb2
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server
from grpc_reflection.v1alpha import reflection

from towline import limits
from towline.rpc import TASK_METHODS, TASK_SERVICE, WORKFLOW_METHODS, WORKFLOW_SERVICE
from towline.server.grpc.answering import Answering
from towline.server.grpc.api import Services
from towline.server.grpc.handlers import ServiceHandler

OPTIONS: Final = (
    ("grpc.max_receive_message_length", limits.MESSAGE_SIZE_BYTES + limits.MESSAGE_ENVELOPE_SIZE_BYTES),
    ("grpc.max_send_message_length", limits.MESSAGE_SIZE_BYTES + limits.MESSAGE_ENVELOPE_SIZE_BYTES),
    # gRPC's own limit is 1,000, and it refuses with CANCELLED, which says nothing to the caller.
    ("grpc.server.max_pending_requests", limits.PENDING_CALLS),
    ("grpc.server.max_pending_requests_hard_limit", limits.PENDING_CALLS_HARD_LIMIT),
    # Two servers on one port would share its connections at random.
    ("grpc.so_reuseport", 0),
    # A peer that lost power says nothing; its stream, and the polls on it, must end all the same.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Clients may do the same, also while nothing is going on.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)


class BindError(Exception):
    """The server cannot listen where it was told to. The message says where and what to do."""


class GrpcServer:
    """Serves both services, health and reflection, on the running event loop."""

    def __init__(
        self,
        services: Services,
        *,
        address: str,
        logger: structlog.typing.FilteringBoundLogger | None = None,
    ) -> None:
        self._address = address
        answering = Answering(services, logger=logger or structlog.get_logger("towline.grpc"))
        self._handlers = [
            ServiceHandler(WORKFLOW_SERVICE.full_name, WORKFLOW_METHODS, answering),
            ServiceHandler(TASK_SERVICE.full_name, TASK_METHODS, answering),
        ]
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined]  # missing in the stubs
        self._server: grpc.aio.Server | None = None

    async def start(self) -> int:
        """Listen; returns the port, which the system chose if the address names port 0. Raises BindError."""
        server = grpc.aio.server(options=OPTIONS)
        server.add_generic_rpc_handlers(self._handlers)
        add_HealthServicer_to_server(self._health, server)
        names = [WORKFLOW_SERVICE.full_name, TASK_SERVICE.full_name]
        reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
        port = self._bind(server)
        await server.start()
        for name in ["", *names]:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server = server
        return port

    async def stop(self, grace_ms: int) -> None:
        """Say NOT_SERVING, take no new calls, and give those that run this long before they are cancelled.

        Whoever owns the services ends their waiting polls first, or those use up the whole grace. May be called twice.
        """
        if self._server is None:
            return
        server, self._server = self._server, None
        await self._health.enter_graceful_shutdown()
        for handler in self._handlers:
            handler.drain()
        await server.stop(grace_ms / 1000)

    def _bind(self, server: grpc.aio.Server) -> int:
        try:
            port = server.add_insecure_port(self._address)
        except RuntimeError:
            port = 0  # gRPC's message names the address, and variables for debugging gRPC
        if port == 0:
            raise BindError(
                f"cannot listen on {self._address}: another process may hold the port, or the address is not "
                "one of this machine; stop the other one or choose another address (port 0 lets the system choose)"
            )
        return port
