"""`towline describe`: where a run stands and what it waits for."""

from rich.console import Console

from towline.api.common_pb2 import WorkflowExecution
from towline.cli import reading
from towline.cli.pending_view import pending
from towline.cli.plain import to_json, to_plain
from towline.cli.run_view import heading
from towline.cli.screen import put
from towline.cli.target import LOCAL, Target, connected


async def describe(workflow_id: str, /, *, run_id: str = "", json: bool = False, target: Target = LOCAL) -> None:
    """Show where a run stands and what it waits for.

    Parameters
    ----------
    workflow_id
        Which workflow.
    run_id
        Which of its runs; the newest, unless you say so.
    json
        Print JSON, for programs.
    """
    async with connected(target) as client:
        description = await reading.describe(client, WorkflowExecution(workflow_id=workflow_id, run_id=run_id))
        now_ms = client.connection.clock.now_ms()
    if json:
        print(to_json(to_plain(description)))
        return
    console = Console(highlight=False)
    put(console, heading(description.info), "", pending(description, now_ms=now_ms, width=console.width))
