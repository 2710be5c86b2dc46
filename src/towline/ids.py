"""Identifiers, as an argument: whoever makes one gets an `Ids`, so that tests and simulations choose them."""

import random
import uuid
from typing import Protocol


class Ids(Protocol):
    """A source of names that nobody used before."""

    def new_id(self) -> str:
        """A new unique name, 36 bytes at most."""


class RandomIds:
    """UUIDs of version 4, from the given randomness (the system's, unless told otherwise)."""

    def __init__(self, source: random.Random | None = None) -> None:
        self._source = source or random.SystemRandom()

    def new_id(self) -> str:
        return str(uuid.UUID(int=self._source.getrandbits(128), version=4))
