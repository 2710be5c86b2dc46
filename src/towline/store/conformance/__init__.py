"""The contract of `towline.store.api` as tests, for any store.

A store proves itself with a subclass that has a fixture named `store`, an open and empty one:

    class TestMyStore(StoreConformance):
        @pytest.fixture
        async def store(self) -> AsyncIterator[Store]:
            ...
"""

from towline.store.conformance.commit import CommitConformance
from towline.store.conformance.deletion import DeletionConformance
from towline.store.conformance.history import HistoryConformance
from towline.store.conformance.runs import RunConformance
from towline.store.conformance.tasks import TaskConformance
from towline.store.conformance.timers import TimerConformance


class StoreConformance(
    CommitConformance,
    RunConformance,
    HistoryConformance,
    TaskConformance,
    TimerConformance,
    DeletionConformance,
):
    """All of it."""
