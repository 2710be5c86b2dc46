"""Time, ids and randomness are arguments."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.rules.source import Source

CLOCK: Final = "take a towline.clock.Clock (in core: a now_ms argument)"
IDS: Final = "take a towline.ids.Ids"
RANDOM: Final = "take a random.Random that the caller made"

INSTEAD: Final = {
    "time.time": CLOCK,
    "time.time_ns": CLOCK,
    "time.monotonic": CLOCK,
    "time.monotonic_ns": CLOCK,
    "time.perf_counter": CLOCK,
    "time.perf_counter_ns": CLOCK,
    "time.sleep": CLOCK,
    "asyncio.sleep": CLOCK,
    "datetime.datetime.now": CLOCK,
    "datetime.datetime.utcnow": CLOCK,
    "datetime.datetime.today": CLOCK,
    "datetime.date.today": CLOCK,
    "uuid.uuid1": IDS,
    "uuid.uuid4": IDS,
    "random.SystemRandom": RANDOM,
    "os.urandom": RANDOM,
    "secrets": RANDOM,
}

# The files that make the real thing out of the machine.
SOURCES: Final = ("src/towline/clock.py", "src/towline/ids.py")


def check(source: Source) -> Iterator[str]:
    """Direct uses of the machine's clock and randomness."""
    if source.path in SOURCES:
        return
    yields = _sleeps_of_nothing(source.tree)
    for node, name in source.names():
        if node in yields:
            continue
        instead = INSTEAD.get(name) or INSTEAD.get(name.partition(".")[0])
        if instead is None and name.startswith("random.") and name != "random.Random":
            instead = RANDOM
        if instead is not None:
            yield source.at(node, f"{name} is not foretellable: {instead}")


def _sleeps_of_nothing(tree: ast.Module) -> set[ast.expr]:
    """The functions of calls like `asyncio.sleep(0)`, which only let others run."""
    return {
        node.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and [ast.unparse(argument) for argument in node.args[:1]] == ["0"]
    }
