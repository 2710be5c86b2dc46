"""WorkflowService: what clients call."""

from google.protobuf.message import Message

from towline.api import workflow_service_pb2 as pb
from towline.api.history_pb2 import History
from towline.core import request as core
from towline.core.apply import fold
from towline.core.refusal import Refused, invalid
from towline.core.start import NewestRun, UseExisting, judge_start
from towline.core.state import Run
from towline.ids import Ids
from towline.server.asked import StartConflict
from towline.server.caller import Caller
from towline.server.engine import Engine
from towline.server.services.describe import describe, info
from towline.server.services.envelope import Envelope
from towline.server.services.history import HistoryReader
from towline.server.tokens import list_page_token, open_list_page_token
from towline.status import Status
from towline.store.api import RunFilter, RunRow, Store

_START_ATTEMPTS = 20
_PAGE_SIZE = 100
_MAXIMUM_PAGE_SIZE = 1_000


class WorkflowService:
    """One method for each method of the contract, named as there in snake case."""

    def __init__(self, engine: Engine, store: Store, *, history: HistoryReader, envelope: Envelope, ids: Ids) -> None:
        self._engine = engine
        self._store = store
        self._history = history
        self._envelope = envelope
        self._ids = ids

    async def start_workflow(self, request: pb.StartWorkflowRequest, caller: Caller) -> Message:
        self._envelope.check_namespace(request.namespace)
        newest: RunRow | None = None
        for _ in range(_START_ATTEMPTS):
            # Most workflow ids are new: the first try takes it for granted, and the commit finds out.
            judged = judge_start(_newest(newest), request)
            if isinstance(judged, UseExisting):
                return pb.StartWorkflowResponse(run_id=judged.run_id, started=False)
            run_id = self._ids.new_id()
            try:
                await self._engine.ask(run_id, core.StartWorkflow(run_id, request), replaces_run_id=judged.replaces)
                return pb.StartWorkflowResponse(run_id=run_id, started=True)
            except StartConflict:
                newest = await self._store.find_run(request.namespace, request.workflow_id)
        raise Refused(Status.UNAVAILABLE, f"workflow id {request.workflow_id!r} is being started by others: try again")

    async def signal_workflow(self, request: pb.SignalWorkflowRequest, caller: Caller) -> Message:
        row = await self._envelope.find_run(request.namespace, request.execution)
        await self._engine.ask(row.run_id, core.SignalWorkflow(request))
        return pb.SignalWorkflowResponse()

    async def terminate_workflow(self, request: pb.TerminateWorkflowRequest, caller: Caller) -> Message:
        row = await self._envelope.find_run(request.namespace, request.execution)
        await self._engine.ask(row.run_id, core.TerminateWorkflow(request))
        return pb.TerminateWorkflowResponse()

    async def describe_workflow(self, request: pb.DescribeWorkflowRequest, caller: Caller) -> Message:
        row = await self._envelope.find_run(request.namespace, request.execution)
        stored = await self._store.load_run(row.run_id)
        if stored is None:
            return pb.DescribeWorkflowResponse(info=info(row))
        state = fold(event for blob in stored.blobs for event in History.FromString(blob).events)
        return describe(stored.row, Run(state, {task.task_id: task for task in stored.tasks}))

    async def get_history(self, request: pb.GetHistoryRequest, caller: Caller) -> bytes:
        if request.maximum_page_size_bytes < 0:
            raise invalid(f"maximum_page_size_bytes is {request.maximum_page_size_bytes}: give 0 (1 MiB) or more")
        row = self._history.remembered(request)
        if row is None:
            row = await self._envelope.find_run(request.namespace, request.execution)
        return await self._history.answer(row, request, caller)

    async def list_workflows(self, request: pb.ListWorkflowsRequest, caller: Caller) -> Message:
        self._envelope.check_namespace(request.namespace)
        if not 0 <= request.page_size <= _MAXIMUM_PAGE_SIZE:
            raise invalid(f"page_size is {request.page_size}: give 0 (100) to {_MAXIMUM_PAGE_SIZE:,}")
        before = open_list_page_token(request.next_page_token) if request.next_page_token else None
        limit = request.page_size or _PAGE_SIZE
        rows = await self._store.list_runs(_filter(request.namespace, request.filter), limit, before)
        more = list_page_token(rows[-1].start_time_ms, rows[-1].run_id) if len(rows) == limit else b""
        return pb.ListWorkflowsResponse(executions=[info(row) for row in rows], next_page_token=more)

    async def count_workflows(self, request: pb.CountWorkflowsRequest, caller: Caller) -> Message:
        self._envelope.check_namespace(request.namespace)
        return pb.CountWorkflowsResponse(count=await self._store.count_runs(_filter(request.namespace, request.filter)))


def _newest(row: RunRow | None) -> NewestRun | None:
    return None if row is None else NewestRun(row.run_id, row.status, row.start_request_id)


def _filter(namespace: str, where: pb.WorkflowFilter) -> RunFilter:
    return RunFilter(
        namespace=namespace, workflow_id=where.workflow_id, workflow_type=where.workflow_type, status=where.status
    )
