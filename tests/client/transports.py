"""The same services behind each transport."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from tests.wire.fake_services import serving
from towline.client.connection import Connection, Wire
from towline.clock import Clock
from towline.ids import Ids

KINDS: Final = ("unary", "attach", "local")


@asynccontextmanager
async def connected(
    kind: str, services: Any, *, clock: Clock | None = None, ids: Ids | None = None
) -> AsyncIterator[Connection]:
    """A connection of that kind, on the running loop."""
    if kind == "local":
        connection = Connection.local(services, clock=clock, ids=ids)
        yield connection
        await connection.close()
        return
    async with serving(services) as target:
        connection = await Connection.on_this_loop(target, wire=Wire(kind), clock=clock, ids=ids)
        yield connection
        await connection.close()
