"""A whole server: the only place that picks a store and puts the parts together."""

import asyncio
from collections.abc import Callable

import structlog

from towline.clock import Clock, SystemClock
from towline.ids import Ids, RandomIds
from towline.server.agenda import Agendas
from towline.server.duties.base import Duty
from towline.server.duties.delays import Delays
from towline.server.duties.leases import Leases
from towline.server.duties.retention import Retention
from towline.server.duties.sweep import Sweep
from towline.server.duties.timers import Timers
from towline.server.engine import Engine
from towline.server.grpc.server import GrpcServer
from towline.server.matching import Matching
from towline.server.services.envelope import Envelope
from towline.server.services.history import HistoryReader
from towline.server.services.polls import Polls
from towline.server.services.services import Services
from towline.server.services.task_service import TaskService
from towline.server.services.workflow_service import WorkflowService
from towline.server.settings import Settings
from towline.server.watchers import Watchers
from towline.store.api import Store
from towline.store.memory import MemoryStore
from towline.store.sqlite.store import SqliteStore

log = structlog.get_logger(__name__)


def pick_store(settings: Settings) -> Store:
    """The store that the settings ask for, not open yet."""
    return MemoryStore() if settings.db_path is None else SqliteStore(settings.db_path)


class Server:
    """The engine with its duties and services, without a wire: tests and embedded engines call `services` directly."""

    def __init__(
        self, settings: Settings, *, store: Store | None = None, clock: Clock | None = None, ids: Ids | None = None
    ) -> None:
        self.store = store or pick_store(settings)
        self.watchers = Watchers()
        clock, ids = clock or SystemClock(), ids or RandomIds()
        self.matching = Matching(self.store, clock=clock, ready_limit=settings.ready_tasks_per_queue)
        agendas = Agendas.empty(limit=settings.agenda_entries)
        self.engine = Engine(
            self.store,
            matching=self.matching,
            agendas=agendas,
            watchers=self.watchers,
            clock=clock,
            settings=settings,
        )
        self.services = self._services(settings, clock, ids=ids)
        self._duties: list[Duty] = [
            Leases(self.engine, self.store, agendas=agendas, clock=clock, settings=settings),
            Delays(self.matching, self.store, agendas=agendas, clock=clock, settings=settings),
            Timers(self.engine, self.store, agendas=agendas, clock=clock, settings=settings),
            Sweep(self.matching, clock=clock, settings=settings),
            Retention(self.engine, self.store, clock=clock, settings=settings),
        ]
        self._running: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open the store and go on from what it holds. Raises StoreUnusable."""
        await self.store.open()
        self._running = [asyncio.create_task(duty.run(), name=type(duty).__name__) for duty in self._duties]

    def send_home(self) -> None:
        """End every waiting poll and watcher, now and later, so that their callers can go elsewhere."""
        self.matching.close()
        self.watchers.close()

    async def stop(self) -> None:
        """Stop the duties, finish what was begun, give back what nobody received, close the store."""
        self.send_home()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.engine.close()
        await self.store.close()

    def _services(self, settings: Settings, clock: Clock, *, ids: Ids) -> Services:
        envelope = Envelope(self.store, namespaces=settings.namespaces)
        wait_ms = settings.long_poll_timeout_ms
        history = HistoryReader(
            self.engine, self.store, watchers=self.watchers, clock=clock, long_poll_timeout_ms=wait_ms
        )
        polls = Polls(self.engine, self.matching, history=history, clock=clock, long_poll_timeout_ms=wait_ms)
        return Services(
            WorkflowService(self.engine, self.store, history=history, envelope=envelope, ids=ids),
            TaskService(self.engine, self.matching, polls=polls, envelope=envelope),
        )


async def serve(settings: Settings, *, stop: asyncio.Event, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve over gRPC until `stop` is set. `on_ready` gets the address that is listened on ("127.0.0.1:7470").

    Raises StoreUnusable and BindError.
    """
    server = Server(settings)
    await server.start()
    front = GrpcServer(server.services, address=settings.address)
    try:
        port = await front.start()
        address = f"{settings.address.rpartition(':')[0]}:{port}"
        log.info("server ready", address=address, store=str(settings.db_path or "memory"))
        if on_ready is not None:
            on_ready(address)
        await stop.wait()
        log.info("server stops")
    finally:
        server.send_home()
        await front.stop(settings.stop_grace_ms)
        await server.stop()
