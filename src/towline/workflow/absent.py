"""Names of `temporalio.workflow` that this version does not have, and what to do instead."""

from collections.abc import Mapping
from typing import Final, NoReturn

_TIMERS: Final = "there are no durable timers yet: let an activity wait, and await it"
_CHILDREN: Final = "there are no child workflows yet: call an activity that starts the workflow with a client"
_MESSAGES: Final = "there are no queries and updates yet: send the workflow a signal, or describe it with a client"
_OTHERS: Final = "there are no calls from one workflow to another yet: call an activity that does it with a client"
_VERSIONS: Final = "there are no patches yet: give a workflow that changes another name, and let old runs finish"

INSTEAD: Final[Mapping[str, str]] = {
    "sleep": _TIMERS,
    "wait_condition": "let the signal handler set an asyncio.Event or a future, and await that",
    "start_child_workflow": _CHILDREN,
    "execute_child_workflow": _CHILDREN,
    "ChildWorkflowHandle": _CHILDREN,
    "ParentClosePolicy": _CHILDREN,
    "continue_as_new": "end the run by returning, and start the next one with a client",
    "query": _MESSAGES,
    "update": _MESSAGES,
    "get_external_workflow_handle": _OTHERS,
    "get_external_workflow_handle_for": _OTHERS,
    "start_local_activity": "there are no local activities yet: use workflow.start_activity",
    "execute_local_activity": "there are no local activities yet: use workflow.execute_activity",
    "start_activity_method": "use workflow.start_activity, which takes methods too",
    "execute_activity_method": "use workflow.execute_activity, which takes methods too",
    "patched": _VERSIONS,
    "deprecate_patch": _VERSIONS,
    "wait": "use asyncio.wait: the event loop of workflows is deterministic",
    "as_completed": "use asyncio.as_completed: the event loop of workflows is deterministic",
    "unsafe": "there is no sandbox: import what you need as in any module, and test `workflow.is_replaying()`",
}


def refuse(name: str) -> NoReturn:
    """Raises AttributeError, as reading an attribute that a module does not have does."""
    if name in INSTEAD:
        raise AttributeError(f"workflow.{name} is not in this version: {INSTEAD[name]}")
    raise AttributeError(f"module 'towline.workflow' has no attribute {name!r}")
