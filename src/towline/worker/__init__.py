"""Workers: the processes that run workflows and activities."""

from towline.worker.config import WorkerConfig
from towline.worker.errors import WorkerRefused
from towline.worker.reconnect import reconnect_delay
from towline.worker.worker import Worker

__all__ = ["Worker", "WorkerConfig", "WorkerRefused", "reconnect_delay"]
