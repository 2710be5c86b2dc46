"""Durable execution for Python: workflows that go on from where they were.

`from towline import Client, Worker, activity, workflow` is all that most programs need. The names load what they stand
for when they are first used, so that importing one does not cost the others; their types are in __init__.pyi.
"""

from importlib import import_module
from typing import Any, Final

# None: the name is a module's.
_HOMES: Final = {
    "ApplicationError": "towline.exceptions",
    "Client": "towline.client",
    "RetryPolicy": "towline.activity",
    "Worker": "towline.worker",
    "WorkerConfig": "towline.worker",
    "activity": None,
    "exceptions": None,
    "workflow": None,
}

__all__ = list(_HOMES)  # type checkers read __init__.pyi


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'towline' has no attribute {name!r}")
    home = _HOMES[name]
    return import_module(f"towline.{name}") if home is None else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return list(__all__)
