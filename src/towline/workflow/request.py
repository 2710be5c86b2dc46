"""What workflow code asks of the runtime, and what it gets."""

import asyncio
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from towline.activity.options import ActivityOptions

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ActivityRequest:
    """One activity to run.

    `result_type` None: decode the result as its encoding has it. `activity_id` None: the run's next number.
    """

    activity_type: str
    args: tuple[object, ...]
    options: ActivityOptions
    result_type: Any = None
    activity_id: str | None = None


class ActivityHandle(asyncio.Future[T], Generic[T]):
    """A scheduled activity; awaiting it gives its result, or raises ActivityError. May be awaited more than once.

    `order` is its hash, so that sets of handles keep their order in every replay.
    """

    def __init__(self, activity_id: str, *, order: int, loop: asyncio.AbstractEventLoop) -> None:
        self._order = order
        super().__init__(loop=loop)
        self.activity_id = activity_id

    def __hash__(self) -> int:
        return self._order
