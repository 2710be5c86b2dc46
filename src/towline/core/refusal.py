"""How a rule says no."""

from towline.status import Status


class Refused(Exception):
    """A request that cannot be carried out and changed nothing.

    `message` names the fault, the subject and the next step; `status` says whose fault it was (gRPC's meaning).
    """

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def invalid(message: str) -> Refused:
    """The request is wrong, whatever the state of the run."""
    return Refused(Status.INVALID_ARGUMENT, message)


def fenced(message: str) -> Refused:
    """The lease or the run is no longer what the request names: drop the work."""
    return Refused(Status.FAILED_PRECONDITION, message)


def not_found(message: str) -> Refused:
    """There is no such thing."""
    return Refused(Status.NOT_FOUND, message)
