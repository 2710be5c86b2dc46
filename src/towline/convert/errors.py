"""What goes wrong between values and payloads."""

from towline.exceptions import TowlineError


class ConversionError(TowlineError):
    """A value cannot become a payload, or a payload cannot become a value."""


class EncodeError(ConversionError):
    """No encoding takes the value."""


class DecodeError(ConversionError):
    """The payload does not hold what the type hint asks for, or its encoding is not known."""


def type_name(hint: object) -> str:
    """A type hint as people write it."""
    return hint.__qualname__ if isinstance(hint, type) and not hasattr(hint, "__origin__") else str(hint)
