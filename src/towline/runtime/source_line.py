"""Which line of the user's code is running."""

import os
import sys
from dataclasses import dataclass
from types import CodeType
from typing import Final

_OWN: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A place in code; made cheaply, written out only when somebody must read it."""

    code: CodeType
    line: int

    def __str__(self) -> str:
        return f"{self.code.co_filename}:{self.line} in {self.code.co_qualname}"


def source_line() -> SourceLine | None:
    """The innermost line that is not Towline's own; None if there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return SourceLine(frame.f_code, frame.f_lineno)
