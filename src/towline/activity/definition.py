"""Functions as activities: `@activity.defn`."""

import dataclasses
import inspect
import typing
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import Any, Generic, ParamSpec, TypeVar, overload

from towline.activity.caller import current_caller
from towline.activity.options import ActivityOptions, RetryPolicy

P = ParamSpec("P")
R = TypeVar("R")

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class ActivityDefinition(Generic[P, R]):
    """A function that workers can run durably, with the options of its calls.

    Called inside workflow code it schedules the activity and gives an awaitable of the result; called anywhere else it
    just calls the function. `R` is what the function's call gives: a coroutine for `async def`. (For a sync activity
    the awaitable inside workflows is more than the type says: there, `workflow.execute_activity` is typed right.)

    Raises TypeError for a function with required keyword-only parameters, as arguments travel by position.
    """

    def __init__(self, fn: Callable[P, R], *, name: str | None = None, options: ActivityOptions | None = None) -> None:
        self.fn = fn
        self.name = name or str(getattr(fn, "__name__", type(fn).__name__))
        self.options = options or ActivityOptions()
        self.is_async = inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004
        self.signature = inspect.signature(fn)
        self.__doc__ = getattr(fn, "__doc__", None)
        self.__wrapped__ = fn
        self._refuse_keywords()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        caller = current_caller.get()
        if caller is None:
            return self.fn(*args, **kwargs)
        return typing.cast("R", caller.call(self, self.positional(args, kwargs)))

    def __get__(self, instance: object, owner: type | None = None) -> "ActivityDefinition[..., R]":
        """As a method: the definition with its function bound to the instance, as methods are."""
        if instance is None:
            return self
        bound = self.fn.__get__(instance, owner)
        return ActivityDefinition(bound, name=self.name, options=self.options)

    def __repr__(self) -> str:
        return f"<activity {self.name!r}>"

    @cached_property
    def arg_types(self) -> tuple[type | None, ...]:
        """The declared type of each positional parameter, without `*args`; None: not declared."""
        return tuple(self._hints.get(name) for name in self._parameters)

    @cached_property
    def return_type(self) -> type | None:
        """The declared type of the result; None: not declared."""
        return self._hints.get("return")

    def types_of(self, count: int) -> tuple[type | None, ...]:
        """The types of `count` arguments: those beyond the declared ones have the type of `*args`, or None."""
        rest = next((p.name for p in self._all if p.kind is inspect.Parameter.VAR_POSITIONAL), "")
        return (self.arg_types + (self._hints.get(rest),) * max(0, count - len(self.arg_types)))[:count]

    def positional(self, args: tuple[object, ...], kwargs: dict[str, Any]) -> tuple[object, ...]:
        """Arguments by position. Raises TypeError where they do not fit the signature."""
        if not kwargs and len(args) == len(self._parameters):
            return args
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as fault:
            raise TypeError(f"activity {self.name!r}: {fault}: {self._repair(kwargs)}") from None
        by_name_only = sorted(kwargs.keys() - set(self._parameters))
        if by_name_only:
            raise TypeError(
                f"activity {self.name!r} got keyword-only arguments {by_name_only}: arguments of an activity travel by "
                "position; make them ordinary parameters"
            )
        if kwargs:
            bound.apply_defaults()
        return bound.args

    def _repair(self, kwargs: dict[str, Any]) -> str:
        takes = f"it takes {self.signature.replace(return_annotation=inspect.Signature.empty)}"
        options = {field.name for field in dataclasses.fields(ActivityOptions)} | {"activity_id"}
        given = [name for name in kwargs if name in options]
        if not given:
            return takes
        label = getattr(self.fn, "__name__", self.name)
        return f"{takes}; options go to workflow.execute_activity({label}, ..., {given[0]}=...)"

    @cached_property
    def _hints(self) -> dict[str, Any]:
        # Resolved at the first use: at decoration, names that the annotations mention may not exist yet.
        target = self.fn if inspect.isroutine(self.fn) else type(self.fn).__call__
        try:
            hints = typing.get_type_hints(target)
        except NameError as error:
            raise TypeError(
                f"activity {self.name!r} has an annotation that cannot be resolved ({error}): import that name at run "
                "time, not only for type checkers"
            ) from error
        return hints

    @property
    def _all(self) -> list[inspect.Parameter]:
        return list(self.signature.parameters.values())

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        return tuple(p.name for p in self._all if p.kind in _POSITIONAL)

    def _refuse_keywords(self) -> None:
        required = [
            p.name
            for p in self._all
            if p.kind is inspect.Parameter.KEYWORD_ONLY and p.default is inspect.Parameter.empty
        ]
        if required:
            raise TypeError(
                f"activity {self.name!r} has required keyword-only parameters {required}: arguments of an activity "
                "travel by position; make them ordinary parameters"
            )


@overload
def defn(fn: Callable[P, R], /) -> ActivityDefinition[P, R]: ...


@overload
def defn(
    *,
    name: str | None = None,
    start_to_close_timeout: timedelta | None = None,
    schedule_to_close_timeout: timedelta | None = None,
    schedule_to_start_timeout: timedelta | None = None,
    heartbeat_timeout: timedelta | None = None,
    retry_policy: RetryPolicy | None = None,
    task_queue: str | None = None,
) -> Callable[[Callable[P, R]], ActivityDefinition[P, R]]: ...


def defn(fn: Callable[..., Any] | None = None, /, *, name: str | None = None, **options: Any) -> Any:
    """Make a function an activity, bare (`@activity.defn`) or with options (`@activity.defn(name="charge")`).

    The name is what workflows and workers know it by: the function's own, unless given. The options are those of
    `ActivityOptions`. `async def` functions run on the event loop that `Worker.run` runs on, others in threads.

    Raises ValueError for options that make no sense, TypeError for unknown ones or a function that cannot be an
    activity.
    """
    if fn is not None:
        return ActivityDefinition(fn)
    chosen = ActivityOptions(**options)
    return lambda function: ActivityDefinition(function, name=name, options=chosen)
