"""How long to wait after a call failed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towline.worker import reconnect_delay


def ms(value: int) -> timedelta:
    return timedelta(milliseconds=value)


def test_reconnect_delay_schedule() -> None:
    delays = [reconnect_delay(n, ms(100), ms(5_000)) for n in range(1, 10)]
    assert delays == [ms(value) for value in (100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000)]
    assert [reconnect_delay(n) for n in range(1, 10)] == delays


def test_delay_stays_at_the_maximum_however_long_it_lasts() -> None:
    assert reconnect_delay(10**9, ms(100), ms(5_000)) == ms(5_000)
    assert reconnect_delay(200, timedelta(microseconds=1), timedelta.max) == timedelta.max


@given(n=st.integers(1, 200), initial=st.integers(1, 10_000), factor=st.integers(1, 1_000))
def test_delay_is_the_formula(n: int, initial: int, factor: int) -> None:
    assert reconnect_delay(n, ms(initial), ms(initial * factor)) == ms(min(initial * 2 ** (n - 1), initial * factor))


@pytest.mark.parametrize(("n", "initial"), [(0, 100), (-1, 100), (1, 0)])
def test_senseless_arguments_are_refused(n: int, initial: int) -> None:
    with pytest.raises(ValueError, match="is"):
        reconnect_delay(n, ms(initial), ms(5_000))
