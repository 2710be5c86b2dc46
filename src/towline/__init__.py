"""Durable execution for Python: workflows that go on from where they were.

`from towline import Client, Worker, activity, workflow` is all that most programs need. The names load what they stand
for when they are first used, so that importing one does not cost the others; their types are in __init__.pyi.
"""

from importlib import import_module
from typing import Any, Final

_HOMES: Final = {
    "ApplicationError": "towline.exceptions",
    "Client": "towline.client",
    "RetryPolicy": "towline.activity",
    "Worker": "towline.worker",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'towline' has no attribute {name!r}")
    return getattr(import_module(home), name)
