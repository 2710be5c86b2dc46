"""Points in time and spans of it, as people read them."""

from datetime import datetime, tzinfo


def moment(time_ms: int, zone: tzinfo | None = None) -> datetime:
    """Milliseconds since 1970-01-01 UTC as a time in `zone` (None: the machine's own)."""
    return datetime.fromtimestamp(time_ms / 1000, tz=zone).astimezone(zone)


def day_and_time(time_ms: int, zone: tzinfo | None = None) -> str:
    """`2026-03-01 14:03:05`."""
    return moment(time_ms, zone).strftime("%Y-%m-%d %H:%M:%S")


def time_of_day(time_ms: int, zone: tzinfo | None = None) -> str:
    """`14:03:05.123`."""
    return moment(time_ms, zone).strftime("%H:%M:%S.") + f"{time_ms % 1000:03d}"


def span(duration_ms: int) -> str:
    """A duration with about three digits that count: `38 ms`, `1.23 s`, `4 min 5 s`, `3 h 2 min`, `2 d 1 h`."""
    if duration_ms < 1000:
        return f"{max(0, duration_ms)} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.3g} s"
    seconds = duration_ms // 1000
    if seconds < 3600:
        return _two(seconds // 60, "min", seconds % 60, "s")
    minutes = seconds // 60
    if minutes < 24 * 60:
        return _two(minutes // 60, "h", minutes % 60, "min")
    hours = minutes // 60
    return _two(hours // 24, "d", hours % 24, "h")


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small} {small_unit}" if small else f"{large} {large_unit}"
