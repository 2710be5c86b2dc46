"""What the calls of one Attach stream hold in the server's memory."""

from google.protobuf.message import DecodeError

from towline import limits
from towline.api.workflow_service_pb2 import GetHistoryRequest
from towline.rpc import Method


class Load:
    """Per call, from its beginning until its reply was written: how much it holds, or is about to hold."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._total_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether no further call may begin."""
        return len(self._sizes) >= limits.ATTACH_CALLS or self._total_bytes >= limits.ATTACH_HELD_SIZE_BYTES

    def hold(self, call_id: int, size_bytes: int) -> None:
        """The call holds this much from now on, instead of what it held."""
        self._total_bytes += size_bytes - self._sizes.get(call_id, 0)
        self._sizes[call_id] = size_bytes

    def let_go(self, call_id: int) -> None:
        """The call holds nothing any more."""
        self._total_bytes -= self._sizes.pop(call_id, 0)


def size_to_come_bytes(method: Method, request: bytes) -> int:
    """What is to be set aside for the answer, while the call runs.

    Pages of history are as large as the caller likes, and come as fast as a disk reads. All other answers are small, or
    few, or are waited for by many callers for a long time: setting something aside for them would keep the rest out.
    """
    if method.request_type is not GetHistoryRequest:
        return 0
    try:
        asked = GetHistoryRequest.FromString(request)
    except DecodeError:
        return 0  # it will be refused
    if asked.wait_new_event or asked.close_event_only:
        return 0
    page_bytes = asked.maximum_page_size_bytes or limits.FIRST_PAGE_SIZE_BYTES
    return max(0, min(page_bytes, limits.MAXIMUM_PAGE_SIZE_BYTES))
