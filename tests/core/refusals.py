"""Tests of refusals read as one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import pytest

from tests.core.bench import Bench
from towline.core.refusal import Refused
from towline.status import Status


@contextmanager
def expect_refusal(box: Bench, status: Status, *words: str) -> Iterator[None]:
    """The block is refused with that status, in a message with all of these words, and changes nothing."""
    before, length, timers = deepcopy(box.run), len(box.history), dict(box.timers)
    with pytest.raises(Refused) as caught:
        yield
    assert caught.value.status == status, caught.value.message
    for word in words:
        assert word in caught.value.message
    assert (box.run, len(box.history), box.timers) == (before, length, timers)
