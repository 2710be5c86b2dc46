"""How the interpreter of a server process is set."""

import gc
import sys
from typing import Final

# A server makes many objects that die young and few cycles: looking for cycles every 700 objects costs it some 8 %.
_COLLECT_AFTER_OBJECTS: Final = 20_000
# The store's threads wait this long for the interpreter's lock while the event loop is busy; the default is 5 ms.
_SWITCH_INTERVAL_SECONDS: Final = 0.000_5


def tune() -> None:
    """For a process that is a server and nothing else. Call it when everything is loaded."""
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER_OBJECTS)
    sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
