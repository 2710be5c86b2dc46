"""Who is killed when: decided before anything runs, by a seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Final

SERVER: Final = 0  # as a victim's number; the workers are 1, 2, …
_LONGEST_DELAY_S: Final = 0.3


@dataclass(frozen=True, slots=True)
class Strike:
    """Kills that belong together: of every victim at the same instant, and perhaps of the first one once more."""

    after: int  # strike when so many workflows have closed …
    delay_s: float  # … and so much time has passed
    victims: tuple[int, ...]
    again_at: float | None = None  # kill the first victim again at this share of its start-up, 0 to 1

    @property
    def kills(self) -> int:
        """How many kills it is."""
        return len(self.victims) + (self.again_at is not None)


def make_plan(kills: int, *, workflows: int, at_once: int, workers: int, randomness: random.Random) -> list[Strike]:
    """Exactly `kills` kills, evenly over the work, the last one while workflows are still to be started.

    At least a third of them hit the server. A quarter of the strikes, or as many as there can be, are double: two
    processes at once, or one process twice, the second time during its start-up.
    """
    doubles = max(kills // 4, min(2, kills // 2))
    shapes = [*_doubles(doubles, workers, randomness), *_singles(kills - 2 * doubles, workers, randomness)]
    randomness.shuffle(shapes)
    span = max(1, workflows - at_once)
    plan: list[Strike] = []
    done = 0
    for victims, again_at in shapes:
        after = min(span - 1, int((done + randomness.random()) * span / kills))
        strike = Strike(after, randomness.random() * _LONGEST_DELAY_S, victims, again_at)
        plan.append(strike)
        done += strike.kills
    return plan


def _singles(count: int, workers: int, randomness: random.Random) -> Iterator[tuple[tuple[int, ...], None]]:
    """The server and a worker in turn."""
    for _, is_server in zip(range(count), cycle((True, False)), strict=False):
        yield (SERVER if is_server else randomness.randint(1, workers),), None


def _doubles(count: int, workers: int, randomness: random.Random) -> Iterator[tuple[tuple[int, ...], float | None]]:
    """In turn: server and worker at once, the server again, two workers at once if there are two, a worker again."""
    for _, turn in zip(range(count), cycle(range(4)), strict=False):
        first, *others = randomness.sample(range(1, workers + 1), workers)
        if turn == 0:
            yield (SERVER, first), None
        elif turn == 1:
            yield (SERVER,), randomness.random()
        elif turn == 2:
            yield (first, others[0] if others else SERVER), None
        else:
            yield (first,), randomness.random()
