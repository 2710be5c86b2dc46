"""The contract's methods as values: transports and servers walk this table instead of naming each method again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import ServiceDescriptor

from towline.api import task_service_pb2, workflow_service_pb2


@dataclass(frozen=True, slots=True)
class Method:
    """One unary method. `request_type` and `response_type` are message classes of `towline.api`."""

    service: str
    name: str
    request_type: type[Any]
    response_type: type[Any]

    @property
    def path(self) -> str:
        """The path of the method in a gRPC request."""
        return f"/{self.service}/{self.name}"


def _methods(service: ServiceDescriptor) -> Mapping[str, Method]:
    return {
        method.name: Method(
            service.full_name,
            method.name,
            message_factory.GetMessageClass(method.input_type),
            message_factory.GetMessageClass(method.output_type),
        )
        for method in service.methods
        if not method.client_streaming
    }


WORKFLOW_SERVICE: Final = workflow_service_pb2.DESCRIPTOR.services_by_name["WorkflowService"]
TASK_SERVICE: Final = task_service_pb2.DESCRIPTOR.services_by_name["TaskService"]

WORKFLOW_METHODS: Final = _methods(WORKFLOW_SERVICE)
TASK_METHODS: Final = _methods(TASK_SERVICE)
# Method names are unique over all services.
METHODS: Final = {**WORKFLOW_METHODS, **TASK_METHODS}
