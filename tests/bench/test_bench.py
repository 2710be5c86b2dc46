"""The parts of the bench that can be wrong without anyone noticing."""

import os
from typing import Any, cast

import msgspec
import pytest

from bench.cases import CASES
from bench.load import Load, WrongResult
from bench.measure import percentile
from bench.report import Result, as_json
from bench.usage import usage_of
from towline.client import Client


class FakeClient:
    """Answers every workflow at once."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.ids: list[str] = []

    async def execute_workflow(self, workflow: object, argument: object, *, id: str, task_queue: str) -> object:
        self.ids.append(id)
        return self.answer


def load(client: FakeClient, case: str) -> Load:
    return Load(cast(Client, client), CASES[case])


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(0, 1), (1, 1), (50, 50), (99, 99), (100, 100)],
)
def test_percentile(percent: int, expected: int) -> None:
    assert percentile(range(1, 101), percent) == expected


def test_percentile_of_one_value() -> None:
    assert (percentile([7], 50), percentile([7], 99)) == (7, 7)


async def test_a_wrong_result_stops_the_drive() -> None:
    with pytest.raises(WrongResult, match=r"echo-0 gave 'hello 0', it must give 'HELLO 0'"):
        await load(FakeClient("hello 0"), "echo").drive(10, 2)


async def test_drives_go_on_counting() -> None:
    client = FakeClient(0)
    noop = load(client, "noop")
    assert len(await noop.drive(1, 1)) == 1
    with pytest.raises(WrongResult, match="noop-1 gave 0, it must give 1"):
        await noop.drive(5, 1)
    assert client.ids == ["noop-0", "noop-1"]


def test_a_case_is_found_by_its_name() -> None:
    assert {name: case.name for name, case in CASES.items()} == {name: name for name in CASES}
    assert set(CASES) == {"noop", "echo", "seq10", "latency"}
    assert CASES["seq10"].expected(5) == 15


def test_usage_of_this_process() -> None:
    usage = usage_of(os.getpid())
    assert usage.cpu_us > 0
    assert usage.rss_bytes > 1024 * 1024


def test_json_has_the_agreed_names() -> None:
    numbers: dict[str, Any] = {name: 1 for name in Result.__struct_fields__ if name != "case"}
    decoded = msgspec.json.decode(as_json(Result(case="echo", **numbers)))
    agreed = ("rate_per_s", "p50_ms", "p99_ms", "server_cpu_us", "worker_cpu_us", "server_rss_mb")
    assert decoded["case"] == "echo"
    assert all(decoded[name] == 1 for name in agreed)
