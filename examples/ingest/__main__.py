"""`python -m examples.ingest FOLDER`: start an ingest, show how far it is, print its report."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import cyclopts
import msgspec
from rich.console import Console
from rich.text import Text

from examples.ingest.model import IngestRequest, Report, Summary
from examples.ingest.progress import follow
from examples.ingest.report import table
from examples.ingest.worker import TASK_QUEUE
from examples.ingest.workflow import ingest
from towline.client import Client, NotFoundError, RpcError, WorkflowFailureError, WorkflowHandle

Target = Annotated[str, cyclopts.Parameter(env_var="TOWLINE_TARGET")]


async def main(
    folder: Path,
    /,
    *,
    target: Target = "127.0.0.1:7470",
    id: str = "",
    output: Path = Path("ingested"),
) -> None:
    """Ingest a folder of text files.

    Interrupting this stops the watching only; the run goes on, and the same --id joins it again.

    Parameters
    ----------
    folder
        The folder; a worker must see it under the same path.
    target
        Address of the Towline server.
    id
        The workflow id; made up, unless you choose one.
    output
        Where the folder with the report goes; it gets the workflow id's name.
    """
    async with await Client.connect(target) as client:
        workflow_id = id or f"ingest-{client.connection.ids.new_id()[:8]}"
        request = request_for(folder, output / workflow_id)
        handle = await start_or_join(client, request, workflow_id=workflow_id)
        summary = await follow(client, handle, request)
    show(summary)


async def start_or_join(client: Client, request: IngestRequest, *, workflow_id: str) -> WorkflowHandle[Summary]:
    """A handle on the ingest of that id, which is started unless it is there.

    A closed one is joined, too: its effects are under its id, so another run of the same id would do nothing new.
    """
    handle = client.get_workflow_handle(workflow_id, result_type=Summary)
    try:
        await handle.describe()
    except NotFoundError:
        return await client.start_workflow(ingest, request, id=workflow_id, task_queue=TASK_QUEUE)
    return handle


def request_for(folder: Path, output: Path) -> IngestRequest:
    """The request, with the paths as every process on this machine knows them."""
    return IngestRequest(str(folder.resolve()), str(output.resolve()))


def show(summary: Summary) -> None:
    """Print the report that the run has written."""
    report = msgspec.json.decode(Path(summary.report_json).read_bytes(), type=Report)
    console = Console(highlight=False)
    console.print(table(report, width=console.width))
    console.print(Text(f"\n{summary.report_json}\n{summary.report_text}", style="dim"), soft_wrap=True)


def run() -> int:
    """The exit status."""
    try:
        cyclopts.run(main)
    except RpcError as error:
        return _failed(str(error))
    except WorkflowFailureError as error:
        return _failed(f"{error.workflow_id} did not complete: {', caused by '.join(_chain(error.cause))}")
    return 0


def _chain(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield str(error)
        error = error.__cause__


def _failed(message: str) -> int:
    line = Text.assemble(("error: ", "bold red"), message)
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)
    return 1


if __name__ == "__main__":
    sys.exit(run())
