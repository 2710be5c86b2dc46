"""The failures that the server itself makes."""

from towline.api.common_pb2 import Payloads, TimeoutType
from towline.api.failure_pb2 import Failure, ServerFailureInfo, TimeoutFailureInfo


def timed_out(
    kind: TimeoutType.ValueType,
    message: str,
    *,
    heartbeat_details: Payloads | None = None,
    cause: Failure | None = None,
) -> Failure:
    """A time limit passed. `cause`: the failure of the attempt before."""
    info = TimeoutFailureInfo(timeout_type=kind, last_heartbeat_details=heartbeat_details)
    return Failure(message=message, timeout_failure_info=info, cause=cause)


def server_failed(message: str) -> Failure:
    """A rule of the server stands in the way."""
    return Failure(message=message, server_failure_info=ServerFailureInfo())
