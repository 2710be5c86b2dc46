"""`towline result`: wait for a run to end and print what it returned."""

from towline.cli.outcome import print_result
from towline.cli.target import LOCAL, Target, connected


async def result(workflow_id: str, /, *, run_id: str = "", target: Target = LOCAL) -> None:
    """Wait for a run to end and print its result, as JSON.

    Ends with status 1 if the run failed; the message says why.

    Parameters
    ----------
    workflow_id
        Which workflow.
    run_id
        Which of its runs; the newest, unless you say so.
    """
    async with connected(target) as client:
        await print_result(client.get_workflow_handle(workflow_id, run_id=run_id))
