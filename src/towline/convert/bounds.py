"""Keeping failures small enough for every message that carries one."""

from typing import Final

from towline.api.common_pb2 import Payload, Payloads
from towline.api.failure_pb2 import Failure
from towline.limits import KIB, PAYLOAD_SIZE_BYTES

# What a person reads of a message; more is most often a document that was put into it.
MESSAGE_LIMIT_BYTES: Final = 16 * KIB
# About 600 frames; both ends are kept, where it was called from and where it failed.
STACK_LIMIT_BYTES: Final = 64 * KIB
# Together with the two limits above, this keeps a chain without details well under the payload limit.
CHAIN_LIMIT: Final = 16
_NAME_LIMIT_BYTES: Final = 1 * KIB
# Leaves room for the messages around the failure.
FAILURE_LIMIT_BYTES: Final = PAYLOAD_SIZE_BYTES - 64 * KIB


def cut(text: str, limit_bytes: int) -> str:
    """The text, with a note in place of its middle if its UTF-8 is longer than the limit. Always valid UTF-8."""
    data = text.encode(errors="replace")
    if len(data) <= limit_bytes:
        return data.decode()
    note = f"\n… {len(data)} bytes in all, the middle was left out …\n"
    half = (limit_bytes - len(note.encode())) // 2
    return data[:half].decode(errors="ignore") + note + data[-half:].decode(errors="ignore")


def bound(failure: Failure) -> Failure:
    """Shorten the failure and its causes in place so that it fits FAILURE_LIMIT_BYTES; gives it back.

    Messages and stacks lose their middle, a chain its end, and only if that is not enough, the details go.
    """
    nodes = _chain(failure)
    for node in nodes:
        node.message = cut(node.message, MESSAGE_LIMIT_BYTES)
        node.stack_trace = cut(node.stack_trace, STACK_LIMIT_BYTES)
        _bound_names(node)
    if failure.ByteSize() > FAILURE_LIMIT_BYTES:
        for node in nodes:
            _drop_details(node)
    return failure


def _chain(failure: Failure) -> list[Failure]:
    nodes = [failure]
    while nodes[-1].HasField("cause") and len(nodes) < CHAIN_LIMIT:
        nodes.append(nodes[-1].cause)
    last = nodes[-1]
    if last.HasField("cause"):
        last.ClearField("cause")
        last.message = f"{cut(last.message, MESSAGE_LIMIT_BYTES // 2)} (its further causes were left out)"
    return nodes


def _bound_names(node: Failure) -> None:
    if node.HasField("application_failure_info"):
        info = node.application_failure_info
        info.type = cut(info.type, _NAME_LIMIT_BYTES)


def _details_of(node: Failure) -> Payloads | None:
    match node.WhichOneof("failure_info"):
        case "application_failure_info":
            return node.application_failure_info.details
        case "canceled_failure_info":
            return node.canceled_failure_info.details
        case "timeout_failure_info":
            return node.timeout_failure_info.last_heartbeat_details
        case _:
            return None


def _drop_details(node: Failure) -> None:
    details = _details_of(node)
    if details is None or not details.payloads:
        return
    note = f"{details.ByteSize()} bytes of details were left out: a failure is at most {FAILURE_LIMIT_BYTES} bytes"
    del details.payloads[:]
    details.payloads.append(Payload(metadata={"encoding": b"json/plain"}, data=f'"{note}"'.encode()))
