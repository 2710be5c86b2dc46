"""Plans of kills: as many as asked for, spread over the work, the server often enough."""

import random
from itertools import pairwise

import pytest

from crash.plan import SERVER, Strike, make_plan


def plan_of(kills: int, *, seed: int = 1, workflows: int = 300, workers: int = 3) -> list[Strike]:
    return make_plan(kills, workflows=workflows, at_once=40, workers=workers, randomness=random.Random(seed))


def victims(plan: list[Strike]) -> list[int]:
    """The victim of each kill."""
    again = [strike.victims[0] for strike in plan if strike.again_at is not None]
    return [victim for strike in plan for victim in strike.victims] + again


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("kills", [0, 1, 2, 3, 4, 5, 7, 20, 60, 61])
def test_as_many_kills_as_asked_for_a_third_of_them_of_the_server(kills: int, workers: int) -> None:
    for seed in range(20):
        plan = plan_of(kills, seed=seed, workers=workers)
        killed = victims(plan)
        assert len(killed) == sum(strike.kills for strike in plan) == kills
        assert killed.count(SERVER) * 3 >= kills
        assert set(killed) <= set(range(workers + 1))
        assert all(len(set(strike.victims)) == len(strike.victims) for strike in plan)


@pytest.mark.parametrize("kills", [4, 60])
def test_some_hit_two_processes_and_some_hit_a_start_up(kills: int) -> None:
    plan = plan_of(kills)
    assert any(len(strike.victims) == 2 for strike in plan)
    assert any(strike.again_at is not None and strike.victims[0] == SERVER for strike in plan)


def test_kills_go_with_the_work_and_end_before_it_does() -> None:
    plan = plan_of(60)
    moments = [strike.after for strike in plan]
    assert moments == sorted(moments)
    assert moments[-1] < 300 - 40, "workflows are left to be started"
    assert max(late - early for early, late in pairwise(moments)) < 300 / 60 * 4


def test_fewer_workflows_than_run_at_once() -> None:
    assert {strike.after for strike in plan_of(4, workflows=3)} == {0}


def test_the_seed_decides() -> None:
    assert plan_of(60, seed=7) == plan_of(60, seed=7) != plan_of(60, seed=8)
