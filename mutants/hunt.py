"""The hunt: first the source as it is, then every mutant, a few at once."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from mutants import suite
from mutants.mutant import Mutant
from mutants.named_tests import function_of, paths
from mutants.source_copy import SourceCopy
from mutants.verdict import Verdict, judge


class Hunt:
    """Runs the tests that mutants name, on `source` and on copies of it that are made beside it."""

    def __init__(self, source: SourceCopy, *, jobs: int) -> None:
        self.source = source
        self._places = asyncio.Semaphore(jobs)

    async def verdicts(self, mutants: Sequence[Mutant]) -> AsyncIterator[Verdict]:
        """One by one, in the order of the mutants. Raises Outdated before any test is run, NotRun, Misjudged."""
        for mutant in mutants:
            mutant.mutate(self.source.read(mutant.file))
        cases = await self._sound_cases(mutants)
        hunts = [asyncio.create_task(self._hunt(mutant, cases)) for mutant in mutants]
        try:
            for hunt in hunts:
                yield await hunt
        finally:
            for hunt in hunts:
                hunt.cancel()
            await asyncio.gather(*hunts, return_exceptions=True)

    async def _sound_cases(self, mutants: Sequence[Mutant]) -> Sequence[str]:
        """Every case of every named test, all of which pass on the source as it is. Raises NotRun."""
        results = await suite.run(self.source, paths(test for mutant in mutants for test in mutant.tests))
        if results.failed:
            failures = "\n".join(f"{case}: {reason}" for case, reason in results.failed.items())
            raise suite.NotRun(f"tests fail on the source as it is, so they can show no fault:\n{failures}")
        return results.cases

    async def _hunt(self, mutant: Mutant, cases: Sequence[str]) -> Verdict:
        async with self._places:
            began = asyncio.get_running_loop().time()
            copy = self.source.mutated(self.source.folder.with_name(mutant.name), mutant)
            results = await suite.run(copy, paths(mutant.tests))
            expected = [case for case in cases if function_of(case) in mutant.tests]
            return judge(mutant, results, expected, seconds=asyncio.get_running_loop().time() - began)
