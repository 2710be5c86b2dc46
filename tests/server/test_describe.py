"""What DescribeWorkflow says."""

from tests.server.protocol import Protocol, failure, payloads, schedule
from towline import limits


async def test_pending_activities(protocol: Protocol) -> None:
    activity = await protocol.scheduled_activity()
    await protocol.heartbeat(activity, payloads(b"7"))
    [pending] = (await protocol.describe()).pending_activities
    assert (pending.activity_id, pending.started, pending.attempt) == ("1", True, 1)
    assert pending.heartbeat_details == payloads(b"7")
    await protocol.fail_activity(activity, failure("boom"))
    [pending] = (await protocol.describe()).pending_activities
    assert (pending.started, pending.attempt, pending.last_failure.message) == (False, 2, "boom")
    assert pending.next_attempt_time_ms == protocol.clock.now_ms() + 1_000


async def test_answer_fits_a_message_however_much_is_pending(protocol: Protocol) -> None:
    await protocol.start()
    count = 5
    await protocol.complete_workflow(await protocol.poll_workflow(), *(schedule(str(n)) for n in range(count)))
    for _ in range(count):
        large = "x" * (limits.PAYLOAD_SIZE_BYTES - limits.KIB)
        await protocol.fail_activity(await protocol.poll_activity(), failure(large))
    response = await protocol.describe()
    assert len(response.pending_activities) == count
    assert all(pending.last_failure.message.startswith("xxx") for pending in response.pending_activities)
    assert response.ByteSize() <= limits.MESSAGE_SIZE_BYTES
