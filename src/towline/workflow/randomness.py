"""Randomness in a workflow: different from run to run, the same in every replay of one."""

import random as random_module
import uuid

from towline.workflow.context import context


def random() -> random_module.Random:
    """The run's own source of randomness. Raises NotInWorkflow."""
    return context("random").random


def uuid4() -> uuid.UUID:
    """A random UUID from the run's own source. Raises NotInWorkflow."""
    return uuid.UUID(int=context("uuid4").random.getrandbits(128), version=4)
