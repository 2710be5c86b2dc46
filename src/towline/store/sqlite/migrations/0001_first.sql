-- Runs in the order in which they were started: the newest run of a workflow id is the one with the largest seq.
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  workflow_type TEXT NOT NULL,
  task_queue TEXT NOT NULL,
  status INTEGER NOT NULL,
  start_request_id TEXT NOT NULL,
  start_time_ms INTEGER NOT NULL,
  close_time_ms INTEGER NOT NULL,
  last_event_id INTEGER NOT NULL,
  history_size_bytes INTEGER NOT NULL,
  revision INTEGER NOT NULL
);

-- Which run of a workflow id is the newest (an index ends with the rowid, here seq).
CREATE INDEX runs_by_workflow ON runs (namespace, workflow_id);

-- Listings, the newest first. Type and status are in it so that a filter reads no rows, and a count none at all.
CREATE INDEX runs_by_start ON runs (namespace, start_time_ms, workflow_type, status);

-- What retention deletes, the oldest first.
CREATE INDEX runs_by_close ON runs (close_time_ms) WHERE status <> 1;

-- One row per batch with events. The id is (seq << 24) + first event id: a run's blobs lie next to each other, in
-- order, and it takes no second index.
CREATE TABLE history (
  id INTEGER PRIMARY KEY,
  last_event_id INTEGER NOT NULL,
  events BLOB NOT NULL
);

CREATE TABLE tasks (
  run_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  queue TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  scheduled_event_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  visible_at_ms INTEGER NOT NULL,
  lease_token INTEGER NOT NULL,
  lease_expires_at_ms INTEGER NOT NULL,
  started_event_id INTEGER NOT NULL,
  started_at_ms INTEGER NOT NULL,
  attempt_expires_at_ms INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  details BLOB NOT NULL,
  PRIMARY KEY (run_id, task_id)
) WITHOUT ROWID;

-- What a queue has to deliver.
CREATE INDEX tasks_ready ON tasks (namespace, queue, priority, visible_at_ms, task_id) WHERE lease_expires_at_ms = 0;

-- What becomes ready when.
CREATE INDEX tasks_delayed ON tasks (visible_at_ms, task_id) WHERE lease_expires_at_ms = 0;

-- Which lease ends when.
CREATE INDEX tasks_leased ON tasks (lease_expires_at_ms, task_id) WHERE lease_expires_at_ms > 0;

CREATE TABLE timers (
  run_id TEXT NOT NULL,
  timer_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  fire_at_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, timer_id)
) WITHOUT ROWID;

-- Which timer is due when.
CREATE INDEX timers_due ON timers (fire_at_ms, run_id, timer_id);

CREATE TABLE lease_tokens (next INTEGER NOT NULL);

INSERT INTO lease_tokens (next) VALUES (1);
