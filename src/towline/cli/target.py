"""Which server a command talks to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from cyclopts import Parameter

from towline.cli.defaults import DEFAULT_ADDRESS
from towline.cli.errors import CliError
from towline.client import Client, RpcError
from towline.exceptions import TowlineError
from towline.status import Status

# Somebody waits for the command: long enough for a server that is just starting, too short to wonder.
_CONNECT_TIMEOUT: Final = timedelta(seconds=3)


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Target:
    """The options that every command which asks a server has."""

    target: Annotated[str, Parameter(env_var="TOWLINE_TARGET")] = DEFAULT_ADDRESS
    """Address of the server."""
    namespace: Annotated[str, Parameter(env_var="TOWLINE_NAMESPACE")] = "default"
    """Namespace to work in."""


LOCAL: Final = Target()


@asynccontextmanager
async def connected(target: Target) -> AsyncIterator[Client]:
    """A client for the length of the block. What the server refuses comes out as a CliError."""
    try:
        client = await Client.connect(target.target, namespace=target.namespace, connect_timeout=_CONNECT_TIMEOUT)
        async with client:
            yield client
    except RpcError as error:
        raise CliError(explain(error, target)) from error
    except TowlineError as error:
        raise CliError(str(error)) from error


def explain(error: RpcError, target: Target) -> str:
    """One line for what the server, or the lack of one, said."""
    if error.status is Status.UNAVAILABLE:
        return (
            f"no Towline server answers at {target.target}: start one with `towline server`, "
            "or name another with --target"
        )
    if error.status is Status.DEADLINE_EXCEEDED:
        return f"the server at {target.target} did not answer in time: try again, or look at its log"
    return error.message or f"the server at {target.target} answered {error.status.name}"
