"""When a failed attempt is tried again: tables."""

import pytest

from tests.core.bench import Bench, application_failure
from tests.core.refusals import expect_refusal
from towline.api import common_pb2 as common
from towline.api.common_pb2 import RetryPolicy
from towline.api.failure_pb2 import CanceledFailureInfo, Failure, ServerFailureInfo, TerminatedFailureInfo
from towline.core.failure import timed_out
from towline.core.retry import (
    GiveUp,
    TryAgain,
    after_failure,
    backoff_ms,
    check_retry_policy,
    with_defaults,
    workflow_task_backoff_ms,
)
from towline.limits import DURATION_LIMIT_MS
from towline.status import Status

NON_RETRYABLE = common.RETRY_STATE_NON_RETRYABLE_FAILURE


@pytest.mark.parametrize(
    ("policy", "delays_ms"),
    [
        (RetryPolicy(), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000, 100_000]),
        (RetryPolicy(initial_interval_ms=10), [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]),
        (RetryPolicy(backoff_coefficient=1), [1_000, 1_000, 1_000]),
        (RetryPolicy(backoff_coefficient=1.5, initial_interval_ms=3), [3, 4, 6, 10]),
        (RetryPolicy(maximum_interval_ms=3_000), [1_000, 2_000, 3_000, 3_000]),
    ],
)
def test_backoff(policy: RetryPolicy, delays_ms: list[int]) -> None:
    filled = with_defaults(policy)
    assert [backoff_ms(filled, attempt) for attempt in range(1, len(delays_ms) + 1)] == delays_ms


@pytest.mark.parametrize("coefficient", [2.0, 1e308])
def test_backoff_of_a_late_attempt_stays_at_the_longest(coefficient: float) -> None:
    assert backoff_ms(with_defaults(RetryPolicy(backoff_coefficient=coefficient)), 1_000_000) == 100_000


def test_the_longest_interval_stays_in_bounds() -> None:
    assert with_defaults(RetryPolicy(initial_interval_ms=DURATION_LIMIT_MS)).maximum_interval_ms == DURATION_LIMIT_MS


@pytest.mark.parametrize(("attempt", "delay_ms"), [(1, 1_000), (2, 2_000), (6, 32_000), (7, 60_000), (10**6, 60_000)])
def test_backoff_of_workflow_tasks(attempt: int, delay_ms: int) -> None:
    assert workflow_task_backoff_ms(attempt) == delay_ms


@pytest.mark.parametrize(
    ("failure", "verdict"),
    [
        (application_failure(), TryAgain(1_000)),
        (application_failure(next_retry_delay_ms=7), TryAgain(7)),
        (application_failure(next_retry_delay_ms=10**18), TryAgain(DURATION_LIMIT_MS)),
        (application_failure(next_retry_delay_ms=-7), TryAgain(1_000)),
        (application_failure(non_retryable=True), GiveUp(NON_RETRYABLE)),
        (application_failure(type="Fatal"), GiveUp(NON_RETRYABLE)),
        (application_failure(type="fatal"), TryAgain(1_000)),
        (timed_out(common.TIMEOUT_TYPE_START_TO_CLOSE, "slow"), TryAgain(1_000)),
        (timed_out(common.TIMEOUT_TYPE_HEARTBEAT, "silent"), TryAgain(1_000)),
        (timed_out(common.TIMEOUT_TYPE_SCHEDULE_TO_START, "alone"), GiveUp(NON_RETRYABLE)),
        (timed_out(common.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, "late"), GiveUp(NON_RETRYABLE)),
        (Failure(server_failure_info=ServerFailureInfo()), TryAgain(1_000)),
        (Failure(server_failure_info=ServerFailureInfo(non_retryable=True)), GiveUp(NON_RETRYABLE)),
        (Failure(canceled_failure_info=CanceledFailureInfo()), GiveUp(NON_RETRYABLE)),
        (Failure(terminated_failure_info=TerminatedFailureInfo()), GiveUp(NON_RETRYABLE)),
        (Failure(message="of no kind"), TryAgain(1_000)),
    ],
)
def test_by_kind_of_failure(failure: Failure, verdict: TryAgain | GiveUp) -> None:
    policy = with_defaults(RetryPolicy(non_retryable_error_types=["Fatal"]))
    assert after_failure(policy, failure, attempt=1, now_ms=0, deadline_ms=0) == verdict


@pytest.mark.parametrize(
    ("attempts", "attempt", "deadline_ms", "verdict"),
    [
        (0, 99, 0, TryAgain(100_000)),
        (3, 2, 0, TryAgain(2_000)),
        (3, 3, 0, GiveUp(common.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED)),
        (1, 1, 0, GiveUp(common.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED)),
        (0, 1, 6_001, TryAgain(1_000)),
        (0, 1, 6_000, GiveUp(common.RETRY_STATE_TIMEOUT)),
    ],
)
def test_by_count_and_deadline(attempts: int, attempt: int, deadline_ms: int, verdict: TryAgain | GiveUp) -> None:
    policy = with_defaults(RetryPolicy(maximum_attempts=attempts))
    found = after_failure(policy, application_failure(), attempt=attempt, now_ms=5_000, deadline_ms=deadline_ms)
    assert found == verdict


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (RetryPolicy(initial_interval_ms=-1), "initial_interval_ms is -1"),
        (RetryPolicy(maximum_interval_ms=-1), "maximum_interval_ms is -1"),
        (RetryPolicy(maximum_attempts=-1), "maximum_attempts is -1"),
        (RetryPolicy(backoff_coefficient=0.99), "backoff_coefficient is 0.99"),
        (RetryPolicy(backoff_coefficient=float("nan")), "backoff_coefficient is nan"),
        (RetryPolicy(backoff_coefficient=float("inf")), "backoff_coefficient is inf"),
        (
            RetryPolicy(initial_interval_ms=500, maximum_interval_ms=499),
            "must not be less than initial_interval_ms, 500",
        ),
        (RetryPolicy(maximum_interval_ms=999), "must not be less than initial_interval_ms, 1,000"),
    ],
)
def test_a_policy_that_means_nothing(policy: RetryPolicy, words: str) -> None:
    with expect_refusal(Bench(), Status.INVALID_ARGUMENT, "retry policy of demo-1/1", words):
        check_retry_policy(policy, "demo-1/1")
