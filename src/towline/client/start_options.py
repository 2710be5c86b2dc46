"""What can be said of a workflow when it is started."""

from datetime import timedelta
from typing import Required, TypedDict


class StartOptions(TypedDict, total=False):
    """Keyword arguments of `Client.start_workflow` and `Client.execute_workflow`."""

    # The workflow id, unique among the open runs of the namespace.
    id: Required[str]
    # Where workers look for its tasks.
    task_queue: Required[str]
    # How long a worker may hold one of its workflow tasks; 10 s unless given.
    task_timeout: timedelta | None
    # Starting again with the same request id gives the same run; unless given, each call is a request of its own.
    request_id: str | None
