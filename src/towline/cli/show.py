"""`towline show`: the history of a run."""

from collections.abc import AsyncIterator

from rich.console import Console

from towline.api.common_pb2 import WorkflowExecution
from towline.api.history_pb2 import HistoryEvent
from towline.api.workflow_service_pb2 import WorkflowExecutionInfo
from towline.cli.history_view import HistoryView
from towline.cli.plain import event_to_plain, to_json
from towline.cli.reading import describe
from towline.cli.target import LOCAL, Target, connected
from towline.client import Client


async def show(
    workflow_id: str, /, *, run_id: str = "", json: bool = False, follow: bool = False, target: Target = LOCAL
) -> None:
    """Show the history of a run.

    Parameters
    ----------
    workflow_id
        Which workflow.
    run_id
        Which of its runs; the newest, unless you say so.
    json
        Print JSON, with every payload that is JSON decoded. With --follow: one event a line.
    follow
        Go on printing events as they come, until the run closes.
    """
    async with connected(target) as client:
        info = (await describe(client, WorkflowExecution(workflow_id=workflow_id, run_id=run_id))).info
        if json:
            await _print_json(client, info, follow=follow)
        else:
            await _print_rows(client, info, follow=follow)


async def _print_rows(client: Client, info: WorkflowExecutionInfo, *, follow: bool) -> None:
    view = HistoryView(Console(highlight=False))
    view.begin(info)
    async for event in _events(client, info, follow=follow):
        view.add(event)


async def _print_json(client: Client, info: WorkflowExecutionInfo, *, follow: bool) -> None:
    if follow:
        async for event in _events(client, info, follow=True):
            print(to_json(event_to_plain(event), indent=0), flush=True)
        return
    events = [event_to_plain(event) async for event in _events(client, info, follow=False)]
    execution = {"workflow_id": info.execution.workflow_id, "run_id": info.execution.run_id}
    print(to_json({**execution, "events": events}))


def _events(client: Client, info: WorkflowExecutionInfo, *, follow: bool) -> AsyncIterator[HistoryEvent]:
    handle = client.get_workflow_handle(info.execution.workflow_id, run_id=info.execution.run_id)
    return handle.fetch_history_events(wait_new_event=follow)
