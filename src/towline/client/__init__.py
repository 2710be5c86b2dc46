"""Starting workflows, and talking to them, from any Python code."""

from towline.client.client import Client
from towline.client.connection import Connection, Wire
from towline.client.errors import NotFoundError, WorkflowFailureError
from towline.client.execution import (
    PendingActivity,
    PendingWorkflowTask,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHistory,
)
from towline.client.handle import WorkflowHandle
from towline.client.transport.api import ConnectionClosed, RpcError

__all__ = [
    "Client",
    "Connection",
    "ConnectionClosed",
    "NotFoundError",
    "PendingActivity",
    "PendingWorkflowTask",
    "RpcError",
    "Wire",
    "WorkflowExecution",
    "WorkflowExecutionDescription",
    "WorkflowExecutionStatus",
    "WorkflowFailureError",
    "WorkflowHandle",
    "WorkflowHistory",
]
