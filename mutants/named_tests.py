"""Where the tests are that mutants name. Some are there twice: against a scripted server, and over real gRPC."""

from collections.abc import Iterable, Mapping
from typing import Final

_PROTOCOL: Final = "tests/server/test_task_protocol.py"
_DELIVERY: Final = "tests/server/test_delivery.py"
_RECOVERY: Final = "tests/server/test_recovery.py"
_DRAIN: Final = "tests/worker/test_drain.py"
_HEARTBEATS: Final = "tests/worker/test_heartbeats.py"
_OVER_GRPC: Final = "tests/worker/test_over_grpc.py"

FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "test_task_protocol_hand_example": (_PROTOCOL,),
    "test_complete_workflow_task_fenced": (_PROTOCOL,),
    "test_stale_activity_lease_drops_result": (_PROTOCOL,),
    "test_stale_queue_task_skipped": (_DELIVERY,),
    "test_trigger_while_workflow_task_in_flight": (_PROTOCOL,),
    "test_first_page_within_one_mib": (_PROTOCOL,),
    "test_activity_payload_limits": (_PROTOCOL,),
    "test_reconnect_delay_schedule": ("tests/worker/test_reconnect.py",),
    "test_worker_runs_workflow_end_to_end": (_OVER_GRPC,),
    "test_worker_fetches_every_history_page": (_OVER_GRPC,),
    "test_worker_bounded_concurrency": ("tests/worker/test_concurrency.py", _OVER_GRPC),
    "test_worker_drains_on_cancel": (_DRAIN, _OVER_GRPC),
    "test_missed_heartbeat_cancels_activity": (_HEARTBEATS, _OVER_GRPC),
    "test_worker_reconnects_after_server_restart": (_OVER_GRPC,),
    # Not named by the design; for the further faults.
    "test_a_lease_that_ran_out": (
        "tests/core/test_activity_task.py::TestFencing",
        "tests/core/test_workflow_task.py::TestFencing",
    ),
    "test_trigger_between_look_and_wait_wakes_the_poll": (_DELIVERY,),
    "test_cancelled_poll_gives_its_lease_back": (_DELIVERY,),
    "test_two_servers_take_the_same_stale_row_once": (_RECOVERY,),
    "test_a_report_to_the_other_server_is_accepted_once": (_RECOVERY,),
    "test_store_that_fails_changes_nothing": (_RECOVERY,),
    "test_tasks_that_arrive_at_the_stop_are_run_or_handed_back": (_DRAIN,),
    "test_unsent_details_go_along_with_the_failure": (_HEARTBEATS,),
}


def paths(tests: Iterable[str]) -> list[str]:
    """What pytest is told to run for these test functions."""
    return [f"{file}::{test}" for test in dict.fromkeys(tests) for file in FILES[test]]


def function_of(case: str) -> str:
    """The test function of a case: "test_x" of "tests/test_y.py::test_x[memory]"."""
    return case.rpartition("::")[2].partition("[")[0]
