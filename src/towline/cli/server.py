"""`towline server`: run the server until it is told to stop."""

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from towline.cli.address import check_address
from towline.cli.defaults import DEFAULT_ADDRESS
from towline.cli.errors import CliError
from towline.cli.logs import Level, configure_logs
from towline.cli.process_signals import on_stop_signal
from towline.cli.ready_file import write_ready_file
from towline.server.app import serve
from towline.server.grpc.server import BindError
from towline.server.interpreter import tune
from towline.server.settings import Settings
from towline.store.api import StoreError


async def server(
    *,
    db: Path = Path("towline.db"),
    in_memory: bool = False,
    address: Annotated[str, Parameter(env_var="TOWLINE_ADDRESS")] = DEFAULT_ADDRESS,
    namespace: list[str] | None = None,
    log_level: Level = "info",
    ready_file: Path | None = None,
) -> None:
    """Run the server until SIGTERM or Ctrl-C.

    Parameters
    ----------
    db
        The SQLite file; made if it is not there.
    in_memory
        Keep everything in memory instead: gone when the server stops.
    address
        Where to listen, as host:port; port 0 takes a free one.
    namespace
        A namespace to serve, "default" if none is given; repeat it for further ones.
    log_level
        How much to log.
    ready_file
        Write the address that the server listens on to this file, once it answers.
    """
    check_address(address)
    configure_logs(log_level)
    settings = Settings(
        db_path=None if in_memory else db,
        address=address,
        namespaces=tuple(namespace or ["default"]),
    )
    stop = asyncio.Event()
    tune()
    with on_stop_signal(lambda count: stop.set()):
        try:
            await serve(settings, on_ready=lambda listening: _ready(settings, listening, ready_file), stop=stop)
        except (StoreError, BindError) as error:
            raise CliError(str(error)) from error


def _ready(settings: Settings, listening: str, ready_file: Path | None) -> None:
    if ready_file is not None:
        write_ready_file(ready_file, listening)
    store = str(settings.db_path) if settings.db_path else "in memory"
    line = Text.assemble("Towline server on ", (listening, "bold green"), (f"  store: {store}", "dim"))
    Console(highlight=False).print(line, soft_wrap=True)
