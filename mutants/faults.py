"""The faults that the design numbers in its table of pitfalls. The table has no s08 and no s11."""

from typing import Final

from mutants.server_faults import SERVER_FAULTS
from mutants.worker_faults import WORKER_FAULTS

FAULTS: Final = (*SERVER_FAULTS, *WORKER_FAULTS)
