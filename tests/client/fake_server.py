"""Services that hold one run, as far as a client can tell."""

from typing import Any

from tests.wire.fake_services import FakeServices
from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import (
    History,
    HistoryEvent,
    WorkflowExecutionCompletedEventAttributes,
    WorkflowExecutionFailedEventAttributes,
    WorkflowExecutionTerminatedEventAttributes,
)
from towline.api.workflow_service_pb2 import GetHistoryRequest, GetHistoryResponse, StartWorkflowResponse
from towline.convert import DataConverter


def completed(value: object) -> HistoryEvent:
    result = DataConverter.default.to_payloads([value])
    return HistoryEvent(
        event_id=11, workflow_execution_completed=WorkflowExecutionCompletedEventAttributes(result=result)
    )


def failed(failure: Failure) -> HistoryEvent:
    return HistoryEvent(workflow_execution_failed=WorkflowExecutionFailedEventAttributes(failure=failure))


def terminated(reason: str, *details: object) -> HistoryEvent:
    payloads: Payloads = DataConverter.default.to_payloads(details)
    attributes = WorkflowExecutionTerminatedEventAttributes(reason=reason, details=payloads)
    return HistoryEvent(workflow_execution_terminated=attributes)


class FakeServer(FakeServices):
    """Starts every workflow as run-1, and answers GetHistory from `pages`, one after another."""

    def __init__(self, *pages: GetHistoryResponse) -> None:
        super().__init__()
        self.pages = list(pages)
        self.handlers["StartWorkflow"] = self._start
        self.handlers["GetHistory"] = self._history

    def sent(self, kind: type[Any]) -> list[Any]:
        """The requests of this kind, in order."""
        return [request for request in self.requests if isinstance(request, kind)]

    async def _start(self, _request: object, _caller: object) -> StartWorkflowResponse:
        return StartWorkflowResponse(run_id="run-1", started=True)

    async def _history(self, request: GetHistoryRequest, _caller: object) -> GetHistoryResponse:
        return self.pages.pop(0)


def page(*events: HistoryEvent, token: bytes = b"") -> GetHistoryResponse:
    return GetHistoryResponse(history=History(events=events), next_page_token=token, run_id="run-1")
