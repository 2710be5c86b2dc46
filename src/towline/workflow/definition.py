"""Making a function or a class a workflow."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, overload

from towline.convert.signature import Signature

F = TypeVar("F", bound=Callable[..., Any])
W = TypeVar("W", bound=Callable[..., Any])  # a workflow: an async function or a class

_DEFINITION: Final = "__towline_workflow__"
_RUN: Final = "__towline_run__"
_SIGNAL: Final = "__towline_signal__"


@dataclass(frozen=True, slots=True)
class SignalDefinition:
    """A method that takes a signal. `fn` is the plain function, sync or async; its first argument is the instance."""

    name: str
    fn: Callable[..., Any]
    signature: Signature


@dataclass(frozen=True, slots=True)
class WorkflowDefinition:
    """A workflow that can be registered and started.

    `run` is the async function itself, or the plain function of the class's run method; `cls` is the class, None for
    a function.
    """

    name: str
    run: Callable[..., Any]
    signature: Signature
    cls: type | None = None
    signals: Mapping[str, SignalDefinition] = field(default_factory=dict)

    @property
    def arg_types(self) -> tuple[Any, ...]:
        """The hint of each argument, None where there is none."""
        return self.signature.arg_types

    @property
    def return_type(self) -> Any:
        """The hint of the result, None if there is none."""
        return self.signature.return_type


@overload
def defn(workflow: W, /) -> W: ...
@overload
def defn(*, name: str | None = None) -> Callable[[W], W]: ...
def defn(workflow: W | None = None, /, *, name: str | None = None) -> W | Callable[[W], W]:
    """Make an async function, or a class with one `@workflow.run` method, a workflow. It is given back as it was.

    `name` is the workflow type, the function's or class's own name unless given. Raises TypeError if it is neither.
    """

    def mark(target: W) -> W:
        definition = _of_class(target, name) if isinstance(target, type) else _of_function(target, name)
        setattr(target, _DEFINITION, definition)
        if definition.cls is not None:
            _name_by_run_method(definition)
        return target

    return mark if workflow is None else mark(workflow)


def run(fn: F) -> F:
    """Mark the async method that is the workflow."""
    if not inspect.iscoroutinefunction(fn):
        raise TypeError(f"{fn.__qualname__}: a workflow's run method must be `async def`")
    setattr(fn, _RUN, True)
    return fn


@overload
def signal(fn: F, /) -> F: ...
@overload
def signal(*, name: str | None = None) -> Callable[[F], F]: ...
def signal(fn: F | None = None, /, *, name: str | None = None) -> F | Callable[[F], F]:
    """Mark a method, sync or async, as the handler of a signal: `name`, or the method's own name."""

    def mark(target: F) -> F:
        setattr(target, _SIGNAL, name or target.__name__)
        return target

    return mark if fn is None else mark(fn)


def definition_of(workflow: object) -> WorkflowDefinition:
    """What `defn` made of the function or class, which its run method stands for too (`Order.run`).

    Raises TypeError if it was not decorated, or is the run method of several classes.
    """
    # A subclass of a workflow is not one itself until it is decorated.
    marks = vars(workflow) if hasattr(workflow, "__dict__") else {}
    definition = marks.get(_DEFINITION)
    if isinstance(definition, WorkflowDefinition):
        return definition
    label = getattr(workflow, "__qualname__", repr(workflow))
    if _DEFINITION in marks:
        raise TypeError(f"{label} is the run method of several workflows: give the class of the one that is meant")
    if _RUN in marks:
        raise TypeError(f"{label} is the run method of no workflow: decorate its class with @workflow.defn")
    raise TypeError(f"{label} is not a workflow: decorate it with @workflow.defn")


def signal_name(target: object) -> str:
    """The signal that a decorated method takes, or the string itself. Raises TypeError if it is neither."""
    name = target if isinstance(target, str) else getattr(target, _SIGNAL, None)
    if not isinstance(name, str):
        label = getattr(target, "__qualname__", repr(target))
        raise TypeError(
            f"{label} is not a signal handler: decorate it with @workflow.signal, or give the signal's name"
        )
    return name


def _of_function(fn: Callable[..., Any], name: str | None) -> WorkflowDefinition:
    if not inspect.iscoroutinefunction(fn):
        label = getattr(fn, "__qualname__", repr(fn))
        raise TypeError(f"{label} is no workflow: it must be an `async def` function, or a class with @workflow.run")
    return WorkflowDefinition(name or fn.__name__, fn, Signature(fn))


def _of_class(cls: type, name: str | None) -> WorkflowDefinition:
    members = _members(cls)
    runs = [fn for fn in members if hasattr(fn, _RUN)]
    if len(runs) != 1:
        found = ", ".join(fn.__name__ for fn in runs) or "none"
        raise TypeError(
            f"{cls.__qualname__}: a workflow class has exactly one method with @workflow.run, found {found}"
        )
    signals: dict[str, SignalDefinition] = {}
    for fn in members:
        signal_type = getattr(fn, _SIGNAL, None)
        if signal_type is None:
            continue
        if signal_type in signals:
            other = signals[signal_type].fn.__name__
            raise TypeError(f"{cls.__qualname__}: {fn.__name__} and {other} both take the signal {signal_type!r}")
        signals[signal_type] = SignalDefinition(signal_type, fn, Signature(fn, method=True))
    return WorkflowDefinition(name or cls.__name__, runs[0], Signature(runs[0], method=True), cls, signals)


def _name_by_run_method(definition: WorkflowDefinition) -> None:
    """Let the run method stand for the class; not if it is another class's too, by inheritance (then None is kept)."""
    earlier = getattr(definition.run, _DEFINITION, definition)
    only = earlier is not None and earlier.cls is definition.cls
    setattr(definition.run, _DEFINITION, definition if only else None)


def _members(cls: type) -> list[Callable[..., Any]]:
    """The functions of the class, inherited ones too, each name once, as attribute access would find them."""
    names = {name: None for base in reversed(cls.__mro__) for name in vars(base)}
    found = (inspect.getattr_static(cls, name) for name in names)
    return [member for member in found if inspect.isfunction(member)]
