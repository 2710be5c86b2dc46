"""Logging from a workflow, once for each thing that happens and not again in every replay."""

import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, Final

from towline.workflow.context import current_context

if TYPE_CHECKING:
    Adapter = logging.LoggerAdapter[logging.Logger]
else:
    Adapter = logging.LoggerAdapter


class WorkflowLogger(Adapter):
    """A standard logger, quiet while the workflow replays. Records name `workflow_id`, `run_id`, `workflow_type`."""

    def isEnabledFor(self, level: int) -> bool:
        run = current_context.get()
        return (run is None or not run.is_replaying) and super().isEnabledFor(level)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        run = current_context.get()
        if run is not None:
            own = {
                "workflow_id": run.info.workflow_id,
                "run_id": run.info.run_id,
                "workflow_type": run.info.workflow_type,
            }
            kwargs["extra"] = {**own, **(kwargs.get("extra") or {})}
        return msg, kwargs


logger: Final = WorkflowLogger(logging.getLogger("towline.workflow"), {})
