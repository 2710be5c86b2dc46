"""Why a worker stops although nobody asked it to."""

from towline.exceptions import TowlineError
from towline.status import Status


class WorkerRefused(TowlineError):
    """The server said for good that it gives this worker no tasks (credentials, namespace, a request it rejects).

    `status` and `message` are the server's.
    """

    def __init__(self, *, namespace: str, task_queue: str, status: Status, message: str) -> None:
        super().__init__(
            f"the server refuses this worker (namespace {namespace!r}, task queue {task_queue!r}) for good: "
            f"{status.name}: {message}: repair that and start the worker again"
        )
        self.status = status
        self.message = message
