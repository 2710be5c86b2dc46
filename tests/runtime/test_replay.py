"""Whatever a workflow does and in whatever order its results come: every prefix of its history replays to the same."""

import asyncio
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.histories import Run
from towline import workflow
from towline.api.command_pb2 import Command
from towline.convert import DataConverter
from towline.exceptions import ActivityError
from towline.runtime import WorkflowRegistry

# A plan is a node: ["act", fails to be caught], ["signal"], ["random"], or a kind of block with its nodes.
Plan = list[Any]
BLOCKS = ("seq", "gather", "group", "race", "turns")
LIMIT = timedelta(seconds=1)


@workflow.defn
class Follows:
    """Does what a plan says, and notes what it saw."""

    def __init__(self) -> None:
        self.signals: asyncio.Queue[int] = asyncio.Queue()
        self.seen: list[str] = []

    @workflow.signal
    async def poke(self, number: int) -> None:
        await self.signals.put(number)
        if number % 3 == 0:
            workflow.start_activity(f"poked-{number}", start_to_close_timeout=LIMIT)

    @workflow.run
    async def run(self, plan: Plan) -> list[str]:
        await self.follow(plan)
        return self.seen

    async def follow(self, plan: Plan) -> None:
        kind, rest = plan[0], plan[1]
        match kind:
            case "act":
                await self.act(caught=rest)
            case "signal":
                self.seen.append(f"signal {await self.signals.get()}")
            case "random":
                self.seen.append(f"{workflow.random().random()} {workflow.uuid4()} {workflow.now()}")
            case "seq":
                for node in rest:
                    await self.follow(node)
            case "gather":
                await asyncio.gather(*(self.follow(node) for node in rest))
            case "group":
                async with asyncio.TaskGroup() as group:
                    for node in rest:
                        group.create_task(self.follow(node))
            case "race":
                await self.race(rest)
            case "turns":
                await self.turns(rest)

    async def act(self, *, caught: bool) -> None:
        name = f"after-{len(self.seen)}"
        try:
            self.seen.append(await workflow.execute_activity(name, start_to_close_timeout=LIMIT))
        except ActivityError as error:
            self.seen.append(f"{error} {error.cause}")
            if not caught:
                raise

    async def race(self, nodes: list[Plan]) -> None:
        waiting = {asyncio.create_task(self.follow(node)) for node in nodes}
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            self.seen += [f"{task.get_name()} {task.exception()}" for task in done]

    async def turns(self, nodes: list[Plan]) -> None:
        lock = asyncio.Lock()

        async def turn(node: Plan) -> None:
            async with lock:
                await self.follow(node)

        await asyncio.gather(*map(turn, nodes), return_exceptions=True)


leaves = st.one_of(
    st.tuples(st.just("act"), st.booleans()).map(list),
    st.just(["signal", None]),
    st.just(["random", None]),
)
plans = st.recursive(
    leaves,
    lambda nodes: st.tuples(st.sampled_from(BLOCKS), st.lists(nodes, min_size=1, max_size=4)).map(list),
    max_leaves=10,
)


class Outside:
    """The world around the run: brings results and signals in any order, and loses attempts."""

    def __init__(self, run: Run, data: st.DataObject) -> None:
        self.run = run
        self.data = data
        self.signals = 0

    def signal(self) -> None:
        self.signals += 1
        self.run.history.signaled("poke", self.signals)

    def close_one(self) -> None:
        activity_id = self.data.draw(st.sampled_from(sorted(self.run.pending)))
        match self.data.draw(st.sampled_from(["completed", "completed", "failed", "timed out"])):
            case "completed":
                self.run.complete(activity_id, f"result {activity_id}")
            case "failed":
                self.run.fail(activity_id)
            case _:
                self.run.time_out(activity_id)

    def some_news(self, *, at_least: int) -> None:
        for _ in range(self.data.draw(st.integers(at_least, 3))):
            if len(self.run.pending) > 0 and self.data.draw(st.booleans()):
                self.close_one()
            elif self.signals < 20:
                self.signal()

    def lose_attempts(self) -> None:
        """Attempts of a workflow task that failed or were never heard of again, with news in between."""
        for _ in range(self.data.draw(st.integers(0, 2))):
            scheduled = self.run.history.task_scheduled()
            started = self.run.history.task_started(scheduled)
            self.some_news(at_least=0)
            failed: bool = self.data.draw(st.booleans())
            if failed:
                self.run.history.task_failed(scheduled, started)

    def live(self) -> None:
        """Until the run closes."""
        while self.run.closing is None:
            self.lose_attempts()
            self.run.step(while_running=self.meanwhile)
            if self.run.closing is None:
                self.some_news(at_least=1)
                while self.run.pending and self.signals >= 20:
                    self.close_one()

    def meanwhile(self, commands: list[Command]) -> None:
        if not any(command.HasField("complete_workflow") or command.HasField("fail_workflow") for command in commands):
            self.some_news(at_least=0)


@given(plan=plans, data=st.data())
@settings(max_examples=150, deadline=None)
def test_every_prefix_replays_to_the_same_commands(plan: Plan, data: st.DataObject) -> None:
    run = Run(Follows, plan)
    Outside(run, data).live()
    run.registry = WorkflowRegistry([Follows], DataConverter.default)
    for started, commands in run.decided.items():
        assert run.decide_at(started) == commands


def test_a_long_history_replays() -> None:
    run = Run(Follows, ["seq", [["act", True]] * 300])
    for number in range(300):
        run.step()
        run.complete(str(number + 1), "x")
    run.step()
    assert run.result() == ["x"] * 300
