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
    # History kept in memory, all cached runs together, so that most polls read nothing from the store.
    cached_history_bytes: int = 64 * limits.MIB
    # A longer history than this is read from the store at each poll.
    cached_history_bytes_per_run: int = 1 * limits.MIB
    # Tasks of one queue known in memory; further ones stay in the store until these are taken.
    ready_tasks_per_queue: int = 1_000
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
