"""A task service that a test scripts, and looks into."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from towline.api.common_pb2 import Payloads, WorkflowExecution
from towline.api.task_service_pb2 import PollActivityTaskResponse, PollWorkflowTaskResponse
from towline.client import RpcError
from towline.convert import DataConverter
from towline.rpc import Method
from towline.status import Status

REPORTS = frozenset(
    {"CompleteActivityTask", "FailActivityTask", "CompleteWorkflowTask", "FailWorkflowTask", "ReleaseTask"}
)


def payloads(*values: object) -> Payloads:
    return DataConverter.default.to_payloads(values)


def values(given: Payloads) -> list[Any]:
    return DataConverter.default.from_payloads(given)


class FakeServer:
    """Implements `client.transport.local.LocalServices`: hands out the tasks it was given, and takes any report."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        # Calls that were held and whose caller went away.
        self.given_up: list[str] = []
        self.polls_waiting = 0
        # Handed out and neither reported nor released, by task token; and the most that there ever were.
        self.leased: set[bytes] = set()
        self.most_leased = 0
        self._tasks: dict[str, deque[Any]] = {"PollActivityTask": deque(), "PollWorkflowTask": deque()}
        self._pollers: list[tuple[str, asyncio.Future[None]]] = []
        self._stopped = False
        self._failures: dict[str, deque[Callable[[], Exception]]] = {}
        self._answers: dict[str, Callable[[Any], Message]] = {}
        self._gates: dict[str, asyncio.Event] = {}
        self._watchers: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._numbers = 0

    # What a test does.

    def add_activity(self, activity_type: str, *args: object, **fields: Any) -> PollActivityTaskResponse:
        """Queue an activity task; fields of PollActivityTaskResponse as given, or usual ones."""
        self._numbers += 1
        number = str(self._numbers)
        usual: dict[str, Any] = {
            "task_token": f"token-{number}".encode(),
            "lease_token": self._numbers,
            "execution": WorkflowExecution(workflow_id="order-7", run_id="run-1"),
            "workflow_type": "Order",
            "namespace": "default",
            "activity_id": number,
            "activity_type": activity_type,
            "input": payloads(*args),
            "attempt": 1,
            "idempotency_key": f"order-7/{number}",
            "started_time_ms": 1_000_000,
            "deadline_ms": 1_000_000 + 60_000,
            "start_to_close_timeout_ms": 60_000,
        }
        task = PollActivityTaskResponse(**{**usual, **fields})
        self.add("PollActivityTask", task)
        return task

    def add_workflow_task(self, **fields: Any) -> PollWorkflowTaskResponse:
        """Queue a workflow task."""
        self._numbers += 1
        usual: dict[str, Any] = {
            "task_token": f"token-{self._numbers}".encode(),
            "execution": WorkflowExecution(workflow_id="order-7", run_id="run-1"),
            "workflow_type": "Order",
            "started_event_id": 3,
            "attempt": 1,
            "lease_token": self._numbers,
        }
        task = PollWorkflowTaskResponse(**{**usual, **fields})
        self.add("PollWorkflowTask", task)
        return task

    def add(self, poll: str, task: Any) -> None:
        """Queue a task for the polls of that name."""
        self._tasks[poll].append(task)
        self._wake_polls()

    def fail(self, method: str, status: Status, *, times: int = 1, message: str = "scripted") -> None:
        """Have the next `times` calls of the method fail."""
        queue = self._failures.setdefault(method, deque())
        queue.extend([lambda: RpcError(status, message)] * times)

    def answer(self, method: str, answer: Callable[[Any], Message]) -> None:
        """Have the method answered by a function of its request."""
        self._answers[method] = answer

    def hold(self, method: str) -> asyncio.Event:
        """Have calls of the method wait until the event is set."""
        return self._gates.setdefault(method, asyncio.Event())

    def requests(self, method: str) -> list[Any]:
        """The requests of that method so far, also those that failed."""
        return [request for name, request in self.calls if name == method]

    def reports(self) -> list[tuple[str, Any]]:
        """Everything that gives a task back, so far."""
        return [(name, request) for name, request in self.calls if name in REPORTS]

    def waiting_tasks(self) -> int:
        """Tasks that nobody took."""
        return sum(len(tasks) for tasks in self._tasks.values())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Come back as soon as the condition holds; it is looked at after every change."""
        if not condition():
            changed = asyncio.get_running_loop().create_future()
            self._watchers.append((condition, changed))
            await changed

    async def called(self, method: str, times: int = 1) -> Any:
        """The latest request of the method, as soon as it was called so often."""
        await self.until(lambda: len(self.requests(method)) >= times)
        return self.requests(method)[times - 1]

    def changed(self) -> None:
        """Look at what is awaited; for tests that await something of their own."""
        for condition, future in list(self._watchers):
            if condition():
                self._watchers.remove((condition, future))
                if not future.done():
                    future.set_result(None)

    # What a worker does.

    async def call(self, method: Method, request: Any, *, caller: Any) -> Message:
        self.calls.append((method.name, request))
        self.changed()
        if self._failures.get(method.name):
            raise self._failures[method.name].popleft()()
        if method.name in self._gates:
            await self._wait_at_gate(method.name)
        if method.name in self._tasks:
            return await self._poll(method)
        if method.name in REPORTS:
            self.leased.discard(request.task_token)
        if method.name == "ShutdownWorker":
            self._stopped = True
            self._wake_polls()
        scripted = self._answers.get(method.name)
        answer: Message = scripted(request) if scripted else method.response_type()
        self._note_lease(getattr(answer, "workflow_task", None))
        self.changed()
        return answer

    async def _wait_at_gate(self, method: str) -> None:
        try:
            await self._gates[method].wait()
        except asyncio.CancelledError:
            self.given_up.append(method)
            self.changed()
            raise

    async def _poll(self, method: Method) -> Message:
        if not self._tasks[method.name] and not self._stopped:
            woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._pollers.append((method.name, woken))
            self.polls_waiting += 1
            self.changed()
            try:
                await woken
            finally:
                self.polls_waiting -= 1
                self.changed()
        if not self._tasks[method.name]:
            empty: Message = method.response_type()
            return empty
        task: Message = self._tasks[method.name].popleft()
        self._note_lease(task)
        return task

    def _note_lease(self, task: Any) -> None:
        if task is not None and task.task_token:
            self.leased.add(task.task_token)
            self.most_leased = max(self.most_leased, len(self.leased))
            self.changed()

    def _wake_polls(self) -> None:
        tasks = {name: len(queue) for name, queue in self._tasks.items()}
        still = []
        for name, woken in self._pollers:
            if tasks[name] > 0 or self._stopped:
                tasks[name] -= 1
                if not woken.done():
                    woken.set_result(None)
            else:
                still.append((name, woken))
        self._pollers = still
