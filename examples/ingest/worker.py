"""The worker of the ingest: `towline worker examples.ingest.worker`."""

from typing import Final

from examples.ingest.activities import ingest_file, list_files, write_report
from examples.ingest.workflow import ingest
from towline.worker import WorkerConfig

TASK_QUEUE: Final = "ingest"

worker = WorkerConfig(
    task_queue=TASK_QUEUE,
    workflows=[ingest],
    activities=[list_files, ingest_file, write_report],
    # Reading files is bound by the disk: a few at a time are as fast as many, and each gets further before a crash.
    max_concurrent_activities=8,
)
