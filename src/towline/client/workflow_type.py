"""How callers name a workflow: by what they decorated, or by its type name."""

from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar, TypeVarTuple

from towline.workflow import definition_of

Ts = TypeVarTuple("Ts")
R_co = TypeVar("R_co", covariant=True)


class WorkflowClass(Protocol[*Ts, R_co]):
    """For type checkers: a workflow class whose run method is called `run`."""

    def run(self, *args: *Ts) -> Awaitable[R_co]:
        """The workflow."""


def type_and_result(workflow: object, result_type: Any = None) -> tuple[str, Any]:
    """The workflow's type name, and the type of its result (None: not known).

    Raises TypeError if it is neither a name nor decorated with `@workflow.defn`.
    """
    if isinstance(workflow, str):
        return workflow, result_type
    definition = definition_of(workflow)
    return definition.name, definition.return_type if result_type is None else result_type
