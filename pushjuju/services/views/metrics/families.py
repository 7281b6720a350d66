"""The table of all metrics: names, kinds, labels. Tests compare alert rules, dashboard and docs with it.

Values of labels are names of models, applications, hooks and statuses: bounded in number, and never an
address, a message or a secret. Only `unit_status`, for which a user must ask, names units.
"""

from __future__ import annotations

from typing import NamedTuple

PREFIX = "pushjuju_"


class Family(NamedTuple):
    """A metric; `labels` are the names of its labels, separated by blanks."""

    kind: str
    labels: str
    help: str


FAMILIES: dict[str, Family] = {
    "build_info": Family("gauge", "version juju_version python", "The versions; the value is always 1."),
    "metrics_generated_timestamp_seconds": Family("gauge", "", "When the metrics were read."),
    "applications": Family("gauge", "model status", "Applications with a status."),
    "units": Family(
        "gauge", "model application status", "Units with a workload status; `error` comes first."
    ),
    "unit_status": Family(
        "gauge", "model unit status", "The status of each unit; the value is always 1; only with --per-unit."
    ),
    "unit_status_since_timestamp_seconds": Family(
        "gauge", "model application status", "Since when the first of these units has its status."
    ),
    "hook_attempts": Family(
        "gauge", "model application", "The most failures in a row of a hook of one of the units."
    ),
    "machines": Family("gauge", "model status", "Machines with a status; `down`: not reached."),
    "machine_last_contact_timestamp_seconds": Family(
        "gauge", "model", "The time of the last contact, of the machine that was not contacted for longest."
    ),
    "hooks_total": Family(
        "counter", "model application hook result", "Hooks that ended; result: ok, missing, failed or killed."
    ),
    "hook_duration_seconds": Family("histogram", "model application hook", "How long hooks ran."),
    "tasks_total": Family("counter", "model application action status", "Tasks of actions that ended."),
    "contacts_total": Family(
        "counter", "model result", "Contacts with machines that ended; result: ok, failed or unreachable."
    ),
    "contact_duration_seconds": Family("histogram", "model result", "How long contacts with machines took."),
    "transfer_bytes_total": Family(
        "counter",
        "model direction",
        "Bytes sent to machines and received from machines, without what SSH adds.",
    ),
    "queue_items": Family(
        "gauge",
        "model kind state",
        "Keys of the work queue; kind: machine or loop; state: due, late (by 10 minutes), waiting or held.",
    ),
    "queue_oldest_due_seconds": Family(
        "gauge", "model pool", "For how long due work has waited; 0 without such work; pool: of the model."
    ),
    "secrets_expiring": Family("gauge", "model", "Revisions of secrets that expire within a week."),
    "driver_info": Family("gauge", "host pid version", "A process that does what becomes due; always 1."),
    "driver_heartbeat_timestamp_seconds": Family(
        "gauge", "host pid", "When such a process last used the store; with a store in a file: now."
    ),
    "certificate_expiry_timestamp_seconds": Family("gauge", "name", "When a certificate ends."),
    "http_requests_total": Family(
        "counter", "route code", "Requests that the process has answered; only from /metrics."
    ),
    "http_request_duration_seconds": Family(
        "histogram", "route", "How long answers took; only from /metrics."
    ),
    "http_streams": Family("gauge", "", "Connections of the process that stay open; only from /metrics."),
    "claims_total": Family(
        "counter", "kind", "Keys that the process took; kind: free or takeover; only with --metrics."
    ),
    "claim_latency_seconds": Family("histogram", "", "How long keys were due before; only with --metrics."),
    "claimed_keys": Family("gauge", "", "Keys that the process works on; only with --metrics."),
    "leases_lost_total": Family("counter", "", "Keys that another process took over; only with --metrics."),
    "takeovers_total": Family(
        "counter",
        "by",
        "Keys that the process took over; by: presence of a process that died, or the end of a lease; "
        "only with --metrics.",
    ),
    "overtaken_total": Family(
        "counter", "", "Contacts in which a machine knew a later lease than the process; only with --metrics."
    ),
    "hook_overhead_seconds": Family(
        "summary",
        "",
        "How long contacts took in which hooks or actions ran, without these runs, for each run; "
        "only with --metrics.",
    ),
    "clock_offset_seconds": Family(
        "gauge", "", "How far the host's clock is ahead of the store's; only with --metrics."
    ),
    "store_bytes": Family("gauge", "", "The size of the store: its file, or its tables in PostgreSQL."),
    "store_wal_bytes": Family("gauge", "", "The size of the store's write-ahead log."),
    "store_standby_synchronous": Family(
        "gauge", "", "1 when commits wait for a standby server of PostgreSQL; absent without standbys."
    ),
    "lock_wait_seconds": Family(
        "summary",
        "model",
        "How long transactions waited for the lock of their model, or of the whole store (no name), in "
        "PostgreSQL; only with --metrics.",
    ),
    "lock_held_seconds": Family(
        "summary", "model", "How long they held the lock, in PostgreSQL; only with --metrics."
    ),
    "store_flush_seconds": Family(
        "summary", "", "How long the disk of the server took for commits; only with --metrics."
    ),
    "store_round_trips_total": Family(
        "counter", "", "How often the process waited for the server of the store; only with --metrics."
    ),
    "store_seconds_total": Family(
        "counter", "", "How long the process waited for the server in all; only with --metrics."
    ),
    "store_statements_total": Family(
        "counter", "kind", "Statements in PostgreSQL; kind: read, write or other; only with --metrics."
    ),
    "blob_reads_total": Family(
        "counter",
        "result",
        "Reads of charms and resources of a store in PostgreSQL; result: hit or miss of the host's cache; "
        "only with --metrics.",
    ),
    "cache_reads_total": Family(
        "counter", "result", "Questions to the cache of rows; result: hit or miss; only with --metrics."
    ),
    "cache_changes_total": Family(
        "counter", "", "Changes of other processes that were applied to the cache; only with --metrics."
    ),
    "cache_dropped_total": Family(
        "counter",
        "reason",
        "How often the cache was dropped; reason: others (changes that are not known), rollback, or wrong "
        "(a bug: an answer differed from the store in PostgreSQL); "
        "only with --metrics.",
    ),
}
