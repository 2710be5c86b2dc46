"""Workflow tasks: from the poll's answer to the report."""

from collections.abc import Callable

from towline import limits
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import (
    CompleteWorkflowTaskRequest,
    CompleteWorkflowTaskResponse,
    FailWorkflowTaskRequest,
    PollWorkflowTaskResponse,
    ReleaseTaskRequest,
)
from towline.api.workflow_service_pb2 import GetHistoryRequest, GetHistoryResponse
from towline.convert import FailureConverter
from towline.exceptions import ApplicationError
from towline.rpc import TASK_METHODS, WORKFLOW_METHODS
from towline.runtime import WorkflowTaskFailed
from towline.worker.failures import failure_of, headline, stack_of
from towline.worker.link import Link
from towline.worker.poller import release
from towline.worker.reports import ReportRefused, Reports
from towline.worker.workflow_code import Decision, WorkflowCode


class WorkflowTasks:
    """Carries workflow tasks out. Lives on the I/O loop; the code itself runs in `code`."""

    def __init__(
        self,
        *,
        link: Link,
        code: WorkflowCode,
        reports: Reports,
        failures: FailureConverter,
        draining: Callable[[], bool],
    ) -> None:
        self._link = link
        self._code = code
        self._reports = reports
        self._failures = failures
        self._draining = draining

    async def run(self, task: PollWorkflowTaskResponse) -> None:
        """Decide the task and report; likewise the run's next one, as long as the report's answer brings one."""
        following: PollWorkflowTaskResponse | None = task
        while following is not None:
            following = await self._run_one(following)
            if following is not None and self._draining():
                await release(ReleaseTaskRequest(task_token=following.task_token), self._reports, self._link)
                return

    async def _run_one(self, task: PollWorkflowTaskResponse) -> PollWorkflowTaskResponse | None:
        deadline_ms = self._deadline_ms(task)
        history = await self._whole_history(task, deadline_ms)
        if history is None:
            return None
        decision = await self._code.decide(task, history)
        return await self._report(task, decision, deadline_ms)

    async def _whole_history(self, task: PollWorkflowTaskResponse, deadline_ms: int) -> list[HistoryEvent] | None:
        """The events through the task's started event. None: the task is not ours any more."""
        events = list(task.history.events)
        token = task.next_page_token
        while token:
            request = GetHistoryRequest(namespace=self._link.namespace, execution=task.execution, next_page_token=token)
            try:
                page: GetHistoryResponse | None = await self._reports.send(
                    WORKFLOW_METHODS["GetHistory"], request, subject=_subject(task), deadline_ms=deadline_ms
                )
            except ReportRefused as refused:
                self._link.logger.error("history cannot be read", subject=_subject(task), reason=str(refused))
                return None
            if page is None:
                return None
            events.extend(page.history.events)
            token = page.next_page_token
        return events

    async def _report(
        self, task: PollWorkflowTaskResponse, decision: Decision, deadline_ms: int
    ) -> PollWorkflowTaskResponse | None:
        if isinstance(decision, WorkflowTaskFailed):
            await self._fail(task, decision, deadline_ms)
            return None
        request = CompleteWorkflowTaskRequest(
            task_token=task.task_token,
            commands=decision,
            identity=self._link.identity,
            return_new_workflow_task=not self._draining(),
            worker_instance_key=self._link.worker_instance_key,
        )
        try:
            response: CompleteWorkflowTaskResponse | None = await self._reports.send(
                TASK_METHODS["CompleteWorkflowTask"], request, subject=_subject(task), deadline_ms=deadline_ms
            )
        except ReportRefused as refused:
            await self._fail(task, self._refusal(task, refused), deadline_ms)
            return None
        return response.workflow_task if response is not None and response.HasField("workflow_task") else None

    async def _fail(self, task: PollWorkflowTaskResponse, failed: WorkflowTaskFailed, deadline_ms: int) -> None:
        self._link.logger.error(
            "workflow task failed: the run stays open and the task is tried again",
            subject=_subject(task),
            cause=WorkflowTaskFailedCause.Name(failed.cause),
            reason=headline(failed.failure),
            stack=stack_of(failed.failure),
        )
        request = FailWorkflowTaskRequest(
            task_token=task.task_token, cause=failed.cause, failure=failed.failure, identity=self._link.identity
        )
        method = TASK_METHODS["FailWorkflowTask"]
        try:
            await self._reports.send(method, request, subject=_subject(task), deadline_ms=deadline_ms)
        except ReportRefused as refused:
            self._link.logger.error("failure refused: the task times out", subject=_subject(task), reason=str(refused))

    def _refusal(self, task: PollWorkflowTaskResponse, refused: ReportRefused) -> WorkflowTaskFailed:
        error = ApplicationError(
            f"the commands of workflow {task.workflow_type!r} were refused: {refused.message}", type="CommandsRefused"
        )
        cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
        return WorkflowTaskFailed(cause, failure_of(error, converter=self._failures))

    def _deadline_ms(self, task: PollWorkflowTaskResponse) -> int:
        """When to give up reporting. Clocks may differ: a worker must not give up early, and the server fences."""
        return max(task.deadline_ms, self._link.clock.now_ms() + limits.WORKFLOW_TASK_TIMEOUT_MS)


def _subject(task: PollWorkflowTaskResponse) -> str:
    return f"{task.execution.workflow_id} (run {task.execution.run_id}) event {task.started_event_id}"
