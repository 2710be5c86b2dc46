"""Copies of the source, to run tests on. The working tree is never touched."""

import shutil
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final, Self

from mutants.mutant import Mutant

ROOT: Final = Path(__file__).parents[1]
_COPIED: Final = ("src", "tests", "mutants")


class SourceCopy:
    """The repository's code in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of_working_tree(cls, folder: Path) -> Self:
        """As it is now, without compiled files."""
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        return cls(folder)

    def mutated(self, folder: Path, mutant: Mutant) -> "SourceCopy":
        """A further copy, with the fault. Takes compiled files along, which saves a second. Raises Outdated."""
        shutil.copytree(self.folder, folder)
        file = folder / mutant.file
        Path(cache_from_source(str(file))).unlink(missing_ok=True)
        file.write_text(mutant.mutate(file.read_text()))
        return SourceCopy(folder)

    def read(self, file: str) -> str:
        """The text of one of its files."""
        return (self.folder / file).read_text()
