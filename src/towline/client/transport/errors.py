"""What went wrong on the wire, as `RpcError`."""

import asyncio

import grpc.aio

from towline import limits
from towline.client.transport.api import RpcError
from towline.rpc import Method
from towline.status import Status


def from_grpc(error: grpc.aio.AioRpcError, target: str) -> RpcError:
    """The same status; where nobody answered, a message that says who was asked.

    gRPC cancels calls of its own accord (a server that goes down, or has too many calls): that is UNAVAILABLE, as
    trying again helps. A call that its caller cancels ends with CancelledError and never gets here.
    """
    status = Status(error.code().value[0])
    details = error.details() or "no reason given"
    if status is Status.CANCELLED:
        status, details = Status.UNAVAILABLE, f"the call was cancelled from the other end ({details})"
    if status is Status.UNAVAILABLE:
        details = f"{target}: {details}"
    return RpcError(status, details)


def timed_out(method: str, timeout_ms: int) -> RpcError:
    """For a call that was not answered in time."""
    return RpcError(Status.DEADLINE_EXCEEDED, f"{method} was not answered within {timeout_ms} ms")


def check_size(method: Method, what: str, size_bytes: int) -> None:
    """Raises RpcError for a message that is too large to be sent."""
    if size_bytes > limits.MESSAGE_SIZE_BYTES:
        raise RpcError(
            Status.RESOURCE_EXHAUSTED,
            f"the {what} of {method.name} is {size_bytes} bytes, the limit is {limits.MESSAGE_SIZE_BYTES}: "
            "store large values elsewhere and pass their path",
        )


def cancelled_by_caller() -> bool:
    """Whether a CancelledError is meant for the running task, and not only for what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
