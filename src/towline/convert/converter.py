"""Values to payloads and back."""

from collections.abc import Sequence
from typing import Any, ClassVar

from towline.api.common_pb2 import Payload, Payloads
from towline.convert.codec import PayloadCodec
from towline.convert.encoding import ENCODING_KEY, BytesEncoding, Encoding, NullEncoding, encoding_of
from towline.convert.errors import DecodeError, EncodeError, type_name
from towline.convert.failure import FailureConverter
from towline.convert.json_plain import JsonEncoding


class DataConverter:
    """What clients, workers and workflows use to write and read values.

    `encodings` are asked in turn, the first that takes a value writes it. `codecs` are applied in turn after that, and
    undone in the opposite order before a payload is read. `failures` converts errors; it writes its details with this
    converter.
    """

    default: ClassVar["DataConverter"]

    def __init__(self, encodings: Sequence[Encoding] | None = None, *, codecs: Sequence[PayloadCodec] = ()) -> None:
        self.encodings = (
            tuple(encodings) if encodings is not None else (NullEncoding(), BytesEncoding(), JsonEncoding())
        )
        self.codecs = tuple(codecs)
        self.failures = FailureConverter(self)
        self._by_name = {encoding.name: encoding for encoding in self.encodings}
        self._metadata = {encoding.name: {ENCODING_KEY: encoding.name.encode()} for encoding in self.encodings}

    def to_payloads(self, values: Sequence[object], *, what: str = "args[{}]") -> Payloads:
        """The values in order. Raises EncodeError, which calls a value `what`, with its index in place of {}."""
        payloads = [self._encode(value, what, index) for index, value in enumerate(values)]
        for codec in self.codecs:
            payloads = codec.encode(payloads)
        return Payloads(payloads=payloads)

    def from_payloads(self, payloads: Payloads, types: Sequence[Any] = (), *, what: str = "args[{}]") -> list[Any]:
        """The values in order, each of the type that stands at its place in `types`.

        None in `types`, or no type at that place: the value as its encoding has it. Types without a payload are not
        looked at. Raises DecodeError, which calls a value `what`, with its index (from 0) in place of {}.
        """
        items: Sequence[Payload] = payloads.payloads
        for codec in reversed(self.codecs):
            items = codec.decode(items)
        given = len(types)
        return [
            self._decode(payload, types[index] if index < given else None, what, index)
            for index, payload in enumerate(items)
        ]

    def from_result(self, payloads: Payloads, hint: Any = None) -> Any:
        """The one value that a workflow or an activity returned; None if there is no payload. Raises DecodeError."""
        values = self.from_payloads(payloads, (hint,), what="result")
        return values[0] if values else None

    def _encode(self, value: object, what: str, index: int) -> Payload:
        for encoding in self.encodings:
            try:
                data = encoding.encode(value)
            except Exception as error:
                subject = f"{_named(what, index)} of type {type_name(type(value))}"
                raise EncodeError(f"{subject} cannot be written as {encoding.name}: {error}") from error
            if data is not None:
                return Payload(metadata=self._metadata[encoding.name], data=data)
        names = ", ".join(self._by_name)
        raise EncodeError(
            f"{_named(what, index)} of type {type_name(type(value))}: no encoding takes it (there is {names})"
        )

    def _decode(self, payload: Payload, hint: Any, what: str, index: int) -> Any:
        name = encoding_of(payload)
        encoding = self._by_name.get(name)
        if encoding is None:
            names = ", ".join(self._by_name)
            raise DecodeError(f"{_named(what, index)} has the encoding {name!r}, which is not known (there is {names})")
        try:
            return encoding.decode(payload.data, hint)
        except Exception as error:
            expected = f"expected {type_name(hint)}" if hint is not None else "it is damaged"
            size = len(payload.data)
            raise DecodeError(f"{_named(what, index)} ({size} bytes of {name}): {expected}: {error}") from error


def _named(what: str, index: int) -> str:
    return what.replace("{}", str(index), 1)


DataConverter.default = DataConverter()
