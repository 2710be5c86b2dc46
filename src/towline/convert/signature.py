"""What a function of the user's takes and gives, as type hints to decode payloads with."""

import inspect
import typing
from collections.abc import Callable
from functools import cached_property
from typing import Any

from towline.exceptions import TowlineError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Signature:
    """The positional parameters and the result of `fn`. `method`: its first parameter is `self`.

    Hints are looked at when they are first needed, so that they may name classes that are defined further down.
    Raises TypeError if `fn` cannot be called with positional arguments only.
    """

    def __init__(self, fn: Callable[..., Any], *, method: bool = False) -> None:
        self._fn = fn
        parameters = list(inspect.signature(fn).parameters.values())[1 if method else 0 :]
        for parameter in parameters:
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
                raise TypeError(
                    f"{fn.__qualname__}: arguments travel by position, but {parameter.name!r} is keyword-only: "
                    "give it a default, or put it before the *"
                )
        self._names = [parameter.name for parameter in parameters if parameter.kind in _POSITIONAL]

    @cached_property
    def arg_types(self) -> tuple[Any, ...]:
        """The hint of each positional parameter, None where there is none."""
        return tuple(self._hints.get(name) for name in self._names)

    @cached_property
    def return_type(self) -> Any:
        """The hint of the result (for `async def`: of what awaiting gives), None if there is none."""
        return self._hints.get("return")

    @cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return typing.get_type_hints(self._fn, include_extras=True)
        except Exception as error:
            raise TowlineError(
                f"the type hints of {self._fn.__qualname__} cannot be resolved: {error}: "
                "define or import what they name at the top level of its module, outside of `if TYPE_CHECKING`"
            ) from error
