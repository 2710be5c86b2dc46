"""Logs of the long-running commands: on stderr, for the eye on a terminal, one JSON object a line elsewhere."""

import logging
import sys
from typing import Literal

import structlog
from structlog.typing import Processor

Level = Literal["debug", "info", "warning", "error"]


def configure_logs(level: Level) -> None:
    """Set up structlog for this process, and the standard library's loggers, which user code and libraries write to.

    Both come out in one format, a record of the standard library with its extra fields and its logger's name. A
    handler that somebody has put on the root logger before is left alone.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    on_terminal = sys.stderr.isatty()
    shared = _shared(on_terminal=on_terminal)
    render: Processor = structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    logging.basicConfig(level=number, handlers=[handler])


def _shared(*, on_terminal: bool) -> list[Processor]:
    """What every line goes through, wherever it comes from."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S.%f" if on_terminal else "iso", utc=not on_terminal),
        *([] if on_terminal else [structlog.processors.format_exc_info]),
    ]
