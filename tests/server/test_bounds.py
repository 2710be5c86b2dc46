"""What a client sends cannot make a run that nobody can read, nor one that its own deliveries bring to its end."""

import pytest

from tests.server.protocol import NAMESPACE, Protocol, complete, names, once, payloads, refused, schedule
from towline.api.common_pb2 import Payload, Payloads, RetryPolicy, WorkflowExecution
from towline.api.failure_pb2 import Failure
from towline.api.workflow_service_pb2 import SignalWorkflowRequest
from towline.limits import FAILURE_DEPTH, MIB, PAYLOAD_SIZE_BYTES
from towline.status import Status

# Groups within groups in field 31, which is unknown to the contract; protobuf counts them as nesting.
DEEP_UNKNOWN = b"\xfb\x01" * 95 + b"\xfc\x01" * 95


def chain(depth: int) -> Failure:
    outermost = failure = Failure(message="0")
    for number in range(1, depth):
        failure.cause.message = str(number)
        failure = failure.cause
    return outermost


@pytest.mark.parametrize("depth", [FAILURE_DEPTH + 1, 90, 97])
async def test_failure_that_nests_too_deep(protocol: Protocol, depth: int) -> None:
    task = await protocol.scheduled_activity(retry_policy=once())
    before = await protocol.history()
    message = await refused(protocol.fail_activity(task, chain(depth)), Status.INVALID_ARGUMENT)
    assert f"activity failure of demo-1/1 nests {depth} deep, the limit is 32" in message
    assert await protocol.history() == before
    await protocol.complete_activity(task)


async def test_failure_of_exactly_the_limit_can_be_read_everywhere(protocol: Protocol) -> None:
    task = await protocol.scheduled_activity(retry_policy=RetryPolicy(maximum_attempts=1))
    await protocol.fail_activity(task, chain(FAILURE_DEPTH))
    polled = await protocol.poll_workflow()
    history = await protocol.history()
    assert list(polled.history.events) == history
    assert history[-3].activity_task_failed.failure == chain(FAILURE_DEPTH)
    await protocol.complete_workflow(polled, complete())


async def test_unknown_fields_that_nest_too_deep_are_left_out(protocol: Protocol) -> None:
    await protocol.start()
    request = SignalWorkflowRequest(
        namespace=NAMESPACE,
        execution=WorkflowExecution(workflow_id="demo-1"),
        signal_name="news",
        input=Payloads(payloads=[Payload.FromString(DEEP_UNKNOWN)]),
    )
    await protocol.call("SignalWorkflow", request)
    assert names(await protocol.history())[-1] == "workflow_execution_signaled"
    assert names((await protocol.poll_workflow()).history.events)[-1] == "workflow_task_started"


async def test_retry_policy_that_is_too_large(protocol: Protocol) -> None:
    await protocol.start()
    task = await protocol.poll_workflow()
    policy = RetryPolicy(non_retryable_error_types=["e" * MIB])
    command = schedule("1", input=payloads(b"x" * PAYLOAD_SIZE_BYTES), retry_policy=policy)
    message = await refused(protocol.complete_workflow(task, command), Status.INVALID_ARGUMENT)
    assert "retry policy of demo-1/1 is 1 MiB, the limit is 64 KiB" in message
    await protocol.complete_workflow(task, complete())


async def test_deliveries_that_are_given_back_do_not_make_the_history_longer(protocol: Protocol) -> None:
    await protocol.start()
    for _ in range(50):
        await protocol.release(await protocol.poll_workflow())
    assert names(await protocol.history())[2:] == ["workflow_task_started"]
    task = await protocol.poll_workflow()
    assert (task.attempt, task.started_event_id) == (1, 4)
    assert names(task.history.events)[2:] == ["workflow_task_started", "workflow_task_started"]
    await protocol.complete_workflow(task, complete())
    history = await protocol.history()
    assert history[:4] == list(task.history.events)
    assert history[4].workflow_task_completed.started_event_id == 4
