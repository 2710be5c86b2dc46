"""`script/mutants`: the numbered ones. `script/mutants s07 x02 --verbose`: these, with what the tests said."""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from mutants.faults import ALL_FAULTS, NUMBERED_FAULTS
from mutants.further_faults import FURTHER_FAULTS
from mutants.hunt import Hunt
from mutants.mutant import Mutant, Outdated
from mutants.source_copy import SourceCopy
from mutants.suite import NotRun
from mutants.verdict import Misjudged, Verdict

app = App(name="mutants", help="Put faults into a copy of the source; the tests named beside each must notice.")


@app.default
def main(
    *names: str,
    further: bool = False,
    jobs: Annotated[int, Parameter(validator=Number(gte=1))] = 2,
    verbose: bool = False,
) -> int:
    """Hunt mutants: those that the design numbers, or others. Ends with 0 if every one was killed.

    Parameters
    ----------
    names
        Only these, for example s07.
    further
        Those that the design does not number.
    jobs
        How many are hunted at once.
    verbose
        Also print what the failing tests said.
    """
    unknown = sorted(set(names) - {mutant.name for mutant in ALL_FAULTS})
    if unknown:
        known = ", ".join(mutant.name for mutant in ALL_FAULTS)
        print(f"script/mutants: there is no mutant {', '.join(unknown)}: choose from {known}", file=sys.stderr)
        return 2
    mutants = _chosen(names, further=further)
    try:
        return asyncio.run(_hunt(mutants, jobs=jobs, verbose=verbose))
    except (Outdated, NotRun, Misjudged) as error:
        print(f"script/mutants: {error}", file=sys.stderr)
        return 2


def _chosen(names: Sequence[str], *, further: bool) -> Sequence[Mutant]:
    if names:
        return [mutant for mutant in ALL_FAULTS if mutant.name in names]
    return FURTHER_FAULTS if further else NUMBERED_FAULTS


async def _hunt(mutants: Sequence[Mutant], *, jobs: int, verbose: bool) -> int:
    killed = survived = 0
    with tempfile.TemporaryDirectory(prefix="towline-mutants.") as folder:
        hunt = Hunt(SourceCopy.of_working_tree(Path(folder) / "source"), jobs=jobs)
        async for verdict in hunt.verdicts(mutants):
            _print(verdict, hunt.source, verbose=verbose)
            killed += verdict.killed
            survived += not verdict.killed
    print(f"{killed} killed, {survived} survived")
    return 0 if not survived else 1


def _print(verdict: Verdict, source: SourceCopy, *, verbose: bool) -> None:
    mutant = verdict.mutant
    if verdict.killed:
        print(f"{mutant.name} killed by {', '.join(verdict.noticed)}  {verdict.seconds:.1f} s", flush=True)
    else:
        print(f"{mutant.name} SURVIVED {', '.join(verdict.missed)}  {verdict.seconds:.1f} s")
        print(f"    pitfall {mutant.pitfall}: {mutant.fault}")
        print(mutant.diff(source.read(mutant.file)), flush=True)
    if verbose:
        for case, reason in verdict.reasons.items():
            print(f"    {case}: {reason}".replace("\n", "\n        "), flush=True)


if __name__ == "__main__":
    sys.exit(app())
