"""How messages speak of events."""

from towline.api.history_pb2 import EventType, HistoryEvent


def event_name(event: HistoryEvent) -> str:
    """As in "ActivityTaskScheduled"; the number, if this version does not know the type."""
    try:
        name = EventType.Name(event.event_type)
    except ValueError:
        return f"event type {event.event_type}"
    return name.removeprefix("EVENT_TYPE_").title().replace("_", "")
