"""Turning payloads into other payloads: compression, encryption."""

from collections.abc import Sequence
from typing import Protocol

from towline.api.common_pb2 import Payload


class PayloadCodec(Protocol):
    """Works on payloads after they were encoded, and before they are decoded. Runs in workflow code's thread."""

    def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Give back payloads that `decode` turns into the given ones again."""

    def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Undo `encode`. Payloads that it did not make are given back as they are."""
