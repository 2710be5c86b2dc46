"""Deterministic execution of workflow code."""

from towline.runtime.handler import WorkflowHandler, WorkflowTaskFailed
from towline.runtime.registry import UnknownWorkflow, WorkflowRegistry

__all__ = ["UnknownWorkflow", "WorkflowHandler", "WorkflowRegistry", "WorkflowTaskFailed"]
