"""What the event loop of a workflow does not do, each with the deterministic way to the same end."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from towline.workflow.errors import NotPossibleInWorkflow

_THREADS = "threads do not replay: do the work in an activity and await it (sync activities run in threads)"
_IO = "workflow code does no I/O: do it in an activity and await that"
_SIGNALS = "signals of the operating system reach the worker, not workflows: send the workflow a signal instead"
_OWNER = "the event loop of a workflow is run by its worker: use await, gather or a TaskGroup"

WHY: Final[Mapping[str, str]] = {
    "run_in_executor": _THREADS,
    "call_soon_threadsafe": _THREADS,
    "set_default_executor": _THREADS,
    "shutdown_default_executor": _THREADS,
    "getaddrinfo": _IO,
    "getnameinfo": _IO,
    "create_connection": _IO,
    "create_server": _IO,
    "create_unix_connection": _IO,
    "create_unix_server": _IO,
    "create_datagram_endpoint": _IO,
    "connect_accepted_socket": _IO,
    "connect_read_pipe": _IO,
    "connect_write_pipe": _IO,
    "sendfile": _IO,
    "start_tls": _IO,
    "add_reader": _IO,
    "remove_reader": _IO,
    "add_writer": _IO,
    "remove_writer": _IO,
    "sock_accept": _IO,
    "sock_connect": _IO,
    "sock_recv": _IO,
    "sock_recv_into": _IO,
    "sock_recvfrom": _IO,
    "sock_recvfrom_into": _IO,
    "sock_sendall": _IO,
    "sock_sendto": _IO,
    "sock_sendfile": _IO,
    "subprocess_exec": _IO,
    "subprocess_shell": _IO,
    "add_signal_handler": _SIGNALS,
    "remove_signal_handler": _SIGNALS,
    "run_forever": _OWNER,
    "run_until_complete": _OWNER,
    "stop": _OWNER,
    "close": _OWNER,
    "shutdown_asyncgens": _OWNER,
}


def refusals() -> dict[str, Callable[..., NoReturn]]:
    """For each name a method that raises NotPossibleInWorkflow."""
    return {name: _refusal(name, why) for name, why in WHY.items()}


def _refusal(name: str, why: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotPossibleInWorkflow(f"{name} is not possible in a workflow: {why}")

    refuse.__name__ = name
    return refuse
