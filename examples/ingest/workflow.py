"""The ingest workflow."""

import asyncio

from examples.ingest.activities import ingest_file, list_files, write_report
from examples.ingest.model import FileFailure, FileStats, IngestRequest, Report, Summary
from towline import workflow
from towline.exceptions import ActivityError

# A run may have 2,000 activities pending; half of that keeps any number of workers busy.
_AT_ONCE = 1_000


@workflow.defn(name="Ingest")
async def ingest(request: IngestRequest) -> Summary:
    """Ingest every file of the folder, then write the report. A file that fails does not stop the others."""
    paths = await workflow.execute_activity(list_files, request)
    outcomes: list[FileStats | FileFailure] = []
    for begin in range(0, len(paths), _AT_ONCE):
        batch = paths[begin : begin + _AT_ONCE]
        outcomes += await asyncio.gather(*(_outcome(request, path) for path in batch))
    report = Report(
        request.folder,
        files=[outcome for outcome in outcomes if isinstance(outcome, FileStats)],
        failures=[outcome for outcome in outcomes if isinstance(outcome, FileFailure)],
    )
    return await workflow.execute_activity(write_report, request, report)


async def _outcome(request: IngestRequest, path: str) -> FileStats | FileFailure:
    try:
        return await workflow.execute_activity(ingest_file, request, path)
    except ActivityError as error:
        return FileFailure(path, str(error.cause or error))
