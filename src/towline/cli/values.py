"""Payloads, as far as a command line can read them: JSON is shown, anything else is named by its size."""

import base64
from collections.abc import Sequence

import msgspec

from towline.api.common_pb2 import Payload, Payloads
from towline.cli.errors import CliError
from towline.cli.text import printable, shorten, size


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
    """An argument list in about `width` characters: `"hi", 3`."""
    return shorten(", ".join(brief(payload, width) for payload in payloads.payloads), width)


def parse_arguments(texts: Sequence[str]) -> list[object]:
    """The values of `--input`, one argument each. Raises CliError where one is no JSON."""
    return [_parse(text, position) for position, text in enumerate(texts, start=1)]


def _parse(text: str, position: int) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise CliError(
            f"--input {position} is not JSON: {shorten(text, 60)} ({error}): "
            "a string needs its quotes, as in --input '\"hi\"'"
        ) from None
