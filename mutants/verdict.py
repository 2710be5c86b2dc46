"""What became of a mutant."""

from collections.abc import Sequence
from dataclasses import dataclass

from mutants.mutant import Mutant
from mutants.named_tests import function_of
from mutants.suite import Results


class Misjudged(Exception):
    """The tests say nothing about the mutant. The message tells why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The named tests that noticed the fault, and those that did not. `reasons`: by case, what they said."""

    mutant: Mutant
    noticed: tuple[str, ...]
    missed: tuple[str, ...]
    reasons: dict[str, str]
    seconds: float

    @property
    def killed(self) -> bool:
        """Every named test noticed, in at least one of its cases."""
        return not self.missed


def judge(mutant: Mutant, results: Results, expected: Sequence[str], *, seconds: float) -> Verdict:
    """`expected` are the cases that pass on the source as it is. Raises Misjudged if others ran, or not all of them."""
    ran = {*results.passed, *results.failed}
    if ran != set(expected):
        differing = ", ".join(sorted(ran ^ set(expected)))
        raise Misjudged(f"mutant {mutant.name}: other tests ran than on the source as it is: {differing}")
    failing = {function_of(case) for case in results.failed}
    noticed = tuple(test for test in mutant.tests if test in failing)
    missed = tuple(test for test in mutant.tests if test not in failing)
    return Verdict(mutant, noticed, missed, results.failed, seconds)
