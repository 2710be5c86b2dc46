from towline import activity as activity
from towline import exceptions as exceptions
from towline import workflow as workflow
from towline.activity import RetryPolicy as RetryPolicy
from towline.client import Client as Client
from towline.exceptions import ApplicationError as ApplicationError
from towline.worker import Worker as Worker
from towline.worker import WorkerConfig as WorkerConfig

__all__ = [
    "ApplicationError",
    "Client",
    "RetryPolicy",
    "Worker",
    "WorkerConfig",
    "activity",
    "exceptions",
    "workflow",
]
