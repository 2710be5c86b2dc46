"""How a script learns where a server listens."""

import os
from pathlib import Path

from towline.cli.errors import CliError


def write_ready_file(path: Path, address: str) -> None:
    """Write the address and a newline, so that a reader sees all of it or no file; a pipe gets it as one write.

    Raises CliError if the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb", buffering=0) as pipe:
                pipe.write(f"{address}\n".encode())
            return
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        unfinished.write_text(f"{address}\n")
        unfinished.replace(path)
    except OSError as error:
        raise CliError(
            f"the ready file {path} cannot be written ({error.strerror}): name another with --ready-file"
        ) from None
