"""`towline list`: the runs of a namespace, the newest first."""

from rich.console import Console

from towline.api.common_pb2 import WorkflowExecutionStatus
from towline.api.workflow_service_pb2 import WorkflowFilter
from towline.cli.errors import UsageError
from towline.cli.plain import to_json, to_plain
from towline.cli.reading import runs
from towline.cli.run_view import run_table, status_name
from towline.cli.screen import put
from towline.cli.target import LOCAL, Target, connected


async def list_runs(
    *,
    status: str = "",
    type: str = "",
    id: str = "",
    limit: int = 20,
    json: bool = False,
    target: Target = LOCAL,
) -> None:
    """List runs, the newest first.

    Parameters
    ----------
    status
        Only runs with this status, such as running or failed.
    type
        Only runs of this workflow type.
    id
        Only runs of this workflow id.
    limit
        At most this many.
    json
        Print JSON, for programs.
    """
    wanted = WorkflowFilter(workflow_id=id, workflow_type=type, status=_status(status))
    async with connected(target) as client:
        found = await runs(client, wanted, limit=limit)
        now_ms = client.connection.clock.now_ms()
    if json:
        print(to_json([to_plain(info) for info in found]))
    elif found:
        put(Console(highlight=False), run_table(found, now_ms=now_ms))
    else:
        Console(highlight=False).print(f"no runs in namespace {target.namespace}", style="dim")


def _status(name: str) -> WorkflowExecutionStatus.ValueType:
    known = {status_name(value): value for value in WorkflowExecutionStatus.values() if value}
    if not name:
        return WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED
    wanted = name.lower().replace("_", " ").replace("-", " ")
    if wanted not in known:
        raise UsageError(f"--status {name} is no status: use one of {', '.join(known)}")
    return known[wanted]
