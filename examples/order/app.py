"""An order: a workflow that has a state, waits for a signal, and says for each step how long and how often.

towline dev examples/order/app.py
towline start Order --task-queue order --id order-1 --input '{"item": "chair", "quantity": 3, "card": "4111"}'
towline signal order-1 approve --input '"ann"'
towline result order-1
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from towline import ApplicationError, RetryPolicy, WorkerConfig, activity, workflow
from towline.exceptions import ActivityError


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """Arguments and results travel as JSON: dataclasses are a good way to name what is in them."""

    item: str
    quantity: int
    card: str


class CardDeclined(Exception):
    """The bank said no. The name of this class is the failure's type in history."""


@activity.defn
async def charge(request: OrderRequest) -> str:
    """Take the money. Any exception fails the attempt; the retry policy says whether there is another one."""
    if request.card.startswith("0"):
        raise CardDeclined(f"card {request.card} is declined")
    # The same in every attempt: a bank that is told it takes the money once.
    return f"receipt of {activity.info().idempotency_key}"


@activity.defn
def pack(request: OrderRequest) -> int:
    """Fill the boxes. Not async, so it runs in a thread and may block; its heartbeats tell how far it is."""
    last = activity.info().heartbeat_details
    packed = int(last[0]) if last else 0  # what an earlier attempt had done when it died
    while packed < request.quantity:
        packed += 1
        activity.heartbeat(packed)
    return packed


@workflow.defn
class Order:
    """Each run has an object of its own; what it remembers comes back with the replay."""

    def __init__(self) -> None:
        self._approved = asyncio.Event()
        self._approver = ""

    @workflow.signal
    def approve(self, by: str) -> None:
        """`towline signal ID approve --input '"ann"'`."""
        self._approver = by
        self._approved.set()

    @workflow.run
    async def run(self, request: OrderRequest) -> str:
        """What became of the order, in words."""
        await self._approved.wait()  # for days, if need be: nothing runs meanwhile
        try:
            receipt = await workflow.execute_activity(
                charge,
                request,
                start_to_close_timeout=timedelta(seconds=10),  # of each attempt
                retry_policy=RetryPolicy(
                    initial_interval=timedelta(seconds=1),
                    maximum_attempts=5,
                    non_retryable_error_types=["CardDeclined"],
                ),
            )
        except ActivityError as error:
            if isinstance(error.cause, ApplicationError) and error.cause.type == "CardDeclined":
                return f"not sold: {error.cause.message}"
            raise  # fails the run
        packed = await workflow.execute_activity(
            pack,
            request,
            start_to_close_timeout=timedelta(hours=1),
            heartbeat_timeout=timedelta(seconds=10),  # without a heartbeat for so long, it is tried again
        )
        return f"{packed} x {request.item} for {self._approver}, {receipt}"


worker = WorkerConfig(task_queue="order", workflows=[Order], activities=[charge, pack])
