"""When a failed attempt is tried again: arithmetic, no state."""

from dataclasses import dataclass
from math import inf

from towline.api import common_pb2 as common
from towline.api.common_pb2 import RetryPolicy, RetryState
from towline.api.failure_pb2 import Failure
from towline.core.refusal import invalid
from towline.core.validation import check_duration, check_size
from towline.limits import (
    ACTIVITY_RETRY_BACKOFF_COEFFICIENT,
    ACTIVITY_RETRY_INITIAL_INTERVAL_MS,
    ACTIVITY_RETRY_MAXIMUM_INTERVAL_FACTOR,
    DURATION_LIMIT_MS,
    RETRY_POLICY_SIZE_BYTES,
    WORKFLOW_TASK_RETRY_INITIAL_MS,
    WORKFLOW_TASK_RETRY_MAXIMUM_MS,
)


@dataclass(frozen=True, slots=True)
class TryAgain:
    """The next attempt may start after this delay."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No further attempt, and why."""

    retry_state: RetryState.ValueType


def check_retry_policy(policy: RetryPolicy, of: str) -> None:
    """Raises Refused (INVALID_ARGUMENT) for a policy that means nothing, or is too large."""
    advice = "shorten non_retryable_error_types"
    check_size(policy.ByteSize(), f"retry policy of {of}", limit_bytes=RETRY_POLICY_SIZE_BYTES, advice=advice)
    check_duration(policy.initial_interval_ms, f"retry policy of {of}: initial_interval_ms")
    check_duration(policy.maximum_interval_ms, f"retry policy of {of}: maximum_interval_ms")
    if policy.maximum_attempts < 0:
        raise invalid(f"retry policy of {of}: maximum_attempts is {policy.maximum_attempts:,}, 0 stands for no limit")
    coefficient = policy.backoff_coefficient
    if coefficient != 0 and not 1 <= coefficient < inf:
        raise invalid(f"retry policy of {of}: backoff_coefficient is {coefficient:g}, it must be 1 or more, or 0 for 2")
    initial_ms = policy.initial_interval_ms or ACTIVITY_RETRY_INITIAL_INTERVAL_MS
    if policy.maximum_interval_ms and policy.maximum_interval_ms < initial_ms:
        raise invalid(
            f"retry policy of {of}: maximum_interval_ms is {policy.maximum_interval_ms:,}, "
            f"it must not be less than initial_interval_ms, {initial_ms:,}"
        )


def with_defaults(policy: RetryPolicy) -> RetryPolicy:
    """The same policy, every default filled in."""
    initial_ms = policy.initial_interval_ms or ACTIVITY_RETRY_INITIAL_INTERVAL_MS
    longest_ms = policy.maximum_interval_ms or initial_ms * ACTIVITY_RETRY_MAXIMUM_INTERVAL_FACTOR
    return RetryPolicy(
        initial_interval_ms=initial_ms,
        backoff_coefficient=policy.backoff_coefficient or ACTIVITY_RETRY_BACKOFF_COEFFICIENT,
        maximum_interval_ms=min(longest_ms, DURATION_LIMIT_MS),
        maximum_attempts=policy.maximum_attempts,
        non_retryable_error_types=policy.non_retryable_error_types,
    )


def backoff_ms(policy: RetryPolicy, attempt: int) -> int:
    """The delay after that attempt failed. `policy` has its defaults filled in."""
    try:
        delay_ms = policy.initial_interval_ms * policy.backoff_coefficient ** (attempt - 1)
    except OverflowError:
        return policy.maximum_interval_ms
    return int(min(delay_ms, policy.maximum_interval_ms))


def workflow_task_backoff_ms(attempt: int) -> int:
    """The delay after that attempt at a workflow task failed: 1 s doubling to 60 s."""
    doublings = min(attempt - 1, WORKFLOW_TASK_RETRY_MAXIMUM_MS.bit_length())
    return min(WORKFLOW_TASK_RETRY_INITIAL_MS << doublings, WORKFLOW_TASK_RETRY_MAXIMUM_MS)


def after_failure(
    policy: RetryPolicy, failure: Failure, *, attempt: int, now_ms: int, deadline_ms: int
) -> TryAgain | GiveUp:
    """What follows when that attempt failed now. `deadline_ms`: no attempt may begin then or later; 0: none."""
    if not _retryable(policy, failure):
        return GiveUp(common.RETRY_STATE_NON_RETRYABLE_FAILURE)
    if 0 < policy.maximum_attempts <= attempt:
        return GiveUp(common.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED)
    asked_ms = failure.application_failure_info.next_retry_delay_ms
    delay_ms = min(asked_ms, DURATION_LIMIT_MS) if asked_ms > 0 else backoff_ms(policy, attempt)
    if 0 < deadline_ms <= now_ms + delay_ms:
        return GiveUp(common.RETRY_STATE_TIMEOUT)
    return TryAgain(delay_ms)


def _retryable(policy: RetryPolicy, failure: Failure) -> bool:
    match failure.WhichOneof("failure_info"):
        case "application_failure_info":
            info = failure.application_failure_info
            return not info.non_retryable and info.type not in policy.non_retryable_error_types
        case "server_failure_info":
            return not failure.server_failure_info.non_retryable
        case "timeout_failure_info":
            kind = failure.timeout_failure_info.timeout_type
            return kind in (common.TIMEOUT_TYPE_START_TO_CLOSE, common.TIMEOUT_TYPE_HEARTBEAT)
        case "canceled_failure_info" | "terminated_failure_info":
            return False
        case _:
            return True
