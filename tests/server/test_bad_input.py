"""Bad input gets a clear error with the right status, and changes nothing."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.server.protocol import NAMESPACE, QUEUE, Protocol, complete, fail, payloads, refused, schedule
from towline import limits
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WorkflowExecution
from towline.api.task_service_pb2 import (
    CompleteActivityTaskRequest,
    CompleteWorkflowTaskRequest,
    FailWorkflowTaskRequest,
    PollRequest,
    RecordHeartbeatRequest,
    ReleaseTaskRequest,
)
from towline.api.workflow_service_pb2 import GetHistoryRequest, ListWorkflowsRequest, StartWorkflowRequest
from towline.core.task import TaskRow
from towline.rpc import METHODS
from towline.server.tokens import task_token
from towline.status import Status

Call = Callable[[Protocol], Awaitable[Any]]

LONG = "x" * (limits.ID_SIZE_BYTES + 1)
EXACT = "é" * (limits.ID_SIZE_BYTES // 2)


def start(**fields: Any) -> Call:
    fields = {
        "namespace": NAMESPACE,
        "workflow_id": "w",
        "workflow_type": "Echo",
        "task_queue": QUEUE,
        "input": payloads(),
        **fields,
    }
    return lambda protocol: protocol.call("StartWorkflow", StartWorkflowRequest(**fields))


def poll(method: str, **fields: Any) -> Call:
    fields = {"namespace": NAMESPACE, "task_queue": QUEUE, **fields}
    return lambda protocol: protocol.call(method, PollRequest(**fields))


def call(method: str, request: Any) -> Call:
    return lambda protocol: protocol.call(method, request)


WRONG_REQUESTS = [
    (start(namespace="nowhere"), Status.NOT_FOUND, ["namespace 'nowhere'", "default"]),
    (start(namespace=""), Status.INVALID_ARGUMENT, ["namespace is empty"]),
    (start(workflow_id=""), Status.INVALID_ARGUMENT, ["workflow_id is empty"]),
    (start(workflow_id=LONG), Status.INVALID_ARGUMENT, ["workflow_id", "1,001 bytes", "1,000"]),
    (start(workflow_id=EXACT + "é"), Status.INVALID_ARGUMENT, ["workflow_id", "1,002 bytes", "1,000"]),
    (start(workflow_type=""), Status.INVALID_ARGUMENT, ["workflow_type is empty"]),
    (start(workflow_type=LONG), Status.INVALID_ARGUMENT, ["workflow_type", "1,001 bytes"]),
    (start(task_queue=""), Status.INVALID_ARGUMENT, ["task_queue is empty"]),
    (start(task_queue=LONG), Status.INVALID_ARGUMENT, ["task_queue", "1,001 bytes"]),
    (start(request_id=LONG), Status.INVALID_ARGUMENT, ["request_id", "1,001 bytes"]),
    (start(workflow_task_timeout_ms=-1), Status.INVALID_ARGUMENT, ["workflow_task_timeout_ms", "-1"]),
    (
        start(workflow_task_timeout_ms=120_001),
        Status.INVALID_ARGUMENT,
        ["workflow_task_timeout_ms", "120,001", "120,000"],
    ),
    (
        start(input=payloads(b"x" * (limits.PAYLOAD_SIZE_BYTES + 1))),
        Status.INVALID_ARGUMENT,
        ["input", "2,097,153 bytes", "2 MiB"],
    ),
    (start(identity=LONG), Status.INVALID_ARGUMENT, ["identity", "1,001 bytes"]),
    (poll("PollActivityTask", identity=LONG), Status.INVALID_ARGUMENT, ["identity", "1,001 bytes"]),
    (poll("PollWorkflowTask", worker_instance_key=LONG), Status.INVALID_ARGUMENT, ["worker_instance_key"]),
    (poll("PollWorkflowTask", task_queue=""), Status.INVALID_ARGUMENT, ["task_queue is empty"]),
    (poll("PollActivityTask", namespace="nowhere"), Status.NOT_FOUND, ["namespace 'nowhere'"]),
    (poll("PollActivityTask", task_queue=LONG), Status.INVALID_ARGUMENT, ["task_queue", "1,001 bytes"]),
    (
        call("CompleteWorkflowTask", CompleteWorkflowTaskRequest(task_token=b"junk")),
        Status.INVALID_ARGUMENT,
        ["task token", "4 bytes"],
    ),
    (call("CompleteWorkflowTask", CompleteWorkflowTaskRequest()), Status.INVALID_ARGUMENT, ["task token", "0 bytes"]),
    (
        call("FailWorkflowTask", FailWorkflowTaskRequest(task_token=b"\x00" * 40)),
        Status.INVALID_ARGUMENT,
        ["task token"],
    ),
    (
        call("CompleteActivityTask", CompleteActivityTaskRequest(task_token=b"junk", lease_token=1)),
        Status.INVALID_ARGUMENT,
        ["task token"],
    ),
    (
        call("RecordHeartbeat", RecordHeartbeatRequest(task_token=b"junk", lease_token=1)),
        Status.INVALID_ARGUMENT,
        ["task token"],
    ),
    (call("ReleaseTask", ReleaseTaskRequest(task_token=b"junk")), Status.INVALID_ARGUMENT, ["task token"]),
    (
        call("GetHistory", GetHistoryRequest(namespace=NAMESPACE, execution=WorkflowExecution(workflow_id="nobody"))),
        Status.NOT_FOUND,
        ["'nobody'"],
    ),
    (
        call("GetHistory", GetHistoryRequest(namespace=NAMESPACE, execution=WorkflowExecution())),
        Status.INVALID_ARGUMENT,
        ["workflow_id is empty"],
    ),
    (
        call("ListWorkflows", ListWorkflowsRequest(namespace=NAMESPACE, page_size=1_001)),
        Status.INVALID_ARGUMENT,
        ["page_size", "1001"],
    ),
    (
        call("ListWorkflows", ListWorkflowsRequest(namespace=NAMESPACE, next_page_token=b"junk")),
        Status.INVALID_ARGUMENT,
        ["list page token"],
    ),
]


@pytest.mark.parametrize(("wrong", "status", "parts"), WRONG_REQUESTS)
async def test_wrong_request(protocol: Protocol, wrong: Call, status: Status, parts: list[str]) -> None:
    message = await refused(wrong(protocol), status)
    for part in parts:
        assert part in message
    assert (await protocol.call("ListWorkflows", ListWorkflowsRequest(namespace=NAMESPACE))).executions == []


async def test_ids_of_exactly_the_limit_are_accepted(protocol: Protocol) -> None:
    await start(workflow_id=EXACT)(protocol)
    assert (await protocol.describe(EXACT)).info.execution.workflow_id == EXACT


@pytest.mark.parametrize("field", [b"\x12\x02\xff\xfe", b"\x1a\x02\xff\xfe", b"\x22\x02\xff\xfe"])
async def test_ids_that_are_not_utf8(protocol: Protocol, field: bytes) -> None:
    """Fields 2 to 4 of StartWorkflowRequest hold bytes that no UTF-8 text has."""
    data = StartWorkflowRequest(namespace=NAMESPACE).SerializeToString() + field
    message = await refused(
        protocol.transport.send(METHODS["StartWorkflow"], data, timeout_ms=None), Status.INVALID_ARGUMENT
    )
    assert "StartWorkflow" in message


async def test_message_over_four_mib(protocol: Protocol) -> None:
    data = b"x" * (5 * limits.MIB)
    message = await refused(
        protocol.transport.send(METHODS["StartWorkflow"], data, timeout_ms=None), Status.RESOURCE_EXHAUSTED
    )
    assert "4" in message
    await protocol.start("still-works")


WRONG_COMMANDS = [
    (lambda: [Command()], Status.UNIMPLEMENTED, ["command 1"]),
    (lambda: [schedule("1"), Command()], Status.UNIMPLEMENTED, ["command 2"]),
    (lambda: [complete(), schedule("1")], Status.INVALID_ARGUMENT, ["schedule_activity", "complete_workflow"]),
    (lambda: [fail("no"), complete()], Status.INVALID_ARGUMENT, ["complete_workflow", "fail_workflow"]),
    (lambda: [schedule("")], Status.INVALID_ARGUMENT, ["activity_id is empty"]),
    (lambda: [schedule(LONG)], Status.INVALID_ARGUMENT, ["activity_id", "1,001 bytes"]),
    (lambda: [schedule("1", "")], Status.INVALID_ARGUMENT, ["activity_type"]),
    (lambda: [schedule("1", task_queue=LONG)], Status.INVALID_ARGUMENT, ["task_queue", "1,001 bytes"]),
    (lambda: [schedule("1", start_to_close_timeout_ms=0)], Status.INVALID_ARGUMENT, ["timeout"]),
    (lambda: [schedule("1", heartbeat_timeout_ms=-5)], Status.INVALID_ARGUMENT, ["heartbeat", "-5"]),
    (lambda: [schedule("1"), schedule("1")], Status.INVALID_ARGUMENT, ["demo-1/1", "scheduled before"]),
]


@pytest.mark.parametrize(("commands", "status", "parts"), WRONG_COMMANDS)
async def test_wrong_command(
    protocol: Protocol, commands: Callable[[], list[Command]], status: Status, parts: list[str]
) -> None:
    await protocol.start()
    task = await protocol.poll_workflow()
    before = await protocol.history()
    message = await refused(protocol.complete_workflow(task, *commands()), status)
    for part in parts:
        assert part in message
    assert await protocol.history() == before
    await protocol.complete_workflow(task, schedule("right"))


async def test_unknown_command_kind_of_a_newer_worker(protocol: Protocol) -> None:
    """A command of a kind that this contract does not know arrives as an unknown field."""
    await protocol.start()
    task = await protocol.poll_workflow()
    newer = Command.FromString(b"\xfa\x01\x00")  # field 31, an empty message
    message = await refused(protocol.complete_workflow(task, newer), Status.UNIMPLEMENTED)
    assert "command 1" in message


async def test_foreign_tokens(protocol: Protocol) -> None:
    activity = await protocol.scheduled_activity()
    await protocol.signal()
    workflow = await protocol.poll_workflow()
    before = await protocol.history()
    wrong_kind = CompleteWorkflowTaskRequest(task_token=activity.task_token)
    message = await refused(protocol.call("CompleteWorkflowTask", wrong_kind), Status.INVALID_ARGUMENT)
    assert "activity" in message
    other_kind = CompleteActivityTaskRequest(task_token=workflow.task_token, lease_token=workflow.lease_token)
    message = await refused(protocol.call("CompleteActivityTask", other_kind), Status.INVALID_ARGUMENT)
    assert "workflow task" in message
    wrong_lease = CompleteActivityTaskRequest(task_token=activity.task_token, lease_token=activity.lease_token + 7)
    await refused(protocol.call("CompleteActivityTask", wrong_lease), Status.FAILED_PRECONDITION)
    assert await protocol.history() == before


async def test_page_token_of_another_run(protocol: Protocol) -> None:
    await protocol.start("one")
    await protocol.start("two")
    token = (await protocol.history_page("one", maximum_page_size_bytes=1)).next_page_token
    message = await refused(protocol.history_page("two", next_page_token=token), Status.INVALID_ARGUMENT)
    assert "page token" in message
    message = await refused(protocol.history_page("one", next_page_token=token[:-1]), Status.INVALID_ARGUMENT)
    assert "page token" in message


async def test_token_of_a_run_that_is_not_stored_here(protocol: Protocol) -> None:
    row = TaskRow("default", "wf:default", "gone/wt/2", "gone", "w", 2, attempt=1, visible_at_ms=0, lease_token=1)
    request = CompleteWorkflowTaskRequest(task_token=task_token(row))
    message = await refused(protocol.call("CompleteWorkflowTask", request), Status.FAILED_PRECONDITION)
    assert "gone" in message


async def test_second_start_of_an_open_workflow(protocol: Protocol) -> None:
    run_id = await protocol.start(request_id="a")
    message = await refused(protocol.start(request_id="b"), Status.ALREADY_EXISTS)
    assert run_id in message
    assert await protocol.start(request_id="a") == run_id
    await protocol.terminate()
    assert await protocol.start(request_id="b") != run_id
