"""`towline dev`: server and worker in one command; the worker starts again when the code changes."""

from pathlib import Path
from typing import Final

from towline.cli.address import check_address
from towline.cli.child import start_server
from towline.cli.defaults import DEFAULT_ADDRESS
from towline.cli.errors import CliError
from towline.cli.reloader import Reloader

# What goes well is said by the commands themselves. The worker's log is also the app's, so it is not cut.
_QUIET: Final = ("--log-level", "warning")


async def dev(
    app: Path, /, *, db: Path = Path("towline.db"), address: str = DEFAULT_ADDRESS, namespace: str = "default"
) -> None:
    """Run a server and a worker for an app, and start the worker again whenever the app's code changes.

    The server stays up all the time, so running workflows go on with the new code. Ctrl-C stops both.

    Parameters
    ----------
    app
        The .py file that has the workflows and activities.
    db
        The server's SQLite file; made if it is not there.
    address
        Where the server listens, as host:port; port 0 takes a free one.
    namespace
        The namespace to work in.
    """
    check_address(address)
    folder = _folder_of(app)
    server, listening = await start_server(["--db", str(db), "--address", address, "--namespace", namespace, *_QUIET])
    try:
        worker = ["worker", str(app), "--target", listening, "--namespace", namespace]
        await Reloader(worker, folder=folder, server=server).run()
    finally:
        await server.stop()


def _folder_of(app: Path) -> Path:
    if not app.is_file():
        raise CliError(f"there is no file {app}: name the .py file that has your workflows and activities")
    return app.resolve().parent
