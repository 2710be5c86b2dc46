"""Every store keeps the contract."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from towline.store.api import Store
from towline.store.conformance import StoreConformance
from towline.store.memory import MemoryStore
from towline.store.sqlite.store import SqliteStore


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        store = MemoryStore()
        await store.open()
        yield store
        await store.close()


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = SqliteStore(tmp_path / "towline.db")
        await store.open()
        yield store
        await store.close()
