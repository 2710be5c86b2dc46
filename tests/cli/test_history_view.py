"""A history as it stands in a terminal."""

from datetime import UTC
from io import StringIO

import pytest
from rich.console import Console

from tests.cli import sample_history
from towline.cli.history_view import HistoryView

WIDE = """\
order-7  ·  Order  ·  failed after 2.35 s
run run-1
on shop  ·  started 2026-03-01 14:03:05

   1  14:03:05.000  WorkflowExecutionStarted     Order("hi", {"cents":1200})
                                                 on shop by shop@host
   2  14:03:05.000  WorkflowTaskScheduled
   3  14:03:05.003  WorkflowTaskStarted          by worker-1@host
   4  14:03:05.005  WorkflowTaskFailed           workflow worker unhandled failure by worker-1@host
                                                 NameError: name 'x' is not defined
   5  14:03:05.005  WorkflowTaskScheduled        attempt 2
   6  14:03:06.010  WorkflowTaskStarted          by worker-1@host
   7  14:03:06.015  WorkflowTaskCompleted        by worker-1@host
   8  14:03:06.015  ActivityTaskScheduled        upper("hi")
                                                 id 1 · start to close 10 s, heartbeat 2.5 s
   9  14:03:06.015  ActivityTaskScheduled        charge({"cents":1200})
                                                 id 2 · start to close 10 s
  10  14:03:06.200  ActivityTaskStarted          upper (1), attempt 3 by worker-1@host
                                                 attempt before failed: ConnectionError: connection reset
  11  14:03:06.200  ActivityTaskCompleted        upper (1) → "HI"
  12  14:03:06.300  WorkflowExecutionSignaled    hurry("please") by shop@host
  13  14:03:07.000  ActivityTaskStarted          charge (2) by worker-1@host
  14  14:03:07.000  ActivityTaskFailed           charge (2)  CardError: card declined
  15  14:03:07.100  ActivityTaskTimedOut         upper (1)  timed out (start_to_close): activity upper took longer than
                                                 10 s
  16  14:03:07.340  WorkflowExecutionFailed      activity charge (2) failed
                                                 caused by CardError: card declined
  17  14:03:07.345  WorkflowExecutionCompleted   → {"receipt":"r-1"}
      2026-03-02
  18  14:03:05.000  WorkflowExecutionTerminated  no longer wanted by shop@host
"""

NARROW_BEGINNING = """\
order-7  ·  Order  ·  failed after 2.35 s
run run-1
on shop  ·  started 2026-03-01 14:03:05

   1  WorkflowExecutionStarted  14:03:05.000
      Order("hi", {"cents":1200})
      on shop by shop@host
   2  WorkflowTaskScheduled  14:03:05.000
   3  WorkflowTaskStarted  14:03:05.003  by worker-1@host
   4  WorkflowTaskFailed  14:03:05.005
      workflow worker unhandled failure by worker-1@host
      NameError: name 'x' is not defined
"""


def shown(width: int) -> str:
    console = Console(file=StringIO(), width=width, highlight=False)
    view = HistoryView(console, zone=UTC)
    view.begin(sample_history.info())
    for event in sample_history.events():
        view.add(event)
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def test_on_a_wide_terminal() -> None:
    assert shown(120) == WIDE


def test_on_a_narrow_terminal() -> None:
    assert shown(70)[: len(NARROW_BEGINNING)] == NARROW_BEGINNING


@pytest.mark.parametrize("width", [30, 40, 80, 95, 96, 200])
def test_nothing_is_wider_than_the_terminal_or_lost(width: int) -> None:
    text = shown(width)
    assert max(len(line) for line in text.splitlines()) <= width
    for words in ("WorkflowExecutionTerminated", "receipt", "CardError"):
        assert words in text.replace("\n      ", "")
