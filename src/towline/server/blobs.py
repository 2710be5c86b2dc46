"""History as encoded blobs: joined and cut without parsing wherever a whole blob is wanted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from towline.api.history_pb2 import History, HistoryEvent

# The tag of History.events (field 1, length-delimited).
_EVENT_TAG = b"\x0a"


@dataclass(frozen=True, slots=True)
class Blob:
    """An encoded History of events `first_event_id` .. `last_event_id`."""

    first_event_id: int
    last_event_id: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of history: an encoded History, and the event that follows it (0: none within what was asked for)."""

    data: bytes
    next_event_id: int


def varint(value: int) -> bytes:
    """A protobuf varint of a value that is not negative."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode_event(event: HistoryEvent) -> bytes:
    """The event as a piece of an encoded History."""
    data = event.SerializeToString()
    return _EVENT_TAG + varint(len(data)) + data


def with_history(head: bytes, *, field_number: int, history: bytes) -> bytes:
    """An encoded message `head`, with the encoded History put into the given field of it."""
    return with_message(head, field_number=field_number, message=history)


def with_message(head: bytes, *, field_number: int, message: bytes) -> bytes:
    """An encoded message `head`, with an encoded message put into the given field of it."""
    return head + varint(field_number << 3 | 2) + varint(len(message)) + message


def split_blobs(histories: Sequence[History], data: Sequence[bytes]) -> list[Blob]:
    """The blobs with the ids of their events."""
    return [
        Blob(history.events[0].event_id, history.events[-1].event_id, blob)
        for history, blob in zip(histories, data, strict=True)
        if history.events
    ]


def cut_page(
    blobs: Iterable[Blob], first_event_id: int, *, last_event_id: int, maximum_bytes: int, at_least_one: bool
) -> Page:
    """Events `first_event_id` .. `last_event_id`, as many as fit.

    With `at_least_one` a single event that does not fit is a page of its own; without, the page is then empty.
    """
    taken: list[bytes] = []
    size = 0
    next_event_id = first_event_id
    for blob in blobs:
        if blob.last_event_id < next_event_id:
            continue
        if next_event_id > last_event_id:
            break
        whole = blob.first_event_id == next_event_id and blob.last_event_id <= last_event_id
        if whole and size + len(blob.data) <= maximum_bytes:
            taken.append(blob.data)
            size += len(blob.data)
            next_event_id = blob.last_event_id + 1
            continue
        for event in History.FromString(blob.data).events:
            if event.event_id < next_event_id or event.event_id > last_event_id:
                continue
            data = encode_event(event)
            if size + len(data) > maximum_bytes and (taken or not at_least_one):
                return Page(b"".join(taken), next_event_id)
            taken.append(data)
            size += len(data)
            next_event_id = event.event_id + 1
    return Page(b"".join(taken), next_event_id if next_event_id <= last_event_id else 0)
