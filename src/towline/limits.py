"""Every limit and default of Towline, each with its unit in its name and its reason (DESIGN section 11)."""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# A message larger than this is refused by gRPC on both sides; it bounds what one call can cost.
MESSAGE_SIZE_BYTES: Final = 4 * MIB
# Calls and replies that travel together on an Attach stream; a single one that is larger travels alone.
ATTACH_FRAME_SIZE_BYTES: Final = 3 * MIB
# Calls that the server runs for one Attach stream, or has not sent the replies of; more wait, and clients open another
# stream. Each costs the server some kilobytes.
ATTACH_CALLS: Final = 10_000
# What those calls may hold in the server: their requests, and the replies that are not sent because the client reads
# slowly. Enough for several of the largest messages at once, and for 10,000 calls of 3 KiB.
ATTACH_HELD_SIZE_BYTES: Final = 32 * MIB
# Calls that wait for room. Frames are read until then, as there may be cancellations among them, which make room.
ATTACH_WAITING_SIZE_BYTES: Final = 8 * MIB
# Calls that gRPC has read and the server has not begun: a burst of so many is served, gRPC refuses a part of what is
# beyond, and everything beyond the second number.
PENDING_CALLS: Final = 20_000
PENDING_CALLS_HARD_LIMIT: Final = 50_000
# What an Attach frame adds to the one message in it, and room to refuse a message a little too large in our own words.
MESSAGE_ENVELOPE_SIZE_BYTES: Final = 256 * KIB
# Half a message, so that a payload always fits one together with what surrounds it. Exactly this much is accepted.
PAYLOAD_SIZE_BYTES: Final = 2 * MIB
# What a message with full payloads may carry besides them; larger parts of it have limits of their own.
MESSAGE_HEADROOM_BYTES: Final = 512 * KIB
# Every answer that carries history must be able to carry any one event, and say which run it is of.
EVENT_SIZE_BYTES: Final = MESSAGE_SIZE_BYTES - MESSAGE_HEADROOM_BYTES
# protobuf reads messages that nest 100 deep; an answer that holds a failure nests deeper than the report that brought
# it, and whoever hands a failure on puts one around it. Nobody reads a chain of causes as long as this.
FAILURE_DEPTH: Final = 32
# A list of type names; a worker that knows this many knows better than to list them.
RETRY_POLICY_SIZE_BYTES: Final = 64 * KIB
# Names of encodings and keys, not data; and no list of a million empty values.
PAYLOAD_METADATA_SIZE_BYTES: Final = 256 * KIB
# W3C's traceparent, tracestate and baggage are 8 KiB each at most.
TRACE_CONTEXT_SIZE_BYTES: Final = 64 * KIB
# A sentence for people.
REASON_SIZE_BYTES: Final = 64 * KIB
# Ids are keys of indexes in every store.
ID_SIZE_BYTES: Final = 1_000
# The first page of history rides on a poll's answer, which other things must fit too.
FIRST_PAGE_SIZE_BYTES: Final = 1 * MIB
# A page that a client asks for itself.
MAXIMUM_PAGE_SIZE_BYTES: Final = 3 * MIB

# Longer than most pauses in traffic, shorter than the idle time-outs of load balancers.
LONG_POLL_TIMEOUT_MS: Final = 30_000
# A hundred years: as good as no limit, and sums of times stay far from the end of an int64.
DURATION_LIMIT_MS: Final = 100 * 365 * 24 * 3_600_000
# A decision takes milliseconds; this is how long a dead worker's one waits for another worker.
WORKFLOW_TASK_TIMEOUT_MS: Final = 10_000
MAXIMUM_WORKFLOW_TASK_TIMEOUT_MS: Final = 120_000
# A workflow task that keeps failing waits for a deploy; it must not burn a worker meanwhile.
WORKFLOW_TASK_RETRY_INITIAL_MS: Final = 1_000
WORKFLOW_TASK_RETRY_MAXIMUM_MS: Final = 60_000

ACTIVITY_RETRY_INITIAL_INTERVAL_MS: Final = 1_000
ACTIVITY_RETRY_BACKOFF_COEFFICIENT: Final = 2.0
# The cap on the delay is this many initial intervals, unless the policy names one.
ACTIVITY_RETRY_MAXIMUM_INTERVAL_FACTOR: Final = 100

# Replaying more than this costs a worker noticeable time: the workflow is told to continue as new.
SUGGEST_CONTINUE_AS_NEW_EVENTS: Final = 10_000
SUGGEST_CONTINUE_AS_NEW_BYTES: Final = 32 * MIB
# A run that goes on regardless is terminated before it becomes a danger to the server.
HISTORY_LIMIT_EVENTS: Final = 50_000
HISTORY_LIMIT_BYTES: Final = 50 * MIB

# They are held in memory for as long as the run is cached, and in every replay.
PENDING_ACTIVITIES: Final = 2_000
SIGNALS: Final = 10_000

# Closed runs stay readable this long.
RETENTION_MS: Final = 7 * 24 * 3_600_000

# Worker.
POLLERS: Final = 2
CONCURRENT_TASKS: Final = 1_000
RECONNECT_INITIAL_MS: Final = 100
RECONNECT_MAXIMUM_MS: Final = 5_000
# Heartbeats are sent at this share of their time-out at the latest.
HEARTBEAT_SEND_SHARE: Final = 0.8
# Kubernetes gives a pod 30 s between SIGTERM and SIGKILL; leave some of it for the reports.
DRAIN_TIMEOUT_MS: Final = 25_000

# Client.
# Long enough for a server that is started together with its clients.
CONNECT_TIMEOUT_MS: Final = 10_000
# A call that is not a long poll is answered in milliseconds; this long means that the answer is lost.
RPC_TIMEOUT_MS: Final = 10_000
# A call that may be repeated is repeated for this long while the server is away: longer than a restart takes.
RPC_RETRY_TIMEOUT_MS: Final = 30_000
