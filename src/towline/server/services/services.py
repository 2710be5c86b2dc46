"""One door for every transport: a method of the contract and a request go in, the answer comes out."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from google.protobuf.message import Message

from towline.core.refusal import Refused
from towline.rpc import TASK_METHODS, WORKFLOW_METHODS, Method
from towline.server.caller import Caller
from towline.server.services.task_service import TaskService
from towline.server.services.workflow_service import WorkflowService
from towline.status import Status

Handler = Callable[[Any, Caller], Awaitable[Message | bytes]]


class Services:
    """Both services behind `call`. A method of the contract without a handler fails here, at the start."""

    def __init__(self, workflow_service: WorkflowService, task_service: TaskService) -> None:
        self._handlers: dict[str, Handler] = {
            **{name: getattr(workflow_service, _snake(name)) for name in WORKFLOW_METHODS},
            **{name: getattr(task_service, _snake(name)) for name in TASK_METHODS},
        }

    async def call(self, method: Method, request: Any, *, caller: Caller) -> Message | bytes:
        """Carry out a call; bytes are an encoded response. Raises Refused, StoreError."""
        handler = self._handlers.get(method.name)
        if handler is None:
            raise Refused(Status.UNIMPLEMENTED, f"{method.path} is not known here: the client is newer than the server")
        return await handler(request, caller)


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
