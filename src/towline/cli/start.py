"""`towline start`: start a run."""

from rich.console import Console
from rich.text import Text

from towline.cli.defaults import DEFAULT_TASK_QUEUE
from towline.cli.errors import CliError
from towline.cli.outcome import print_result
from towline.cli.target import LOCAL, Target, connected
from towline.cli.values import parse_arguments
from towline.exceptions import WorkflowAlreadyStartedError


async def start(
    type: str,
    /,
    *,
    task_queue: str = DEFAULT_TASK_QUEUE,
    id: str = "",
    input: list[str] | None = None,
    wait: bool = False,
    target: Target = LOCAL,
) -> None:
    """Start a run of a workflow.

    Parameters
    ----------
    type
        The workflow's type name.
    task_queue
        The task queue that its worker serves.
    id
        The workflow id, unique among the open runs; made up, unless you choose one.
    input
        One argument of the workflow, as JSON; repeat it for further ones.
    wait
        Wait for the result and print it, as JSON.
    """
    arguments = parse_arguments(input or [])
    async with connected(target) as client:
        workflow_id = id or client.connection.ids.new_id()
        try:
            handle = await client.start_workflow(type, *arguments, id=workflow_id, task_queue=task_queue)
        except WorkflowAlreadyStartedError as error:
            raise CliError(
                f"{workflow_id} is already running: `towline show {workflow_id}` tells how far it is; "
                "to start another one, give another --id"
            ) from error
        line = Text.assemble(
            "started ", (handle.id, "bold"), f"  {type} on {task_queue}  ", (f"run {handle.run_id}", "dim")
        )
        Console(stderr=wait, highlight=False).print(line, soft_wrap=True)
        if wait:
            await print_result(handle)
