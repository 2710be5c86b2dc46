"""Checks and the words they find."""

import pytest

from tests.core.bench import Bench
from tests.core.refusals import expect_refusal
from towline.api.common_pb2 import Payload, Payloads
from towline.core.validation import check_payloads, format_bytes, format_ms, payloads_size_bytes
from towline.limits import PAYLOAD_METADATA_SIZE_BYTES, PAYLOAD_SIZE_BYTES
from towline.status import Status


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 bytes"),
        (1_023, "1023 bytes"),
        (1_024, "1 KiB"),
        (1_536, "1.5 KiB"),
        (2 * 2**20, "2 MiB"),
        (3_250_586, "3.1 MiB"),
    ],
)
def test_bytes_for_people(size_bytes: int, text: str) -> None:
    assert format_bytes(size_bytes) == text


@pytest.mark.parametrize(("duration_ms", "text"), [(0, "0 ms"), (999, "999 ms"), (10_000, "10 s"), (1_500, "1.5 s")])
def test_durations_for_people(duration_ms: int, text: str) -> None:
    assert format_ms(duration_ms) == text


def test_the_measure_is_the_data_alone() -> None:
    payloads = Payloads(payloads=[Payload(data=b"123", metadata={"encoding": b"json/plain"}), Payload(data=b"45")])
    assert payloads_size_bytes(payloads) == 5


def test_metadata_does_not_count_as_data_but_has_a_limit() -> None:
    full = Payload(data=b"x" * PAYLOAD_SIZE_BYTES, metadata={"encoding": b"x" * 200_000})
    check_payloads(Payloads(payloads=[full]), "it", advice="")
    full.metadata["more"] = b"x" * PAYLOAD_METADATA_SIZE_BYTES
    with expect_refusal(Bench(), Status.INVALID_ARGUMENT, "metadata of it is 451.", "the limit is 256 KiB"):
        check_payloads(Payloads(payloads=[full]), "it", advice="")
