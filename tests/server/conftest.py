"""The server under test, on each store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.protocol import Protocol
from towline.store.api import Store
from towline.store.memory import MemoryStore
from towline.store.sqlite.store import SqliteStore
from towline.testing.clock import FakeClock

START_MS = 1_000_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START_MS)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "towline.db")


@pytest.fixture
async def protocol(store: Store, clock: FakeClock) -> AsyncIterator[Protocol]:
    async with Protocol(store, clock) as served:
        yield served
