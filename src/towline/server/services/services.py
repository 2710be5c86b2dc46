"""One door for every transport: a method of the contract and a request go in, the answer comes out."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from google.protobuf.message import Message

from towline.core.refusal import Refused
from towline.core.validation import check_optional_id
from towline.rpc import METHODS, TASK_METHODS, WORKFLOW_METHODS, Method
from towline.server.caller import Caller
from towline.server.services.task_service import TaskService
from towline.server.services.workflow_service import WorkflowService
from towline.status import Status
from towline.store.api import StoreError

# Fields that go into rows and events whatever the request is.
_NAMES = ("identity", "request_id", "worker_instance_key")

Handler = Callable[[Any, Caller], Awaitable[Message | bytes]]


class Services:
    """Both services behind `call`. A method of the contract without a handler fails here, at the start."""

    def __init__(self, workflow_service: WorkflowService, task_service: TaskService) -> None:
        self._handlers: dict[str, Handler] = {
            **{name: getattr(workflow_service, _snake(name)) for name in WORKFLOW_METHODS},
            **{name: getattr(task_service, _snake(name)) for name in TASK_METHODS},
        }
        self._names = {method.name: _names(method) for method in METHODS.values()}

    async def call(self, method: Method, request: Any, *, caller: Caller) -> Message | bytes:
        """Carry out a call; bytes are an encoded response. Raises Refused, whatever may be expected to go wrong."""
        handler = self._handlers.get(method.name)
        if handler is None:
            raise Refused(Status.UNIMPLEMENTED, f"{method.path} is not known here: the client is newer than the server")
        for name in self._names[method.name]:
            check_optional_id(getattr(request, name), name)
        try:
            return await handler(request, caller)
        except StoreError as error:
            raise Refused(Status.UNAVAILABLE, str(error)) from error


def _names(method: Method) -> list[str]:
    fields = method.request_type.DESCRIPTOR.fields_by_name
    return [name for name in _NAMES if name in fields]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
