"""The event loop that workflow code runs on: first in, first out, and nothing from outside but history."""

import asyncio
import contextvars
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, TypeVarTuple, Unpack

from towline.runtime.forbidden import refusals
from towline.workflow.errors import NotPossibleInWorkflow

if TYPE_CHECKING:
    _Base = asyncio.AbstractEventLoop
else:
    # asyncio's own functions reach the refusals by these names.
    _Base = type("RefusingLoop", (asyncio.AbstractEventLoop,), refusals())

T = TypeVar("T")
Args = TypeVarTuple("Args")
Work = Coroutine[Any, Any, T] | Generator[Any, None, T]

# A coroutine that goes on awaiting while it is closed gets this many chances to end.
_CLOSE_TRIES: Final = 10


class WorkflowTask(asyncio.Task[T]):
    """A task with a hash that is the same in every replay, so that sets of tasks keep their order."""

    def __init__(self, coro: Work[T], *, order: int, **options: Any) -> None:
        self._order = order  # first, as asyncio asks for the hash while it makes the task
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self._order


class WorkflowFuture(asyncio.Future[T]):
    """A future with a hash that is the same in every replay, so that sets of futures keep their order."""

    def __init__(self, *, order: int, loop: asyncio.AbstractEventLoop) -> None:
        self._order = order
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._order


class DeterministicLoop(_Base):
    """Held by a run's execution, which puts events in and calls `run_ready`; no thread waits in it.

    `hash_base` spreads the hashes of this loop's tasks and must be the same in every replay. `report_error` gets what
    asyncio has to say of errors that nobody awaited.
    """

    def __init__(self, *, hash_base: int, report_error: Callable[[dict[str, Any]], None]) -> None:
        self.now_ms = 0
        self.stopped = False
        self._ready: deque[asyncio.Handle] = deque()
        # Tasks are held here, or the garbage collector would end them whenever it likes.
        self._tasks: dict[asyncio.Future[Any], None] = {}
        self._order = hash_base
        self._task_factory: Any = None
        self._report_error = report_error

    # What the execution does.

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make this the running loop of the thread; whatever ran before does so again afterwards."""
        before = asyncio._get_running_loop()
        hooks = sys.get_asyncgen_hooks()
        # An abandoned generator is found by the garbage collector, at no deterministic time: it is just dropped.
        sys.set_asyncgen_hooks(firstiter=None, finalizer=_drop)
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            asyncio._set_running_loop(before)
            sys.set_asyncgen_hooks(*hooks)

    def run_ready(self) -> None:
        """Run what is ready, and what that makes ready, until nothing is or `stopped` is true."""
        ready = self._ready
        while ready and not self.stopped:
            handle = ready.popleft()
            if not handle.cancelled():
                handle._run()
            del handle  # the frame lives on in tracebacks, and would keep the handle's task from being collected

    def abandon(self) -> None:
        """End all unfinished tasks where they stand; call it inside `running()`. Their `finally` blocks run."""
        self._ready.clear()
        while self._tasks:
            task, _ = self._tasks.popitem()
            if not task.done() and isinstance(task, asyncio.Task):
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                _close(task.get_coro())
        self._ready.clear()

    def next_order(self) -> int:
        """The hash of the next task or future."""
        self._order += 1
        return self._order

    # What asyncio calls.

    def call_soon(
        self, callback: Callable[[Unpack[Args]], object], *args: *Args, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        raise NotPossibleInWorkflow(
            "waiting for time needs a durable timer, which this version of the contract does not have "
            "(there is no start_timer command): use no sleep and no timeout, or let an activity wait"
        )

    def time(self) -> float:
        """When the workflow task that runs was started, in seconds since 1970-01-01 UTC."""
        return self.now_ms / 1000

    def create_future(self) -> asyncio.Future[Any]:
        return WorkflowFuture(order=self.next_order(), loop=self)

    def create_task(
        self,
        coro: Work[T],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
        **options: Any,
    ) -> asyncio.Task[T]:
        order = self.next_order()
        task: asyncio.Task[T]
        if self._task_factory is not None:
            given = options if context is None else {**options, "context": context}
            task = self._task_factory(self, coro, **given)
            task.set_name(name or f"task-{order}")
        else:
            task = WorkflowTask(coro, order=order, loop=self, name=name or f"task-{order}", context=context, **options)
        self._hold(task)
        return task

    def set_task_factory(self, factory: Any) -> None:
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        return self._task_factory

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        """Nothing: debugging would make a slow replay differ from a fast one."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self._report_error(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self._report_error(context)

    def get_exception_handler(self) -> None:
        return None

    def set_exception_handler(self, handler: object) -> NoReturn:
        raise NotPossibleInWorkflow(
            "the worker reports what nobody awaited: await the task, or catch its errors inside"
        )

    def _hold(self, task: asyncio.Future[Any]) -> None:
        if not task.done():  # an eager task can be over before it is given back
            self._tasks[task] = None
            task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Future[Any]) -> None:
        self._tasks.pop(task, None)


def _drop(generator: object) -> None:
    """The finalizer of async generators: leave it as it is."""


def _close(coroutine: Any) -> None:
    for _ in range(_CLOSE_TRIES):
        try:
            coroutine.close()
        except RuntimeError:
            continue  # it went on to await something else: close it there, too
        except KeyboardInterrupt:
            raise
        except BaseException:
            return  # the run is over, nobody is left to hear of it
        else:
            return
