"""`towline signal`: tell an open run something."""

from rich.console import Console
from rich.text import Text

from towline.cli.target import LOCAL, Target, connected
from towline.cli.values import parse_arguments


async def signal(
    workflow_id: str,
    name: str,
    /,
    *,
    input: list[str] | None = None,
    run_id: str = "",
    target: Target = LOCAL,
) -> None:
    """Send a signal to an open run.

    Parameters
    ----------
    workflow_id
        Which workflow.
    name
        The signal's name.
    input
        One argument of the signal, as JSON; repeat it for further ones.
    run_id
        Which of its runs; the open one, unless you say so.
    """
    arguments = parse_arguments(input or [])
    async with connected(target) as client:
        await client.get_workflow_handle(workflow_id, run_id=run_id).signal(name, *arguments)
    Console(highlight=False).print(Text.assemble("signaled ", (workflow_id, "bold"), f"  {name}"), soft_wrap=True)
