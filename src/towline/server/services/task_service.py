"""TaskService: what workers call."""

from google.protobuf.message import Message

from towline.api import task_service_pb2 as pb
from towline.core import request as core
from towline.core.decision import HeartbeatRecorded
from towline.core.task import activity_queue, workflow_queue
from towline.core.validation import check_id
from towline.server.blobs import with_message
from towline.server.caller import Caller
from towline.server.engine import Engine
from towline.server.matching import Matching
from towline.server.services.envelope import Envelope
from towline.server.services.polls import Polls
from towline.server.tokens import open_activity_task_token, open_task_token, open_workflow_task_token

_NEXT_TASK_FIELD = pb.CompleteWorkflowTaskResponse.DESCRIPTOR.fields_by_name["workflow_task"].number


class TaskService:
    """One method for each method of the contract, named as there in snake case."""

    def __init__(self, engine: Engine, matching: Matching, *, polls: Polls, envelope: Envelope) -> None:
        self._engine = engine
        self._matching = matching
        self._polls = polls
        self._envelope = envelope

    async def poll_workflow_task(self, request: pb.PollRequest, caller: Caller) -> Message | bytes:
        self._check_poll(request)
        answer = await self._polls.poll(request, workflow_queue(request.task_queue), caller)
        return answer or pb.PollWorkflowTaskResponse()

    async def complete_workflow_task(self, request: pb.CompleteWorkflowTaskRequest, caller: Caller) -> Message | bytes:
        token = open_workflow_task_token(request.task_token)
        wants_next = request.return_new_workflow_task and not self._matching.stopped(request.worker_instance_key)
        answer = await self._engine.ask(
            token.run_id,
            core.CompleteWorkflowTask(token, request),
            next_task_for=request.identity if wants_next else None,
        )
        if answer.next_task is None:
            return pb.CompleteWorkflowTaskResponse()
        task = await self._polls.hand_over(answer.next_task, caller)
        assert isinstance(task, bytes)
        return with_message(b"", field_number=_NEXT_TASK_FIELD, message=task)

    async def fail_workflow_task(self, request: pb.FailWorkflowTaskRequest, caller: Caller) -> Message:
        token = open_workflow_task_token(request.task_token)
        await self._engine.ask(token.run_id, core.FailWorkflowTask(token, request))
        return pb.FailWorkflowTaskResponse()

    async def poll_activity_task(self, request: pb.PollRequest, caller: Caller) -> Message | bytes:
        self._check_poll(request)
        answer = await self._polls.poll(request, activity_queue(request.task_queue), caller)
        return answer or pb.PollActivityTaskResponse()

    async def complete_activity_task(self, request: pb.CompleteActivityTaskRequest, caller: Caller) -> Message:
        token = open_activity_task_token(request.task_token, request.lease_token)
        await self._engine.ask(token.run_id, core.CompleteActivityTask(token, request))
        return pb.CompleteActivityTaskResponse()

    async def fail_activity_task(self, request: pb.FailActivityTaskRequest, caller: Caller) -> Message:
        token = open_activity_task_token(request.task_token, request.lease_token)
        await self._engine.ask(token.run_id, core.FailActivityTask(token, request))
        return pb.FailActivityTaskResponse()

    async def record_heartbeat(self, request: pb.RecordHeartbeatRequest, caller: Caller) -> Message:
        token = open_activity_task_token(request.task_token, request.lease_token)
        answer = await self._engine.ask(token.run_id, core.RecordHeartbeat(token, request))
        assert isinstance(answer.outcome, HeartbeatRecorded)
        return pb.RecordHeartbeatResponse(cancel_requested=answer.outcome.cancel_requested)

    async def release_task(self, request: pb.ReleaseTaskRequest, caller: Caller) -> Message:
        token = open_task_token(request.task_token)
        await self._engine.ask(token.run_id, core.ReleaseTask(token))
        return pb.ReleaseTaskResponse()

    async def shutdown_worker(self, request: pb.ShutdownWorkerRequest, caller: Caller) -> Message:
        self._envelope.check_namespace(request.namespace)
        check_id(request.worker_instance_key, "worker_instance_key")
        self._matching.stop_worker(request.worker_instance_key)
        return pb.ShutdownWorkerResponse()

    def _check_poll(self, request: pb.PollRequest) -> None:
        self._envelope.check_namespace(request.namespace)
        check_id(request.task_queue, "task_queue")
