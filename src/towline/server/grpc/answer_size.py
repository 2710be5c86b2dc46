"""How large an answer may become, while it is not there yet."""

from google.protobuf.message import DecodeError

from towline import limits
from towline.api.workflow_service_pb2 import GetHistoryRequest
from towline.rpc import Method


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
