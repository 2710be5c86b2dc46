"""Values go to payloads and come back as what they were."""

import enum
import math
import uuid
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, NamedTuple, TypedDict

import attrs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towline.api.common_pb2 import Payload, Payloads
from towline.convert import DataConverter

CONVERTER = DataConverter.default


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Line:
    sku: str
    price: Decimal
    colours: set[Colour] = field(default_factory=set)


@attrs.define
class Address:
    street: str
    since: date


class Customer(msgspec.Struct):
    id: uuid.UUID
    address: Address
    photo: bytes = b""


class Point(NamedTuple):
    x: float
    y: float


class Options(TypedDict):
    level: Level
    within: timedelta


class Model:
    """Has the methods by which pydantic models are recognised."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and other.name == self.name

    __hash__ = None  # type: ignore[assignment]

    def model_dump_json(self) -> str:
        return msgspec.json.encode({"name": self.name}).decode()

    @classmethod
    def model_validate_json(cls, data: bytes) -> "Model":
        return cls(**msgspec.json.decode(data))


class Text(str): ...


class Cents(int): ...


def _back(value: object, hint: Any = None) -> Any:
    (result,) = CONVERTER.from_payloads(CONVERTER.to_payloads([value]), [hint])
    return result


MOMENT = datetime(2024, 2, 29, 12, 30, 1, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, None),
        (None, type(None)),
        (None, int | None),
        (b"\x00\xff", bytes),
        (b"\x00\xff", None),
        (b"\x00\xff", bytes | None),
        (bytearray(b"ab"), bytearray),
        ("naïve", str),
        (True, bool),
        (10**30, int),
        (1.5, float),
        (Colour.RED, Colour),
        (Level.HIGH, Level),
        (MOMENT, datetime),
        (date(2024, 2, 29), date),
        (timedelta(days=1, microseconds=5), timedelta),
        (uuid.UUID(int=5), uuid.UUID),
        (Decimal("1.10"), Decimal),
        (Line("a", Decimal("0.1"), {Colour.BLUE}), Line),
        ([Line("a", Decimal(1))], list[Line]),
        (Customer(uuid.UUID(int=1), Address("here", date(2000, 1, 1)), b"\xff"), Customer),
        (Point(1.0, 2.5), Point),
        ({"level": Level.LOW, "within": timedelta(seconds=1)}, Options),
        ({1: "one"}, dict[int, str]),
        ((1, "a"), tuple[int, str]),
        (frozenset({1, 2}), frozenset[int]),
        (Model("a"), Model),
        ([Model("a")], list[Model]),
        ("x", Annotated[str, ["unhashable"]]),
    ],
    ids=repr,
)
def test_values_come_back_with_their_type(value: object, hint: Any) -> None:
    back = _back(value, hint)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Line("a", Decimal("0.10")), {"sku": "a", "price": "0.10", "colours": []}),
        (MOMENT, "2024-02-29T12:30:01.000005Z"),
        (Text("x"), "x"),
        (Cents(5), 5),
        ([b"\xff"], ["/w=="]),
        (memoryview(b"ab"), b"ab"),
    ],
)
def test_without_a_type_values_come_back_as_their_encoding_has_them(value: object, plain: object) -> None:
    assert _back(value) == plain
    assert _back(value, Any) == plain


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(json_values | st.binary()))
def test_any_arguments_come_back(values: list[Any]) -> None:
    payloads = Payloads.FromString(CONVERTER.to_payloads(values).SerializeToString())
    assert CONVERTER.from_payloads(payloads) == values


@given(st.builds(Line, st.text(), st.decimals(allow_nan=False, allow_infinity=False), st.sets(st.sampled_from(Colour))))
def test_any_dataclass_comes_back(line: Line) -> None:
    assert _back(line, Line) == line


@pytest.mark.parametrize(
    ("value", "encoding", "data"),
    [(None, b"binary/null", b""), (b"a", b"binary/plain", b"a"), ("a", b"json/plain", b'"a"')],
)
def test_the_encodings_on_the_wire(value: object, encoding: bytes, data: bytes) -> None:
    assert CONVERTER.to_payloads([value]) == Payloads(payloads=[Payload(metadata={"encoding": encoding}, data=data)])


def test_bytes_may_come_as_base64_from_elsewhere() -> None:
    payloads = Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=b'"/w=="')])
    assert CONVERTER.from_payloads(payloads, [bytes]) == [b"\xff"]


def test_types_beyond_the_payloads_and_payloads_beyond_the_types() -> None:
    payloads = CONVERTER.to_payloads([1, 2])
    assert CONVERTER.from_payloads(payloads, [int]) == [1, 2]
    assert CONVERTER.from_payloads(payloads, [int, int, str]) == [1, 2]
    assert CONVERTER.from_payloads(payloads) == [1, 2]


def test_a_result_is_one_value_or_none() -> None:
    assert CONVERTER.from_result(CONVERTER.to_payloads([3]), int) == 3
    assert CONVERTER.from_result(Payloads(), int) is None


def test_json_has_no_nan() -> None:
    assert _back(math.nan) is None
