"""From what the user typed to the worker that stands in their code."""

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from towline.cli.errors import CliError
from towline.cli.found import found_in
from towline.cli.text import one_line
from towline.worker import WorkerConfig

_NAME = "worker"


def load_worker(target: str) -> WorkerConfig:
    """The worker that `package.module:name`, `package.module`, `path/app.py:name` or `path/app.py` names.

    Without a name: the module's `worker`, or, if it has none, one made of the workflows and activities that the module
    has. Raises CliError where that is not to be had.
    """
    place, _, name = target.partition(":")
    module = import_place(place)
    value = getattr(module, name or _NAME, None)
    if isinstance(value, WorkerConfig):
        return value
    if name:
        raise CliError(
            f"{place} has no WorkerConfig named {name}: write `{name} = WorkerConfig(task_queue=…, …)` in it"
        )
    if value is not None:
        raise CliError(f"`{_NAME}` in {place} is a {type(value).__name__}: it must be a towline.worker.WorkerConfig")
    config = found_in(module)
    if config is None:
        raise CliError(
            f"{place} has no worker: write `worker = WorkerConfig(task_queue=…, workflows=[…], activities=[…])` in it, "
            "or decorate its functions with @workflow.defn and @activity.defn"
        )
    return config


def import_place(place: str) -> ModuleType:
    """The module of a dotted name (looked for in the working directory, too) or of a .py file."""
    if place.endswith(".py"):
        folder, name = _module_of(Path(place))
    else:
        folder, name = Path.cwd(), place
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise CliError(
                f"there is no module {name} in {folder} or on the Python path: "
                "give the path of its .py file, or run this in the folder that it is in"
            ) from None
        raise CliError(_import_fault(place, error)) from error
    except Exception as error:
        raise CliError(_import_fault(place, error)) from error


def _module_of(path: Path) -> tuple[Path, str]:
    """The folder to import from and the dotted name, with the packages that the file is in."""
    path = path.resolve()
    if not path.is_file():
        raise CliError(f"there is no file {path}: name the .py file that has your workflows and activities")
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _import_fault(place: str, error: Exception) -> str:
    where = ""
    if not isinstance(error, SyntaxError):
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
        where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{place} cannot be imported: {type(error).__name__}: {one_line(str(error))}{where}"
