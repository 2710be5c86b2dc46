"""All faults: those that the design numbers in its table of pitfalls (it has no s08 and no s11), and further ones."""

from typing import Final

from mutants.further_faults import FURTHER_FAULTS
from mutants.server_faults import SERVER_FAULTS
from mutants.worker_faults import WORKER_FAULTS

NUMBERED_FAULTS: Final = (*SERVER_FAULTS, *WORKER_FAULTS)
ALL_FAULTS: Final = (*NUMBERED_FAULTS, *FURTHER_FAULTS)
