"""Values as JSON, by msgspec."""

from typing import Any, ClassVar

import msgspec

from towline.convert.errors import type_name

_TAKEN = "dataclasses, attrs classes, msgspec structs, pydantic models and the types of the standard library"


class JsonEncoding:
    """Everything that msgspec writes, and pydantic models (recognised by their methods; pydantic is not needed).

    That is: None, bool, int, float, str, list, tuple, set, frozenset, dict, TypedDict, NamedTuple, dataclasses, attrs
    classes, msgspec structs, enums, datetime, date, time, timedelta, UUID, Decimal (as text) and, inside of others,
    bytes (as base64). JSON has no NaN and no infinity: they become null.
    """

    name: ClassVar[str] = "json/plain"

    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder(enc_hook=_encode_other, decimal_format="string")
        self._plain = msgspec.json.Decoder()
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    def encode(self, value: object) -> bytes | None:
        return self._encoder.encode(value)

    def decode(self, data: bytes, hint: Any) -> Any:
        return self._decoder(hint).decode(data)

    def _decoder(self, hint: Any) -> msgspec.json.Decoder[Any]:
        if hint is None or hint is object:
            return self._plain
        try:
            decoder = self._decoders.get(hint)
        except TypeError:  # Annotated with something unhashable
            return msgspec.json.Decoder(hint, dec_hook=_decode_other)
        if decoder is None:
            decoder = self._decoders[hint] = msgspec.json.Decoder(hint, dec_hook=_decode_other)
        return decoder


def _encode_other(value: Any) -> Any:
    for base in (str, int, float):
        if isinstance(value, base):  # a subclass, which msgspec does not write by itself
            return base(value)
    dump = getattr(value, "model_dump_json", None)
    if dump is not None:
        return msgspec.Raw(dump().encode())
    raise TypeError(f"{type_name(type(value))} cannot be written as JSON: use {_TAKEN}")


def _decode_other(hint: type, value: object) -> Any:
    validate = getattr(hint, "model_validate_json", None)
    if validate is not None:
        return validate(msgspec.json.encode(value))
    raise TypeError(f"{type_name(hint)} cannot be read from JSON: use {_TAKEN}")
