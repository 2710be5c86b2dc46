"""How one value becomes the bytes of one payload. Each encoding has a name, which the payload carries."""

from typing import Any, ClassVar, Protocol

import msgspec

from towline.api.common_pb2 import Payload
from towline.convert.errors import type_name

ENCODING_KEY = "encoding"


class Encoding(Protocol):
    """One way to write values. Converters ask their encodings in turn; the first that takes the value writes it."""

    @property
    def name(self) -> str:
        """What the payload's metadata says under "encoding"."""

    def encode(self, value: object) -> bytes | None:
        """The payload's data; None: not a value for this encoding. Raises any Exception if it should be, and fails."""

    def decode(self, data: bytes, hint: Any) -> Any:
        """The value, of the type that `hint` names (None: no type asked for). Raises any Exception if it is not."""


class NullEncoding:
    """None, as no bytes at all."""

    name: ClassVar[str] = "binary/null"

    def encode(self, value: object) -> bytes | None:
        return b"" if value is None else None

    def decode(self, data: bytes, hint: Any) -> None:
        if hint is None or hint is type(None) or hint is Any:
            return
        _check(None, hint)


class BytesEncoding:
    """Raw bytes, as they are."""

    name: ClassVar[str] = "binary/plain"

    def encode(self, value: object) -> bytes | None:
        return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else None

    def decode(self, data: bytes, hint: Any) -> Any:
        if hint is None or hint is bytes or hint is Any:
            return data
        if hint is bytearray or hint is memoryview:
            return hint(data)
        return _check(data, hint)


def _check(value: object, hint: Any) -> Any:
    return msgspec.convert(value, hint, builtin_types=(bytes,), dec_hook=_refuse)


def _refuse(hint: type, value: object) -> Any:
    raise TypeError(f"a value of type {type_name(type(value))} is not a {type_name(hint)}")


def encoding_of(payload: Payload) -> str:
    """The name of the payload's encoding; empty if it names none."""
    return payload.metadata.get(ENCODING_KEY, b"").decode(errors="replace")
