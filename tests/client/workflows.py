"""Workflows that the client's tests start; nobody runs them."""

from dataclasses import dataclass

from towline import workflow


@dataclass
class Receipt:
    order: str
    pieces: int


@workflow.defn
async def echo(text: str) -> str:
    return text


@workflow.defn(name="Buy")
async def buy(order: str, pieces: int = 1) -> Receipt:
    return Receipt(order, pieces)


@workflow.defn
class Order:
    @workflow.run
    async def run(self, order: str) -> Receipt:
        return Receipt(order, 1)

    @workflow.signal(name="cancel-order")
    async def cancel(self, reason: str) -> None:
        pass

    @workflow.signal
    def ship(self) -> None:
        pass


@workflow.defn
class Labels:
    @workflow.run
    async def run(self, order: str, lines: int = 100) -> Receipt:
        return Receipt(order, lines)


@workflow.defn
class Sweep:
    @workflow.run
    async def run(self, days: int = 7) -> int:
        return days
