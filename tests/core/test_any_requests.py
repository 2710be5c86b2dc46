"""Whatever is asked of a run, in whatever order, with whatever clock: what must always hold, holds."""

from random import Random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.core.walk import Walk


# A seed finds no smaller example when it fails, but unlike drawn steps it leads deep into the life of a run.
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(min_value=0, max_value=2**32 - 1), steps=st.integers(min_value=1, max_value=100))
def test_the_rules_hold_on_every_walk(seed: int, steps: int) -> None:
    walk = Walk(Random(seed))
    for _ in range(steps):
        note(walk.step())


def test_the_walks_lead_everywhere() -> None:
    """The walks would prove nothing if they did not reach each kind of event, many times attempts and closed runs."""
    walks = [Walk(Random(seed)) for seed in range(40)]
    for walk in walks:
        for _ in range(100):
            walk.step()
    reached = {name for walk in walks for name in walk.box.names()}
    assert reached == {
        "workflow_execution_started",
        "workflow_execution_completed",
        "workflow_execution_failed",
        "workflow_execution_signaled",
        "workflow_execution_terminated",
        "workflow_task_scheduled",
        "workflow_task_started",
        "workflow_task_completed",
        "workflow_task_failed",
        "activity_task_scheduled",
        "activity_task_started",
        "activity_task_completed",
        "activity_task_failed",
        "activity_task_timed_out",
    }
