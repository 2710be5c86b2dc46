"""Tokens that go to a worker or a client and come back: opaque to them, checked here."""

import zlib
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from towline.api.token_pb2 import HistoryPageToken, ListPageToken, TaskToken
from towline.core.refusal import fenced, invalid
from towline.core.task import ACTIVITY_QUEUE_PREFIX, WORKFLOW_QUEUE_PREFIX, TaskRow

M = TypeVar("M", bound=Message)

_CHECKSUM_SIZE_BYTES = 4


def _seal(message: Message) -> bytes:
    data = message.SerializeToString()
    kind = type(message).__name__.encode()
    return zlib.crc32(data, zlib.crc32(kind)).to_bytes(_CHECKSUM_SIZE_BYTES, "big") + data


def _open(token: bytes, kind: type[M], *, subject: str, source: str) -> M:
    data = token[_CHECKSUM_SIZE_BYTES:]
    checksum = zlib.crc32(data, zlib.crc32(kind.__name__.encode()))
    try:
        if len(token) <= _CHECKSUM_SIZE_BYTES or token[:_CHECKSUM_SIZE_BYTES] != checksum.to_bytes(4, "big"):
            raise DecodeError
        return kind.FromString(data)
    except DecodeError:
        raise invalid(
            f"the {subject} ({len(token)} bytes) was not made by this server: send back, unchanged, the one {source}"
        ) from None


def task_token(row: TaskRow) -> bytes:
    """The token of a delivered task."""
    return _seal(
        TaskToken(
            namespace=row.namespace,
            queue=row.queue,
            task_id=row.task_id,
            lease_token=row.lease_token,
            run_id=row.run_id,
            scheduled_event_id=row.scheduled_event_id,
            started_event_id=row.started_event_id,
            workflow_id=row.workflow_id,
        )
    )


def open_task_token(token: bytes) -> TaskToken:
    """What a task token of either kind holds. Raises Refused (INVALID_ARGUMENT)."""
    return _open(token, TaskToken, subject="task token", source="that the poll returned")


def open_workflow_task_token(token: bytes) -> TaskToken:
    """What a workflow task's token holds. Raises Refused (INVALID_ARGUMENT)."""
    opened = open_task_token(token)
    if not opened.queue.startswith(WORKFLOW_QUEUE_PREFIX):
        raise invalid(f"the task token of {opened.task_id} is an activity task's: report it with an activity call")
    return opened


def open_activity_task_token(token: bytes, lease_token: int) -> TaskToken:
    """What an activity task's token holds. Raises Refused (INVALID_ARGUMENT, FAILED_PRECONDITION)."""
    opened = open_task_token(token)
    if not opened.queue.startswith(ACTIVITY_QUEUE_PREFIX):
        raise invalid(f"the task token of {opened.task_id} is a workflow task's: report it with a workflow task call")
    if opened.lease_token != lease_token:
        raise fenced(
            f"lease {lease_token} is not lease {opened.lease_token}, which the token of {opened.task_id} "
            "was given for: drop the work"
        )
    return opened


def history_page_token(run_id: str, *, next_event_id: int, last_event_id: int = 0, tail: bytes = b"") -> bytes:
    """The token of the page that starts with `next_event_id`; `last_event_id` 0: up to the end."""
    return _seal(HistoryPageToken(run_id=run_id, next_event_id=next_event_id, last_event_id=last_event_id, tail=tail))


def open_history_page_token(token: bytes, run_id: str) -> HistoryPageToken:
    """What a page token holds. Raises Refused (INVALID_ARGUMENT), also for another run's token."""
    opened = _open(token, HistoryPageToken, subject="history page token", source="of the page before")
    if run_id and opened.run_id != run_id:
        raise invalid(f"the page token is for run {opened.run_id}, not for run {run_id}: start without a token")
    return opened


def list_page_token(start_time_ms: int, run_id: str) -> bytes:
    """The token of the page that follows this run."""
    return _seal(ListPageToken(start_time_ms=start_time_ms, run_id=run_id))


def open_list_page_token(token: bytes) -> tuple[int, str]:
    """(start_time_ms, run_id) of the last run seen. Raises Refused (INVALID_ARGUMENT)."""
    opened = _open(token, ListPageToken, subject="list page token", source="of the page before")
    return opened.start_time_ms, opened.run_id
