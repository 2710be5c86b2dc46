"""Signals that reached a run."""

from collections.abc import Mapping
from typing import Any

from towline.api.history_pb2 import HistoryEvent
from towline.convert import ConversionError, DataConverter
from towline.workflow.definition import SignalDefinition
from towline.workflow.log import logger


class Signals:
    """The signal handlers of one run. `instance` is the workflow object that they are methods of."""

    def __init__(self, handlers: Mapping[str, SignalDefinition], instance: object, converter: DataConverter) -> None:
        self._handlers = handlers
        self._instance = instance
        self._converter = converter

    def receive(self, event: HistoryEvent) -> "SignalCall | None":
        """The call that the signal asks for; None if no handler has that name, or its arguments cannot be read.

        Such a signal is dropped with a warning: a sender's mistake must not stop the workflow.
        """
        attributes = event.workflow_execution_signaled
        handler = self._handlers.get(attributes.signal_name)
        if handler is None:
            known = ", ".join(sorted(self._handlers)) or "none"
            logger.warning(
                "signal %r (event %d) is dropped: the workflow has no handler of that name (handlers: %s): "
                "send one of these, or add a method with @workflow.signal",
                attributes.signal_name,
                event.event_id,
                known,
            )
            return None
        try:
            args = self._converter.from_payloads(attributes.input, handler.signature.arg_types)
        except ConversionError as error:
            logger.warning("signal %r (event %d) is dropped: %s", attributes.signal_name, event.event_id, error)
            return None
        return SignalCall(handler, self._instance, args)


class SignalCall:
    """One signal, ready for its handler."""

    def __init__(self, handler: SignalDefinition, instance: object, args: list[Any]) -> None:
        self._handler = handler
        self._instance = instance
        self._args = args

    async def run(self) -> None:
        """Call the handler, sync or async. Raises whatever it raises."""
        outcome = self._handler.fn(self._instance, *self._args)
        if hasattr(outcome, "__await__"):
            await outcome
