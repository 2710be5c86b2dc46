"""Codecs see every payload, on its way out and on its way back."""

from collections.abc import Sequence

from towline.api.common_pb2 import Payload
from towline.convert import DataConverter
from towline.exceptions import ApplicationError


class Wrapping:
    """Puts the payload into another one, and a mark around it."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark

    def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        wrapped = [self._mark + payload.SerializeToString() for payload in payloads]
        return [Payload(metadata={"encoding": b"binary/wrapped"}, data=data) for data in wrapped]

    def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        for payload in payloads:
            assert payload.data[:1] == self._mark
        return [Payload.FromString(payload.data[1:]) for payload in payloads]


def test_codecs_are_undone_in_the_opposite_order() -> None:
    converter = DataConverter(codecs=[Wrapping(b"1"), Wrapping(b"2")])
    payloads = converter.to_payloads(["a", None, b"b"])
    assert {payload.data[:1] for payload in payloads.payloads} == {b"2"}
    assert converter.from_payloads(payloads, [str]) == ["a", None, b"b"]


def test_details_of_failures_go_through_them_too() -> None:
    converter = DataConverter(codecs=[Wrapping(b"1")])
    failure = converter.failures.to_failure(ApplicationError("no", "secret"))
    assert failure.application_failure_info.details.payloads[0].data[:1] == b"1"
    error = converter.failures.from_failure(failure)
    assert isinstance(error, ApplicationError)
    assert list(error.details) == ["secret"]
