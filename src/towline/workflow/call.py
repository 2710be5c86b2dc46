"""A call that begins when it is awaited."""

from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Call(Coroutine[Any, Any, T_co]):
    """The coroutine that `begin` makes, made when somebody first wants to run it.

    It can be given to everything that takes a coroutine. Python says nothing if it is dropped before it ran, as
    `asyncio.wait_for` drops what it is given when it cannot wait.
    """

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T_co]]) -> None:
        self._begin = begin
        self._begun: Coroutine[Any, Any, T_co] | None = None

    def __await__(self) -> Generator[Any, Any, T_co]:
        return self._coroutine().__await__()

    def send(self, value: Any, /) -> Any:
        return self._coroutine().send(value)

    def throw(self, *error: Any) -> Any:
        return self._coroutine().throw(*error)

    def close(self) -> None:
        self._coroutine().close()

    def _coroutine(self) -> Coroutine[Any, Any, T_co]:
        if self._begun is None:
            self._begun = self._begin()
        return self._begun
