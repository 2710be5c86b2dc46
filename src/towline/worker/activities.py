"""Activity tasks: from the poll's answer to the report."""

from typing import assert_never

from towline.activity import ActivityCancelled, DeadlinePassed
from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.api.task_service_pb2 import (
    CompleteActivityTaskRequest,
    FailActivityTaskRequest,
    PollActivityTaskResponse,
)
from towline.client.handover import Inbox
from towline.convert import DataConverter
from towline.exceptions import ApplicationError
from towline.rpc import TASK_METHODS
from towline.worker.attempt import Attempt, Completed, Failed, Outcome
from towline.worker.failures import failure_of, headline, stack_of
from towline.worker.link import Link
from towline.worker.registry import ActivityRegistry
from towline.worker.reports import ReportRefused, Reports
from towline.worker.user_code import UserCode


class Activities:
    """Runs activity tasks. Lives on the I/O loop; the code itself runs in `user_code`."""

    def __init__(
        self,
        *,
        link: Link,
        io: Inbox,
        registry: ActivityRegistry,
        user_code: UserCode,
        reports: Reports,
        converter: DataConverter,
    ) -> None:
        self._link = link
        self._io = io
        self._registry = registry
        self._user_code = user_code
        self._reports = reports
        self._converter = converter
        self._running: set[Attempt] = set()

    async def run(self, task: PollActivityTaskResponse) -> None:
        """Run the task and report what came out, unless its lease is lost."""
        deadline_ms = self._deadline_ms(task)
        try:
            definition = self._registry.find(task.activity_type, task_queue=self._link.task_queue)
        except ApplicationError as error:
            await self._report(task, Failed(self._failure(error)), None, deadline_ms=deadline_ms)
            return
        attempt = Attempt(
            task,
            definition,
            link=self._link,
            io=self._io,
            converter=self._converter,
            user_loop=self._user_code.loop,
        )
        outcome, unsent = await self._execute(attempt, deadline_ms)
        if attempt.lease_gone:
            self._link.logger.warning("activity not reported", **_fields(task), reason=str(attempt.cancel_cause()))
        else:
            await self._report(task, outcome, unsent, deadline_ms=deadline_ms)

    def cancel(self, cause: ActivityCancelled) -> None:
        """Tell every running activity to stop."""
        for attempt in list(self._running):
            attempt.cancel(cause)

    async def _execute(self, attempt: Attempt, deadline_ms: int | None) -> tuple[Outcome, Payloads | None]:
        passed = None
        if deadline_ms is not None:
            passed = self._link.clock.call_later(
                deadline_ms - self._link.clock.now_ms(),
                lambda: attempt.cancel(DeadlinePassed("the attempt took longer than its time-out allows")),
            )
        self._running.add(attempt)
        try:
            self._user_code.start(attempt)
            outcome = await attempt.outcome
        finally:
            self._running.discard(attempt)
            unsent = attempt.end()
            if passed is not None:
                passed.cancel()
        return outcome, unsent

    async def _report(
        self, task: PollActivityTaskResponse, outcome: Outcome, unsent: Payloads | None, *, deadline_ms: int | None
    ) -> None:
        match outcome:
            case Completed(result):
                try:
                    await self._complete(task, result, deadline_ms)
                except ReportRefused as refused:
                    failure = self._failure(_refusal(task, refused))
                    await self._fail(task, failure, unsent, deadline_ms=deadline_ms)
            case Failed(failure):
                await self._fail(task, failure, unsent, deadline_ms=deadline_ms)
            case _:
                assert_never(outcome)

    async def _complete(self, task: PollActivityTaskResponse, result: Payloads, deadline_ms: int | None) -> None:
        request = CompleteActivityTaskRequest(
            task_token=task.task_token, lease_token=task.lease_token, result=result, identity=self._link.identity
        )
        method = TASK_METHODS["CompleteActivityTask"]
        await self._reports.send(method, request, subject=_subject(task), deadline_ms=deadline_ms)

    async def _fail(
        self, task: PollActivityTaskResponse, failure: Failure, unsent: Payloads | None, *, deadline_ms: int | None
    ) -> None:
        self._link.logger.warning(
            "activity attempt failed", **_fields(task), reason=headline(failure), stack=stack_of(failure)
        )
        request = FailActivityTaskRequest(
            task_token=task.task_token,
            lease_token=task.lease_token,
            failure=failure,
            identity=self._link.identity,
            last_heartbeat_details=unsent,
        )
        method = TASK_METHODS["FailActivityTask"]
        try:
            await self._reports.send(method, request, subject=_subject(task), deadline_ms=deadline_ms)
        except ReportRefused as refused:
            self._link.logger.error(
                "failure refused: the attempt times out", subject=_subject(task), reason=str(refused)
            )

    def _failure(self, error: Exception) -> Failure:
        return failure_of(error, converter=self._converter.failures)

    def _deadline_ms(self, task: PollActivityTaskResponse) -> int | None:
        """When the attempt is over by the worker's clock. Only the difference of the server's times counts."""
        if not task.deadline_ms:
            return None
        now_ms = self._link.clock.now_ms()
        return now_ms + max(0, task.deadline_ms - (task.started_time_ms or now_ms))


def _refusal(task: PollActivityTaskResponse, refused: ReportRefused) -> ApplicationError:
    return ApplicationError(
        f"the result of activity {task.activity_type!r} was refused: {refused.message}",
        type="ResultRefused",
        non_retryable=True,  # the next attempt would most likely return the same
    )


def _fields(task: PollActivityTaskResponse) -> dict[str, object]:
    """What log lines say of the attempt."""
    return {
        "activity_type": task.activity_type,
        "activity_id": task.activity_id,
        "workflow_id": task.execution.workflow_id,
        "run_id": task.execution.run_id,
        "attempt": task.attempt,
    }


def _subject(task: PollActivityTaskResponse) -> str:
    return f"{task.idempotency_key} attempt {task.attempt} of {task.activity_type}"
