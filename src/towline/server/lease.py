"""A delivered task, on its way to the worker."""

from dataclasses import dataclass
from typing import Protocol

from google.protobuf.message import Message

from towline import limits
from towline.api.common_pb2 import WorkflowExecution
from towline.api.task_service_pb2 import PollActivityTaskResponse, PollWorkflowTaskResponse
from towline.api.token_pb2 import TaskDetails
from towline.core.request import ReleaseTask
from towline.core.state import Run
from towline.core.task import WORKFLOW_QUEUE_PREFIX, TaskRow
from towline.core.workflow_task import suggest_continue_as_new, virtual_started_event
from towline.server.blobs import Blob, Page, cut_page, encode_event, with_history
from towline.server.tokens import history_page_token, open_task_token, task_token

_HISTORY_FIELD = PollWorkflowTaskResponse.DESCRIPTOR.fields_by_name["history"].number


class ReadPage(Protocol):
    """Reads a first page of history from the store."""

    async def __call__(self, run_id: str, *, last_event_id: int) -> Page: ...


@dataclass(frozen=True, slots=True)
class ActivityLease:
    """An activity task, leased."""

    row: TaskRow
    message: PollActivityTaskResponse

    async def answer(self, read_page: ReadPage) -> Message | bytes:
        """The poll's answer."""
        return self.message


@dataclass(slots=True)
class WorkflowLease:
    """A workflow task, leased. What it says of the run was noted when it was decided: later events are not in it."""

    row: TaskRow
    head: PollWorkflowTaskResponse  # all but the history
    last_event_id: int  # the last one in history that the worker sees
    virtual_event: bytes  # an encoded WorkflowTaskStarted that is not in history yet; empty: it is
    blobs: tuple[Blob, ...] | None = None  # the history, noted when it is durable; None: read it from the store

    async def answer(self, read_page: ReadPage) -> Message | bytes:
        """The poll's answer, with the first page of history."""
        if self.blobs is None:
            return self._join(await read_page(self.row.run_id, last_event_id=self.last_event_id))
        page = cut_page(
            self.blobs,
            1,
            last_event_id=self.last_event_id,
            maximum_bytes=limits.FIRST_PAGE_SIZE_BYTES,
            at_least_one=False,
        )
        return self._join(page)

    def _join(self, page: Page) -> bytes:
        data = page.data
        if page.next_event_id:
            self.head.next_page_token = history_page_token(
                self.row.run_id,
                next_event_id=page.next_event_id,
                last_event_id=self.last_event_id,
                tail=self.virtual_event,
            )
        else:
            data += self.virtual_event
        return with_history(self.head.SerializeToString(), field_number=_HISTORY_FIELD, history=data)


Lease = ActivityLease | WorkflowLease


def lease_of(run: Run, row: TaskRow) -> Lease:
    """The lease that a delivery just made on this run."""
    if row.queue.startswith(WORKFLOW_QUEUE_PREFIX):
        return _workflow_lease(run, row)
    return _activity_lease(run, row)


def release(row: TaskRow) -> ReleaseTask:
    """The request that gives a lease back."""
    return ReleaseTask(open_task_token(task_token(row)))


def _workflow_lease(run: Run, row: TaskRow) -> WorkflowLease:
    state = run.state
    virtual = virtual_started_event(run, row)
    head = PollWorkflowTaskResponse(
        task_token=task_token(row),
        execution=WorkflowExecution(workflow_id=state.workflow_id, run_id=state.run_id),
        workflow_type=state.workflow_type,
        previous_started_event_id=state.previous_started_event_id,
        started_event_id=row.started_event_id,
        attempt=row.attempt,
        continue_as_new_suggested=suggest_continue_as_new(state),
        lease_token=row.lease_token,
        deadline_ms=row.lease_expires_at_ms,
    )
    return WorkflowLease(
        row=row,
        head=head,
        last_event_id=row.started_event_id if virtual is None else row.started_event_id - 1,
        virtual_event=b"" if virtual is None else encode_event(virtual),
    )


def _activity_lease(run: Run, row: TaskRow) -> ActivityLease:
    state = run.state
    activity = state.activities[row.scheduled_event_id]
    details = TaskDetails.FromString(row.details)
    message = PollActivityTaskResponse(
        task_token=task_token(row),
        lease_token=row.lease_token,
        execution=WorkflowExecution(workflow_id=state.workflow_id, run_id=state.run_id),
        workflow_type=state.workflow_type,
        namespace=state.namespace,
        activity_id=activity.activity_id,
        activity_type=activity.activity_type,
        input=activity.input,
        attempt=row.attempt,
        deadline_ms=row.attempt_expires_at_ms,
        heartbeat_timeout_ms=activity.heartbeat_timeout_ms,
        heartbeat_details=details.heartbeat_details if details.HasField("heartbeat_details") else None,
        trace_context=state.trace_context,
        idempotency_key=f"{state.workflow_id}/{activity.activity_id}",
        scheduled_time_ms=activity.scheduled_at_ms,
        started_time_ms=row.started_at_ms,
        start_to_close_timeout_ms=activity.start_to_close_timeout_ms,
        schedule_to_close_timeout_ms=activity.schedule_to_close_timeout_ms,
    )
    return ActivityLease(row, message)
