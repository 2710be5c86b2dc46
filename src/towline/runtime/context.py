"""A run, to its own code: what the functions of `towline.workflow` talk to."""

import random
from collections.abc import Coroutine
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from towline.activity.caller import ActivityCaller
from towline.activity.definition import ActivityDefinition
from towline.api.history_pb2 import HistoryEvent
from towline.runtime.activity import Activities
from towline.runtime.command import Asked
from towline.workflow.activity import request_of
from towline.workflow.call import Call
from towline.workflow.context import WorkflowContext
from towline.workflow.request import ActivityHandle, ActivityRequest
from towline.workflow.run_info import Info


class RunIsOver(BaseException):
    """Raised by what workflow code calls after its run ended here, that is, in the `finally` blocks of abandoned tasks.

    A BaseException, so that `except Exception` in a loop does not keep the code alive.
    """


class RunContext(WorkflowContext, ActivityCaller):
    """Collects in `asked` what the code asks for during one workflow task, in order."""

    def __init__(self, started: HistoryEvent, activities: Activities) -> None:
        self._started = started
        self._activities = activities
        self.asked: list[Asked] = []
        self.over = False
        self._task_started = started
        self._is_replaying = False

    def begin(self, task_started: HistoryEvent, *, replaying: bool) -> None:
        """A workflow task begins; `task_started` is its WorkflowTaskStarted."""
        self._task_started = task_started
        self._is_replaying = replaying
        self.asked = []

    @cached_property
    def info(self) -> Info:
        attributes = self._started.workflow_execution_started
        return Info(
            namespace=attributes.namespace,
            workflow_id=attributes.workflow_id,
            run_id=attributes.run_id,
            first_execution_run_id=attributes.first_execution_run_id or attributes.run_id,
            workflow_type=attributes.workflow_type,
            task_queue=attributes.task_queue,
            start_time=datetime.fromtimestamp(self._started.event_time_ms / 1000, UTC),
        )

    @cached_property
    def random(self) -> random.Random:
        return random.Random(self._started.workflow_execution_started.run_id)

    @property
    def now_ms(self) -> int:
        return self._task_started.event_time_ms

    @property
    def is_replaying(self) -> bool:
        return self._is_replaying

    @property
    def history_length(self) -> int:
        return self._task_started.event_id

    @property
    def continue_as_new_suggested(self) -> bool:
        return self._task_started.workflow_task_started.suggest_continue_as_new

    def start_activity(self, request: ActivityRequest) -> ActivityHandle[Any]:
        if self.over:
            raise RunIsOver
        activity = self._activities.ask(request)
        self.asked.append(activity)
        return activity.handle

    def call(self, definition: ActivityDefinition[..., Any], args: tuple[object, ...]) -> Coroutine[Any, Any, Any]:
        """A coroutine, so that it can be given to everything that takes one; the activity is asked for when it runs."""
        request = request_of(definition, args)
        return Call(lambda: self._call(request))

    async def _call(self, request: ActivityRequest) -> Any:
        return await self.start_activity(request)
