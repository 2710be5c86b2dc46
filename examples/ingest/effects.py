"""Effects that happen once, however often the activity that wants them runs."""

import hashlib
import os
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import msgspec

T = TypeVar("T")

# File systems take names of 255 bytes.
_NAME_BYTES = 200


class Effects:
    """A folder with one file for each idempotency key: what the activity of that name did.

    The first attempt to put a value wins, and every other one gets the value of the first. A database would do the
    same with a unique index on the key.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str, type: type[T]) -> T | None:
        """What was put under the key; None: nothing yet."""
        try:
            return msgspec.json.decode(self._path(key).read_bytes(), type=type)
        except FileNotFoundError:
            return None

    def put(self, key: str, value: T) -> T:
        """Write the value unless the key has one. Gives back what the key has now, which is on disk."""
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._folder / f".{os.urandom(8).hex()}"
        try:
            with unfinished.open("xb") as file:
                file.write(msgspec.json.encode(value))
                file.flush()
                os.fsync(file.fileno())
            os.link(unfinished, self._path(key))
        except FileExistsError:
            return self.get(key, type(value)) or value
        finally:
            unfinished.unlink(missing_ok=True)
        return value

    def keys(self) -> list[str]:
        """The names of the keys that have a value, as they stand in the folder."""
        return sorted(path.stem for path in self._folder.glob("*.json") if not path.name.startswith("."))

    def _path(self, key: str) -> Path:
        name = quote(key, safe="")
        if len(name) > _NAME_BYTES:
            name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / f"{name}.json"
