"""What an operator can set on a server. Defaults and their reasons are in `towline.limits`."""

from pathlib import Path

import msgspec

from towline import limits


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of one server process."""

    # The SQLite file; None: a store in memory, gone with the process.
    db_path: Path | None = None
    # Where to listen; port 0 lets the system choose.
    address: str = "127.0.0.1:7470"
    namespaces: tuple[str, ...] = ("default",)
    long_poll_timeout_ms: int = limits.LONG_POLL_TIMEOUT_MS
    retention_ms: int = limits.RETENTION_MS
    # How often closed runs past their retention are looked for. Frequent enough that each look finds little.
    retention_interval_ms: int = 60_000
    # Runs kept in memory; a run that is not there is read from the store when something happens to it.
    cached_runs: int = 5_000
    # What they may take together, so that most polls read nothing from the store.
    cached_bytes: int = 128 * limits.MIB
    # Of a run that takes more than this, the history is read from the store at each poll.
    cached_bytes_per_run: int = 1 * limits.MIB
    # Tasks of one queue known in memory; further ones stay in the store until these are taken.
    ready_tasks_per_queue: int = 1_000
    # A queue that polls wait on looks into the store at least this often, for tasks that nobody offered to it: put by
    # another server, or by a commit of which it could not be told whether it was made.
    sweep_interval_ms: int = 5_000
    # Timers and leases due within this time are held in memory; later ones stay in the store.
    agenda_horizon_ms: int = 60_000
    agenda_entries: int = 20_000
    # Lease tokens set aside at once; a restart skips what is left of them.
    lease_token_block: int = 10_000
    # Enough events for one commit of one run; what waits beyond goes into the next, so that a page is easily cut.
    batch_size_bytes: int = 512 * limits.KIB
    # How often a decision is made again because another server changed the run, before the caller is told to retry.
    commit_attempts: int = 20
    # How long calls that run may take to end when the server stops.
    stop_grace_ms: int = 5_000

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value, least = getattr(self, name), _LEAST.get(name, 1)
            if isinstance(value, int) and value < least:
                raise ValueError(f"setting {name} is {value}: give {least} or more")
        if not self.namespaces:
            raise ValueError("setting namespaces is empty: name one at least")


# Where it is not 1.
_LEAST = {"cached_runs": 0, "cached_bytes": 0, "cached_bytes_per_run": 0, "agenda_entries": 4, "stop_grace_ms": 0}
