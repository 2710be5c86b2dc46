"""A request on its way through the engine."""

import asyncio
from dataclasses import dataclass

from towline.core.decision import Outcome
from towline.core.refusal import Refused
from towline.core.request import Request
from towline.server.lease import Lease


@dataclass(frozen=True, slots=True)
class Answer:
    """A request that was carried out and is durable."""

    outcome: Outcome
    lease: Lease | None = None  # of a DeliverTask that leased its task
    next_task: Lease | None = None  # the run's next workflow task, where it was asked for and one was due


class StartConflict(Exception):
    """The workflow id got another newest run meanwhile: judge the start again."""


@dataclass(eq=False, slots=True)
class Asked:
    """A request that waits for its turn, and then for the commit that carries it."""

    request: Request
    future: "asyncio.Future[Answer]"
    next_task_for: str | None = None  # identity of the worker that takes the run's next workflow task if one is due
    replaces_run_id: str = ""  # of a start: the newest run of the workflow id
    conflicts: int = 0
    outcome: Outcome | None = None
    refusal: Refused | None = None
    lease: Lease | None = None
    next_task: Lease | None = None

    def answer(self) -> bool:
        """Say what came of it, now that it is durable. False: nobody waits for it any more."""
        if self.future.done():
            return False
        if self.refusal is not None:
            self.future.set_exception(self.refusal)
            return True
        assert self.outcome is not None
        self.future.set_result(Answer(self.outcome, self.lease, self.next_task))
        return True

    def forget(self) -> None:
        """What was decided was not committed."""
        self.outcome = self.refusal = self.lease = self.next_task = None

    def fail(self, error: Exception) -> None:
        """Answer that it cannot be done."""
        if not self.future.done():
            self.future.set_exception(error)

    def leases(self) -> list[Lease]:
        """What the answer hands out."""
        return [lease for lease in (self.lease, self.next_task) if lease is not None]
