"""How a child notices that its parent is gone, even one that was killed and could say nothing."""

import os
import signal
import threading
from collections.abc import MutableMapping
from typing import Final

# Holds the number of the file descriptor, in the environment of a child that is to end with its parent.
VARIABLE: Final = "TOWLINE_LIFELINE"


class Lifeline:
    """A pipe that nobody writes to. The system closes its write end when this process ends, whatever ended it."""

    def __init__(self) -> None:
        # Neither end goes to a child by itself, so no child can keep the write end of another one open.
        self.read_end, self._write_end = os.pipe()

    def handed_over(self) -> None:
        """Close our copy of the read end: the child has its own."""
        os.close(self.read_end)

    def cut(self) -> None:
        """Close the write end, which is what tells the child; to be called once it has ended, too."""
        os.close(self._write_end)


def end_with_parent(environment: MutableMapping[str, str]) -> None:
    """In a child: from now on, take the parent's end for a SIGTERM. Nothing in a process that has no lifeline."""
    read_end = environment.pop(VARIABLE, None)
    if read_end is None:
        return
    descriptor = int(read_end)
    os.set_inheritable(descriptor, False)
    threading.Thread(target=_wait_for_end, args=(descriptor,), name="lifeline", daemon=True).start()


def _wait_for_end(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)
