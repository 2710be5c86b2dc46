"""How callers name a workflow: by what they decorated, or by its type name."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar, TypeVarTuple

from towline.workflow import definition_of

Ts = TypeVarTuple("Ts")
R_co = TypeVar("R_co", covariant=True)
A_contra = TypeVar("A_contra", contravariant=True)
B_contra = TypeVar("B_contra", contravariant=True)

# For type checkers, workflow classes whose run method is called `run`.


class WorkflowClass(Protocol[*Ts, R_co]):
    """Takes exactly these arguments."""

    def run(self, *args: *Ts) -> Awaitable[R_co]:
        """The workflow."""


# mypy finds no match for `*Ts` if some of the arguments have defaults and are left out; these do match.


class NoArguments(Protocol[R_co]):
    """May be started without arguments."""

    def run(self) -> Awaitable[R_co]:
        """The workflow."""


class OneArgument(Protocol[A_contra, R_co]):
    """May be started with one argument."""

    def run(self, first: A_contra, /) -> Awaitable[R_co]:
        """The workflow."""


class TwoArguments(Protocol[A_contra, B_contra, R_co]):
    """May be started with two arguments."""

    def run(self, first: A_contra, second: B_contra, /) -> Awaitable[R_co]:
        """The workflow."""


class HasRun(Protocol):
    """What a run method has as its `self`, and a workflow function hardly as its first argument."""

    @property
    def run(self) -> Callable[..., Awaitable[Any]]:
        """The workflow."""


def type_and_result(workflow: object, result_type: Any = None) -> tuple[str, Any]:
    """The workflow's type name, and the type of its result (None: not known).

    Raises TypeError if it is neither a name nor decorated with `@workflow.defn`.
    """
    if isinstance(workflow, str):
        return workflow, result_type
    definition = definition_of(workflow)
    return definition.name, definition.return_type if result_type is None else result_type
