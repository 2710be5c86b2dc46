"""Messages of the contract as plain values for `--json`, with payloads decoded where they are JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from towline.api.common_pb2 import Payload, Payloads
from towline.api.history_pb2 import HistoryEvent
from towline.cli.event_details import event_name
from towline.cli.values import decode


def to_plain(message: Message) -> object:
    """The message under the contract's field names: numbers as numbers, enums by name, Payloads as a list of values.

    Fields that are not set are left out.
    """
    if isinstance(message, Payload):
        return decode(message)
    if isinstance(message, Payloads):
        return [decode(payload) for payload in message.payloads]
    return {field.name: _field(field, value) for field, value in message.ListFields()}


def event_to_plain(event: HistoryEvent) -> dict[str, object]:
    """One event: `event_id`, `event_time_ms`, `event_type` as in `ActivityTaskScheduled`, `attributes`."""
    kind = event.WhichOneof("attributes")
    return {
        "event_id": event.event_id,
        "event_time_ms": event.event_time_ms,
        "event_type": event_name(event),
        "attributes": to_plain(getattr(event, kind)) if kind else {},
    }


def to_json(value: object, *, indent: int = 2) -> str:
    """JSON text; `indent` 0 puts it on one line."""
    encoded = msgspec.json.encode(value)
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


def _field(field: FieldDescriptor, value: Any) -> object:
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) if isinstance(entry, Message) else entry for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_scalar(field, entry) for entry in value]
    return _scalar(field, value)


def _scalar(field: FieldDescriptor, value: Any) -> object:
    if isinstance(value, Message):
        return to_plain(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    return value
