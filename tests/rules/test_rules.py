"""Every rule, over every file that it is for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from tests.rules import injected, sizes, sql, state, text, waiting
from tests.rules.source import Source, parse, sources


@dataclass(frozen=True)
class Rule:
    """A check, the folders it looks at, and code that breaks or keeps it: proof that the rule can fail."""

    check: Callable[[Source], Iterator[str]]
    folders: tuple[str, ...]
    breaks: tuple[str, ...]
    keeps: tuple[str, ...]


EVERYWHERE: Final = ("src", "tests", "examples", "bench", "crash", "mutants")
RULES: Final = {
    "time, ids and randomness are arguments": Rule(
        injected.check,
        ("src",),
        breaks=(
            "import time\nnow = time.time()",
            "from time import monotonic as m\nnow = m()",
            "import datetime\nnow = datetime.datetime.now()",
            "from datetime import datetime\nnow = datetime.now()",
            "from uuid import uuid4\nname = uuid4()",
            "import random\npick = random.random()",
            "import secrets\nname = secrets.token_hex()",
            "import os\nnoise = os.urandom(8)",
            "import asyncio\nasync def f(): await asyncio.sleep(1)",
        ),
        keeps=(
            "import random\ndef f(seed): return random.Random(seed)",
            "import asyncio\nasync def f(): await asyncio.sleep(0)",
            "def f(clock): return clock.time()",
            "from datetime import datetime\ndef f(ms): return datetime.fromtimestamp(ms / 1000)",
        ),
    ),
    "tests do not sleep": Rule(
        waiting.check_sleeps,
        ("tests",),
        breaks=(
            "import asyncio\nasync def f(): await asyncio.sleep(0.01)",
            "from time import sleep\ndef f(): sleep(1)",
            "import asyncio\npause = asyncio.sleep",
        ),
        keeps=(
            "import asyncio\nasync def f(): await asyncio.sleep(0)",
            "import asyncio\ndef f(): return asyncio.sleep(0, 'result')",
            "import asyncio\n@workflow.defn\nasync def f(): await asyncio.sleep(60)",
            "async def f(clock): await clock.sleep(1)",
        ),
    ),
    "tests read no clock": Rule(
        waiting.check_clocks,
        ("tests",),
        breaks=("import time\ndef f(): return time.monotonic()",),
        keeps=("def f(clock): return clock.now_ms()",),
    ),
    "no test is left out": Rule(
        waiting.check_left_out,
        ("tests",),
        breaks=(
            "import pytest\n@pytest.mark.skip\ndef test_x(): assert 1",
            "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_x(): assert 1",
            "import pytest\ndef test_x(): pytest.skip()",
            "from pytest import importorskip\nx = importorskip('x')",
        ),
        keeps=("import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_x(x): assert x",),
    ),
    "every test asserts something": Rule(
        waiting.check_asserts,
        ("tests",),
        breaks=("def test_x(): f()", "class A:\n  async def test_x(self): await f()"),
        keeps=(
            "def test_x(): assert f()",
            "def test_x():\n  with pytest.raises(ValueError): f()",
            "def test_x(): check_history(f())",
            "@given(st.integers())\ndef test_x(seed): Walk(seed).step()",
            "async def test_x(): await cancelled.wait()",
        ),
    ),
    "files and functions stay small": Rule(
        sizes.check,
        ("src",),
        breaks=("def f():\n" + "  f()\n" * sizes.FUNCTION_LINES, "x = 1\n" * (sizes.FILE_LINES + 1)),
        keeps=("def f():\n" + "  f()\n" * (sizes.FUNCTION_LINES - 1), "x = 1\n" * sizes.FILE_LINES),
    ),
    "every file says what it is": Rule(
        text.check_docstring, ("src", "examples", "bench"), breaks=("x = 1", ""), keeps=('"""What x is."""\nx = 1',)
    ),
    "nothing is put off in a comment": Rule(
        text.check_later,
        EVERYWHERE,
        breaks=(*(f"x = 1  # {word}: later" for word in text.LATER), f'"""{text.LATER[0]}"""'),
        keeps=("x = 'a" + text.LATER[0] + "'",),
    ),
    "SQL is not built from strings": Rule(
        sql.check,
        ("src",),
        breaks=(
            "q = f'SELECT * FROM {t}'",
            "q = 'SELECT * FROM ' + t",
            "q = 'DELETE FROM %s' % t",
            "q = 'INSERT INTO {}'.format(t)",
        ),
        keeps=("q = f'PRAGMA user_version = {n}'", "q = f'Update the {thing}'", "q = 'SELECT 1'"),
    ),
    "modules hold no state": Rule(
        state.check,
        ("src",),
        breaks=("seen = []", "cache: dict[str, int] = {}", "waiting = set()", "def f():\n  global x\n  x = 1"),
        keeps=("NAMES = ['a']", "__all__ = ['a']", "names: Final = {'a': 1}", "def f():\n  seen = []"),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rule_is_kept(name: str) -> None:
    rule = RULES[name]
    findings = [finding for folder in rule.folders for source in sources(folder) for finding in rule.check(source)]
    assert not findings, "\n".join([f"the rule that {name} is broken:", *findings])


@pytest.mark.parametrize(("name", "code"), [(name, code) for name, rule in RULES.items() for code in rule.breaks])
def test_rule_notices(name: str, code: str) -> None:
    assert list(RULES[name].check(parse("src/example.py", code)))


@pytest.mark.parametrize(("name", "code"), [(name, code) for name, rule in RULES.items() for code in rule.keeps])
def test_rule_lets_pass(name: str, code: str) -> None:
    assert not list(RULES[name].check(parse("src/example.py", code)))


def test_rules_see_the_source() -> None:
    paths = {source.path for source in sources("src")}
    assert {"src/towline/clock.py", "src/towline/core/decision.py"} <= paths
    assert not any(path.startswith("src/towline/api/") for path in paths)
