"""Where the tests are that the design names. Some are there twice: against a scripted server, and over real gRPC."""

from collections.abc import Iterable, Mapping
from typing import Final

_PROTOCOL: Final = "tests/server/test_task_protocol.py"
_OVER_GRPC: Final = "tests/worker/test_over_grpc.py"

FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "test_task_protocol_hand_example": (_PROTOCOL,),
    "test_complete_workflow_task_fenced": (_PROTOCOL,),
    "test_stale_activity_lease_drops_result": (_PROTOCOL,),
    "test_stale_queue_task_skipped": ("tests/server/test_delivery.py",),
    "test_trigger_while_workflow_task_in_flight": (_PROTOCOL,),
    "test_first_page_within_one_mib": (_PROTOCOL,),
    "test_activity_payload_limits": (_PROTOCOL,),
    "test_reconnect_delay_schedule": ("tests/worker/test_reconnect.py",),
    "test_worker_runs_workflow_end_to_end": (_OVER_GRPC,),
    "test_worker_fetches_every_history_page": (_OVER_GRPC,),
    "test_worker_bounded_concurrency": ("tests/worker/test_concurrency.py", _OVER_GRPC),
    "test_worker_drains_on_cancel": ("tests/worker/test_drain.py", _OVER_GRPC),
    "test_missed_heartbeat_cancels_activity": ("tests/worker/test_heartbeats.py", _OVER_GRPC),
    "test_worker_reconnects_after_server_restart": (_OVER_GRPC,),
}


def paths(tests: Iterable[str]) -> list[str]:
    """What pytest is told to run for these test functions."""
    return [f"{file}::{test}" for test in dict.fromkeys(tests) for file in FILES[test]]


def function_of(case: str) -> str:
    """The test function of a case: "test_x" of "tests/test_y.py::test_x[memory]"."""
    return case.rpartition("::")[2].partition("[")[0]
