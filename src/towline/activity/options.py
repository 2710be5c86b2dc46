"""How an activity is to be run: time limits, retries, task queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from towline import limits


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When and how often a failed attempt is tried again.

    The delay before attempt n + 1 is `initial_interval * backoff_coefficient ** (n - 1)`, at most `maximum_interval`
    (None: 100 initial intervals). `maximum_attempts` counts the first one too; 0 means no limit. A failure whose type
    stands in `non_retryable_error_types` is not tried again.

    Raises ValueError for values that make no sense, TypeError for a time that is no timedelta.
    """

    initial_interval: timedelta = timedelta(milliseconds=limits.ACTIVITY_RETRY_INITIAL_INTERVAL_MS)
    backoff_coefficient: float = limits.ACTIVITY_RETRY_BACKOFF_COEFFICIENT
    maximum_interval: timedelta | None = None
    maximum_attempts: int = 0
    non_retryable_error_types: Sequence[str] = ()

    def __post_init__(self) -> None:
        _require_positive("initial_interval", self.initial_interval)
        if self.backoff_coefficient < 1:
            raise ValueError(f"backoff_coefficient is {self.backoff_coefficient}: it must be 1 or more")
        _require_positive("maximum_interval", self.maximum_interval)
        if self.maximum_interval is not None and self.maximum_interval < self.initial_interval:
            raise ValueError(
                f"maximum_interval {self.maximum_interval} is shorter than initial_interval {self.initial_interval}"
            )
        if self.maximum_attempts < 0:
            raise ValueError(f"maximum_attempts is {self.maximum_attempts}: use 0 for no limit")
        if isinstance(self.non_retryable_error_types, str):
            raise ValueError("non_retryable_error_types must be a list of type names, not one string")
        object.__setattr__(self, "non_retryable_error_types", tuple(self.non_retryable_error_types))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityOptions:
    """What an activity's definition says about each of its calls; a call may say otherwise. None: not said.

    `start_to_close_timeout` limits one attempt, `schedule_to_close_timeout` all attempts together (one of the two must
    be set in the end), `schedule_to_start_timeout` the wait for a worker, `heartbeat_timeout` the time between two
    heartbeats. `task_queue` None is the workflow's own.

    Raises ValueError for a time limit that is not positive, TypeError for one that is no timedelta.
    """

    start_to_close_timeout: timedelta | None = None
    schedule_to_close_timeout: timedelta | None = None
    schedule_to_start_timeout: timedelta | None = None
    heartbeat_timeout: timedelta | None = None
    retry_policy: RetryPolicy | None = None
    task_queue: str | None = None

    def __post_init__(self) -> None:
        for name in (
            "start_to_close_timeout",
            "schedule_to_close_timeout",
            "schedule_to_start_timeout",
            "heartbeat_timeout",
        ):
            _require_positive(name, getattr(self, name))


def _require_positive(name: str, value: timedelta | None) -> None:
    if value is None:
        return
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} is {value!r}: it must be a timedelta, such as timedelta(seconds=5)")
    if value <= timedelta(0):
        raise ValueError(f"{name} is {value}: it must be longer than nothing; leave it out for no limit")
