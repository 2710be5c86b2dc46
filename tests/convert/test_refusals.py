"""What cannot be converted is named: which value, what was expected, what was there."""

from dataclasses import dataclass
from typing import Any

import pytest

from towline.api.common_pb2 import Payload, Payloads
from towline.convert import BytesEncoding, DataConverter, DecodeError, EncodeError
from towline.convert.size import check_size
from towline.limits import PAYLOAD_SIZE_BYTES

CONVERTER = DataConverter.default


@dataclass
class Order:
    lines: list[int]


class Plain:
    """Nothing knows how to write or read it."""


@pytest.mark.parametrize(
    ("value", "hint", "says"),
    [
        ("x", int, "args[1] (3 bytes of json/plain): expected int: Expected `int`, got `str`"),
        (
            {"lines": ["a"]},
            Order,
            "args[1] (15 bytes of json/plain): expected Order: Expected `int`, got `str` - at `$.lines[0]`",
        ),
        (None, str, "args[1] (0 bytes of binary/null): expected str: Expected `str`, got `null`"),
        (b"x", str, "args[1] (1 bytes of binary/plain): expected str: Expected `str`, got `bytes`"),
        (b"x", Plain, "expected Plain: a value of type bytes is not a Plain"),
        (None, list[int], "expected list[int]"),
        ({}, Plain, "expected Plain: Plain cannot be read from JSON: use dataclasses"),
    ],
)
def test_a_payload_of_another_type(value: object, hint: Any, says: str) -> None:
    with pytest.raises(DecodeError) as refused:
        CONVERTER.from_payloads(CONVERTER.to_payloads([0, value]), [int, hint])
    assert says in str(refused.value)


def test_an_unknown_encoding() -> None:
    payloads = Payloads(payloads=[Payload(metadata={"encoding": b"binary/zip"}, data=b"x")])
    with pytest.raises(DecodeError, match=r"args\[0\] has the encoding 'binary/zip', which is not known"):
        CONVERTER.from_payloads(payloads)


def test_a_payload_without_an_encoding() -> None:
    with pytest.raises(DecodeError, match=r"args\[0\] has the encoding '', which is not known"):
        CONVERTER.from_payloads(Payloads(payloads=[Payload(data=b"x")]))


def test_damaged_json() -> None:
    payloads = Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=b"{")])
    with pytest.raises(DecodeError, match=r"details\[0\] \(1 bytes of json/plain\): it is damaged"):
        CONVERTER.from_payloads(payloads, what="details[{}]")


@pytest.mark.parametrize("value", [Plain(), [Plain()], {"a": Plain()}])
def test_a_value_that_nothing_writes(value: object) -> None:
    with pytest.raises(EncodeError, match=r"args\[1\] of type .* Plain cannot be written as JSON: use dataclasses"):
        CONVERTER.to_payloads([1, value])


def test_a_value_that_no_encoding_takes() -> None:
    with pytest.raises(EncodeError, match=r"args\[0\] of type int: no encoding takes it \(there is binary/plain\)"):
        DataConverter([BytesEncoding()]).to_payloads([1])


def test_a_value_whose_text_is_no_unicode() -> None:
    with pytest.raises(EncodeError, match=r"args\[0\] of type str cannot be written as json/plain"):
        CONVERTER.to_payloads(["\ud800"])


def test_the_size_limit_is_the_sum_of_the_data() -> None:
    half = b"x" * (PAYLOAD_SIZE_BYTES // 2)
    exact = CONVERTER.to_payloads([half, half])
    assert check_size(exact, "input") is exact
    with pytest.raises(EncodeError, match=r"input is 2\.0 MiB \(2097153 bytes\), the limit is 2 MiB: store it"):
        check_size(CONVERTER.to_payloads([half, half, b"x"]), "input")
