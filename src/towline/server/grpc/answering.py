"""From an encoded request to an encoded answer: the one way from any wire to the services."""

import structlog
from google.protobuf.message import DecodeError, Message

from towline import limits
from towline.core.refusal import Refused, invalid
from towline.rpc import Method
from towline.server.caller import Caller
from towline.server.grpc.api import Services
from towline.status import Status


class Answering:
    """Decodes, calls, encodes, and turns everything that can go wrong into `Refused`."""

    def __init__(self, services: Services, *, logger: structlog.typing.FilteringBoundLogger) -> None:
        self._services = services
        self._logger = logger

    async def answer(self, method: Method, request: bytes, *, caller: Caller) -> bytes:
        """The encoded response, at most `limits.MESSAGE_SIZE_BYTES` long. Raises Refused.

        Where the answer will not reach the caller, for its size or because this coroutine is cancelled, `caller` has
        been told so.
        """
        check_size(method, "request", len(request))
        message = _decode(method, request)
        try:
            response = _encode(await self._services.call(method, message, caller=caller))
            check_size(method, "response", len(response))
        except BaseException as error:
            caller.gone()
            if isinstance(error, Exception):
                raise self._refusal(method, error) from error
            raise
        return response

    def _refusal(self, method: Method, error: Exception) -> Refused:
        match error:
            case Refused():
                if error.__cause__ is not None:  # a fault behind the server, not the caller's: a full disk, say
                    self._logger.warning("call_refused", method=method.name, error=str(error.__cause__))
                return error
            case _:
                self._logger.error("call_failed", method=method.name, exc_info=error)
                message = f"{method.name} failed inside the server ({type(error).__name__}): see the server's log"
                return Refused(Status.INTERNAL, message)


def check_size(method: Method, what: str, size_bytes: int) -> None:
    """Raises Refused for a message that is too large."""
    if size_bytes > limits.MESSAGE_SIZE_BYTES:
        raise Refused(
            Status.RESOURCE_EXHAUSTED,
            f"the {what} of {method.name} is {size_bytes} bytes, the limit is {limits.MESSAGE_SIZE_BYTES}: "
            "ask for less at once, or store large values elsewhere and pass their path",
        )


def _decode(method: Method, request: bytes) -> Message:
    try:
        message: Message = method.request_type.FromString(request)
    except DecodeError:
        name = method.request_type.DESCRIPTOR.full_name
        raise invalid(
            f"the request of {method.name} is no {name}: check the client's version of the contract"
        ) from None
    return message


def _encode(response: Message | bytes) -> bytes:
    return response if isinstance(response, bytes) else response.SerializeToString()
