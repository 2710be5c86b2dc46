"""Mutants fit the source as it is, and what is made of their tests' outcomes."""

import ast

import pytest

from mutants.faults import ALL_FAULTS, NUMBERED_FAULTS
from mutants.mutant import Edit, Mutant, Outdated
from mutants.named_tests import FILES, paths
from mutants.source_copy import ROOT
from mutants.suite import Results
from mutants.verdict import Misjudged, judge

NUMBERED = [f"s{number:02}" for number in range(1, 26) if number not in (8, 11)]


def mutant(*edits: Edit, tests: tuple[str, ...] = ("test_one",)) -> Mutant:
    return Mutant(name="s99", pitfall=1, fault="nothing works", file="src/x.py", edits=edits, tests=tests)


def test_every_numbered_fault_is_there_once() -> None:
    assert [fault.name for fault in NUMBERED_FAULTS] == NUMBERED
    assert {fault.pitfall for fault in NUMBERED_FAULTS} == set(range(1, 12))
    assert len({fault.name for fault in ALL_FAULTS}) == len(ALL_FAULTS)


@pytest.mark.parametrize("fault", ALL_FAULTS, ids=lambda fault: fault.name)
def test_mutant_fits_the_source(fault: Mutant) -> None:
    source = (ROOT / fault.file).read_text()
    mutated = fault.mutate(source)
    assert ast.dump(ast.parse(mutated)) != ast.dump(ast.parse(source)), "the fault changes code, and it is still Python"


@pytest.mark.parametrize("test", FILES)
def test_named_test_is_where_it_is_looked_for(test: str) -> None:
    for file in FILES[test]:
        functions = _functions((ROOT / file.partition("::")[0]).read_text())
        assert functions.count(test) == 1
    assert any(test in fault.tests for fault in ALL_FAULTS), "every named test has a fault to notice"


@pytest.mark.parametrize("source", ["x = 2\n", "x = 1\ny = 1\n"], ids=["gone", "twice"])
def test_outdated_mutant_says_which_it_is(source: str) -> None:
    with pytest.raises(Outdated, match=r"mutant s99 \(nothing works\).*src/x.py [02] times") as caught:
        mutant(Edit("= 1", "= 3")).mutate(source)
    assert str(caught.value).endswith("= 1")


def test_diff_shows_the_fault() -> None:
    assert "-x = 1\n+x = 3\n" in mutant(Edit("= 1", "= 3")).diff("x = 1\n")


def test_paths_of_tests_that_are_in_two_files() -> None:
    assert paths(["test_worker_drains_on_cancel", "test_worker_drains_on_cancel"]) == [
        "tests/worker/test_drain.py::test_worker_drains_on_cancel",
        "tests/worker/test_over_grpc.py::test_worker_drains_on_cancel",
    ]


CASES = ["t.py::test_one[a]", "t.py::test_one[b]", "t.py::test_two"]


def results(*failed: str) -> Results:
    return Results(CASES, {*CASES} - {*failed}, dict.fromkeys(failed, "assert 1 == 2"))


def test_killed_if_each_named_test_fails_in_one_of_its_cases() -> None:
    both = mutant(tests=("test_one", "test_two"))
    assert judge(both, results(CASES[1], CASES[2]), CASES, seconds=1).killed
    verdict = judge(both, results(CASES[0], CASES[1]), CASES, seconds=1)
    assert (verdict.killed, verdict.noticed, verdict.missed) == (False, ("test_one",), ("test_two",))
    assert judge(mutant(tests=("test_one",)), results(), CASES, seconds=1).missed == ("test_one",)


@pytest.mark.parametrize("expected", [CASES[:2], [*CASES, "t.py::test_three"]], ids=["more", "fewer"])
def test_nothing_is_said_if_other_tests_ran(expected: list[str]) -> None:
    with pytest.raises(Misjudged, match="mutant s99: other tests ran"):
        judge(mutant(), results(*CASES), expected, seconds=1)


def _functions(text: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
