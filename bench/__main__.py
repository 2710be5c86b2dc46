"""`python -m bench run echo --count 3000 --concurrency 50 --json`."""

import asyncio
import sys
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from bench.cases import CASES
from bench.load import WrongResult
from bench.measure import measure
from bench.processes import ProcessEnded
from bench.report import as_json, print_table
from towline.client import RpcError, WorkflowFailureError

Positive = Annotated[int, Parameter(validator=Number(gte=1))]
app = App(name="bench", help="Measure Towline: server, worker and client in a process each, on SQLite.")


@app.command
def run(
    case: Literal["noop", "echo", "seq10", "latency"],
    *,
    count: Positive | None = None,
    concurrency: Positive | None = None,
    json: bool = False,
    timeout_s: float = 600,
) -> int:
    """Measure one case.

    Parameters
    ----------
    case
        noop: no activity; echo: one; seq10: ten in sequence; latency: echo, one at a time.
    count
        How many workflows to measure.
    concurrency
        How many of them are open at the same time.
    json
        Print one JSON object.
    timeout_s
        Give up after this many seconds.
    """
    chosen = CASES[case]
    work = measure(
        chosen, count=count or chosen.count, concurrency=concurrency or chosen.concurrency, timeout_s=timeout_s
    )
    try:
        result = asyncio.run(work)
    except TimeoutError:
        return _failed(f"bench {case} was not over after {timeout_s} s: give it more with --timeout-s")
    except (WrongResult, ProcessEnded, WorkflowFailureError, RpcError) as error:
        return _failed(f"bench {case} failed: {error}")
    if json:
        print(as_json(result))
    else:
        print_table(result)
    return 0


def _failed(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(app())
