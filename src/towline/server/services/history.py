"""Reading histories: pages, long polls, closing events."""

from collections.abc import Callable

from towline import limits
from towline.api.history_pb2 import History
from towline.api.token_pb2 import HistoryPageToken
from towline.api.workflow_service_pb2 import GetHistoryRequest, GetHistoryResponse
from towline.clock import Clock
from towline.core.refusal import Refused, not_found
from towline.server.alarm import Alarm
from towline.server.blobs import Blob, Page, cut_page, encode_event, split_blobs, with_history
from towline.server.caller import Caller, waiting_time_ms
from towline.server.engine import Engine
from towline.server.tokens import history_page_token, open_history_page_token
from towline.server.watchers import Watchers
from towline.store.api import RunRow, Store

_HISTORY_FIELD = GetHistoryResponse.DESCRIPTOR.fields_by_name["history"].number


class HistoryReader:
    """Reads what is durable: from the engine's memory where it has it, else from the store."""

    def __init__(self, engine: Engine, store: Store, *, watchers: Watchers, clock: Clock, long_poll_timeout_ms: int):
        self._engine = engine
        self._store = store
        self._watchers = watchers
        self._clock = clock
        self._long_poll_timeout_ms = long_poll_timeout_ms

    async def first_page(self, run_id: str, *, last_event_id: int) -> Page:
        """The first page of a workflow task's history."""
        return await self._read(
            run_id, 1, last_event_id=last_event_id, maximum_bytes=limits.FIRST_PAGE_SIZE_BYTES, at_least_one=False
        )

    async def answer(self, row: RunRow, request: GetHistoryRequest, caller: Caller) -> bytes:
        """The answer to GetHistory, encoded."""
        token = HistoryPageToken(next_event_id=1)
        if request.next_page_token:
            token = open_history_page_token(request.next_page_token, row.run_id)
        if request.close_event_only:
            return await self._closing_event(row, request, caller)
        if request.wait_new_event and not token.last_event_id:
            row = await self._wait(
                row, caller, lambda current: current.closed() or current.last_event_id >= token.next_event_id
            )
        return await self._page(row, request, token)

    def remembered(self, request: GetHistoryRequest) -> RunRow | None:
        """The run of a request that waits for its end, if it is in memory: what is not news there, the wait brings.

        Another server may have closed it: the wait ends with a look at the store.
        """
        if not (request.wait_new_event and request.close_event_only):
            return None
        live = self._engine.runs.peek(request.execution.run_id)
        if live is None or live.row is None:
            return None
        named = (live.row.namespace, live.row.workflow_id) == (request.namespace, request.execution.workflow_id)
        return live.row if named else None

    async def _page(self, row: RunRow, request: GetHistoryRequest, token: HistoryPageToken) -> bytes:
        size = request.maximum_page_size_bytes or limits.FIRST_PAGE_SIZE_BYTES
        page = await self._read(
            row.run_id,
            token.next_event_id,
            last_event_id=token.last_event_id or row.last_event_id,
            maximum_bytes=min(size, limits.MAXIMUM_PAGE_SIZE_BYTES),
            at_least_one=True,
        )
        following = page.next_event_id
        if not following and not token.last_event_id and request.wait_new_event and not row.closed():
            following = row.last_event_id + 1
        head = GetHistoryResponse(run_id=row.run_id)
        data = page.data
        if following:
            head.next_page_token = history_page_token(
                row.run_id, next_event_id=following, last_event_id=token.last_event_id, tail=token.tail
            )
        else:
            data += token.tail
        return with_history(head.SerializeToString(), field_number=_HISTORY_FIELD, history=data)

    async def _closing_event(self, row: RunRow, request: GetHistoryRequest, caller: Caller) -> bytes:
        if request.wait_new_event:
            row = await self._wait(row, caller, RunRow.closed)
        head = GetHistoryResponse(run_id=row.run_id)
        if not row.closed():
            if request.wait_new_event:
                head.next_page_token = history_page_token(row.run_id, next_event_id=row.last_event_id + 1)
            return head.SerializeToString()
        blobs = await self._blobs(row.run_id, row.last_event_id, last_event_id=row.last_event_id, maximum_bytes=1)
        if not blobs:
            raise _gone(row)
        last = History.FromString(blobs[-1].data).events[-1]
        return with_history(head.SerializeToString(), field_number=_HISTORY_FIELD, history=encode_event(last))

    async def _wait(self, row: RunRow, caller: Caller, enough: Callable[[RunRow], bool]) -> RunRow:
        """The run's row as soon as it is far enough, or when the wait is over."""
        if enough(row):
            return row
        with (
            Alarm(self._clock, waiting_time_ms(self._long_poll_timeout_ms, caller)) as alarm,
            self._watchers.watch(row.run_id, enough) as committed,
        ):
            row = await self._row(row)  # a commit between the first look and the watch is seen here
            if enough(row):
                return row
            further: RunRow | None = await alarm.first(committed)
        return further if further is not None else await self._stored(row)

    async def _row(self, row: RunRow) -> RunRow:
        live = self._engine.runs.peek(row.run_id)
        return live.row if live is not None and live.row is not None else await self._stored(row)

    async def _stored(self, row: RunRow) -> RunRow:
        stored = await self._store.find_run(row.namespace, row.workflow_id, row.run_id)
        if stored is None:
            raise _gone(row)
        return stored

    async def _read(
        self, run_id: str, first_event_id: int, *, last_event_id: int, maximum_bytes: int, at_least_one: bool
    ) -> Page:
        blobs = await self._blobs(run_id, first_event_id, last_event_id=last_event_id, maximum_bytes=maximum_bytes)
        return cut_page(
            blobs, first_event_id, last_event_id=last_event_id, maximum_bytes=maximum_bytes, at_least_one=at_least_one
        )

    async def _blobs(self, run_id: str, first_event_id: int, *, last_event_id: int, maximum_bytes: int) -> list[Blob]:
        live = self._engine.runs.peek(run_id)
        if live is not None and live.blobs and live.blobs[-1].last_event_id >= last_event_id:
            return live.blobs  # else another server may have taken the run further
        page = await self._store.read_history(run_id, first_event_id, maximum_bytes)
        return split_blobs([History.FromString(blob) for blob in page.blobs], page.blobs)


def _gone(row: RunRow) -> Refused:
    return not_found(f"run {row.run_id} of workflow {row.workflow_id!r} is no longer stored: its retention is over")
