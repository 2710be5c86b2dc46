"""A port for a server that comes and goes."""

import random
import socket
from pathlib import Path
from typing import Final

_RANGE_FILE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_RANGE_BEGIN: Final = 32_768
_LOWEST: Final = 10_000


def free_port(randomness: random.Random) -> int:
    """A port that nobody listens on, and that no outgoing connection gets by itself.

    The server must come back to the same port. From the system's range for outgoing connections, somebody who tries to
    connect while the server is away might be given that very port, and keep the server from it.
    """
    while True:
        port = randomness.randrange(_LOWEST, max(_LOWEST + 1, _outgoing_begin()))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _outgoing_begin() -> int:
    return int(_RANGE_FILE.read_text().split()[0]) if _RANGE_FILE.exists() else _USUAL_RANGE_BEGIN
