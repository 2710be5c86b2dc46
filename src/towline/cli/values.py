"""Payloads, as far as a command line can read them: JSON is shown, anything else is named by its size."""

import base64
from collections.abc import Sequence
from typing import Final

import msgspec

from towline.api.common_pb2 import Payload, Payloads
from towline.cli.errors import UsageError
from towline.cli.text import printable, shorten, size

# Of longer argument lists, only so many are named.
_SHOWN: Final = 10


def decode(payload: Payload) -> object:
    """The JSON value in a payload; else {"encoding": its name, "data": base64}."""
    encoding = payload.metadata.get("encoding", b"").decode("utf-8", "replace")
    if encoding == "binary/null":
        return None
    if encoding.startswith("json/"):
        try:
            return msgspec.json.decode(payload.data)
        except msgspec.DecodeError:
            pass
    return {"encoding": encoding, "data": base64.b64encode(payload.data).decode("ascii")}


def brief(payload: Payload, width: int) -> str:
    """One payload in at most `width` characters."""
    encoding = payload.metadata.get("encoding", b"").decode("utf-8", "replace")
    if encoding == "binary/null":
        return "null"
    if encoding.startswith("json/"):
        # Only its beginning is looked at: a payload may be 2 MiB, and a listing has hundreds of them.
        text = payload.data[: 4 * width].decode("utf-8", "ignore")
        return shorten(printable(text).replace("\n", " "), width)
    return f"<{size(len(payload.data))} {printable(encoding) or 'without encoding'}>"


def brief_arguments(payloads: Payloads, width: int) -> str:
    """An argument list in about `width` characters: `"hi", 3`. Long arguments give room to short ones."""
    count = len(payloads.payloads)
    texts = [brief(payload, width) for payload in payloads.payloads[:_SHOWN]]
    room = width - 2 * (len(texts) - 1)
    limits = _fair_shares([len(text) for text in texts], room)
    shown = ", ".join(shorten(text, limit) for text, limit in zip(texts, limits, strict=True))
    return f"{shown}, … ({count} in all)" if count > _SHOWN else shown


def parse_arguments(texts: Sequence[str]) -> list[object]:
    """The values of `--input`, one argument each. Raises UsageError where one is no JSON."""
    return [_parse(text, position) for position, text in enumerate(texts, start=1)]


def _fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """How much each gets of the room: no more than it wants, and what small ones leave goes to the others."""
    shares = [0] * len(wanted)
    waiting = sorted(range(len(wanted)), key=wanted.__getitem__)
    for rank, index in enumerate(waiting):
        shares[index] = max(1, min(wanted[index], room // (len(waiting) - rank)))
        room -= shares[index]
    return shares


def _parse(text: str, position: int) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"--input {position} is not JSON: {shorten(text, 60)} ({error}): "
            "a string needs its quotes, as in --input '\"hi\"'"
        ) from None
