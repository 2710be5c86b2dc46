"""`towline terminate`: end an open run at once."""

from rich.console import Console
from rich.text import Text

from towline.cli.target import LOCAL, Target, connected


async def terminate(workflow_id: str, /, *, reason: str = "", run_id: str = "", target: Target = LOCAL) -> None:
    """End an open run at once, without asking its worker.

    Parameters
    ----------
    workflow_id
        Which workflow.
    reason
        Why; it is kept in the history.
    run_id
        Which of its runs; the open one, unless you say so.
    """
    async with connected(target) as client:
        await client.get_workflow_handle(workflow_id, run_id=run_id).terminate(reason=reason)
    Console(highlight=False).print(Text.assemble("terminated ", (workflow_id, "bold")), soft_wrap=True)
