"""A mutant: the source with one fault put in on purpose."""

import difflib
from dataclasses import dataclass


class Outdated(Exception):
    """A mutant does not fit the source any more. The message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`before` is text that its file has exactly once; `after` takes its place."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault, and the tests that must notice it."""

    name: str
    pitfall: int  # its row in the design's table of pitfalls; 0: not in it
    fault: str  # what is wrong with the code now
    file: str  # relative to the repository
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]  # names of test functions; at least one case of each must fail

    def mutate(self, source: str) -> str:
        """The file's text with the fault. Raises Outdated."""
        for edit in self.edits:
            found = source.count(edit.before)
            if found != 1:
                raise Outdated(
                    f"mutant {self.name} ({self.fault}) replaces code that is in {self.file} {found} times, not once: "
                    f"write the mutant for the code as it is now; it looks for\n{edit.before}"
                )
            source = source.replace(edit.before, edit.after)
        return source

    def diff(self, source: str) -> str:
        """The fault as a patch, for people."""
        lines, mutated = source.splitlines(keepends=True), self.mutate(source).splitlines(keepends=True)
        return "".join(difflib.unified_diff(lines, mutated, self.file, f"{self.file} ({self.name})"))
