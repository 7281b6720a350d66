"""Write the dashboard for Grafana 11 and later, contrib/grafana/pushjuju.json.

python contrib/grafana/build.py           # writes the file
python contrib/grafana/build.py --check   # ends with 1 when the file is not what this script writes
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

TARGET = Path(__file__).parent / "pushjuju.json"
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_MODEL = 'model=~"$model"'
_BOTH = f'{_MODEL}, application=~"$application"'
_UNWELL = 'status!~"active|unknown"'
_SCRAPED = "without (instance, job, pod)"  # each process tells of the whole store
_WIDTH, _HEIGHT = 12, 8  # Grafana divides the page into 24 columns


def _once(query: str, choose: str = "max") -> str:
    """Return a query whose series of the store count once, however many processes are scraped."""
    return f"{choose} {_SCRAPED} ({query})"


def _rate(series: str, function: str = "rate") -> str:
    return _once(f"{function}({series}[$__rate_interval])")


class Panel(NamedTuple):
    """A panel; each label in `legend` names a series."""

    title: str
    kind: str
    query: str
    legend: str = ""
    unit: str = "short"


def _mean(title: str, metric: str, legend: str) -> Panel:
    """Return a panel with the mean of a summary, for each process."""
    query = " / ".join(f"rate({metric}_{part}[$__rate_interval])" for part in ("sum", "count"))
    return Panel(title, "timeseries", query, legend, "s")


ROWS: dict[str, tuple[Panel, ...]] = {
    "What is not well": (
        Panel(
            "Units that are not active",
            "timeseries",
            f"sum by (model, application, status) ({_once(f'pushjuju_units{{{_BOTH}, {_UNWELL}}}')})",
            "{{model}} {{application}}: {{status}}",
        ),
        Panel(
            "Hooks that fail again and again",
            "timeseries",
            f"max by (model, application) (pushjuju_hook_attempts{{{_BOTH}}}) > 0",
            "{{model}} {{application}}",
        ),
        Panel(
            "Since when units have their status",
            "table",
            "time() - min by (model, application, status) "
            f"(pushjuju_unit_status_since_timestamp_seconds{{{_BOTH}}})",
            unit="s",
        ),
        Panel(
            "Applications by status",
            "timeseries",
            f"sum by (status) ({_once(f'pushjuju_applications{{{_MODEL}}}')})",
            "{{status}}",
        ),
    ),
    "Hooks": (
        Panel(
            "Hooks per second",
            "timeseries",
            f"sum by (result) ({_rate(f'pushjuju_hooks_total{{{_BOTH}}}')})",
            "{{result}}",
        ),
        Panel(
            "How long hooks run",
            "heatmap",
            f"sum by (le) ({_rate(f'pushjuju_hook_duration_seconds_bucket{{{_BOTH}}}', 'increase')})",
            "{{le}}",
            "s",
        ),
        Panel(
            "Slowest hooks: mean of an hour",
            "timeseries",
            "topk(10, sum by (application, hook) "
            f"({_once(f'rate(pushjuju_hook_duration_seconds_sum{{{_BOTH}}}[1h])')})"
            " / sum by (application, hook) "
            f"({_once(f'rate(pushjuju_hook_duration_seconds_count{{{_BOTH}}}[1h])')}))",
            "{{application}} {{hook}}",
            "s",
        ),
    ),
    "Machines and work": (
        Panel(
            "Machines",
            "timeseries",
            f"sum by (status) ({_once(f'pushjuju_machines{{{_MODEL}}}')})",
            "{{status}}",
        ),
        Panel(
            "Longest time without contact",
            "timeseries",
            f"time() - {_once(f'pushjuju_machine_last_contact_timestamp_seconds{{{_MODEL}}}', 'min')}",
            "{{model}}",
            "s",
        ),
        Panel(
            "Contacts with machines per second",
            "timeseries",
            f"sum by (result) ({_rate(f'pushjuju_contacts_total{{{_MODEL}}}')})",
            "{{result}}",
        ),
        Panel(
            "How long contacts take",
            "heatmap",
            f"sum by (le) ({_rate(f'pushjuju_contact_duration_seconds_bucket{{{_MODEL}}}', 'increase')})",
            "{{le}}",
            "s",
        ),
        Panel(
            "Bytes to and from machines per second",
            "timeseries",
            f"sum by (direction) ({_rate(f'pushjuju_transfer_bytes_total{{{_MODEL}}}')})",
            "{{direction}}",
            "Bps",
        ),
        Panel(
            "Tasks of actions",
            "timeseries",
            f"sum by (action, status) ({_rate(f'pushjuju_tasks_total{{{_BOTH}}}', 'increase')})",
            "{{action}}: {{status}}",
        ),
        Panel("Processes that work", "table", _once("pushjuju_driver_info")),
        Panel(
            "Since when processes have not used the store",
            "timeseries",
            f"time() - {_once('pushjuju_driver_heartbeat_timestamp_seconds')}",
            "{{host}} {{pid}}",
            "s",
        ),
        Panel(
            "Units that are not well, with --per-unit",
            "table",
            _once(f'pushjuju_unit_status{{{_MODEL}, status!~"active|maintenance|unknown"}}'),
        ),
        Panel(
            "How long keys wait for a process",
            "heatmap",
            "sum by (le) (increase(pushjuju_claim_latency_seconds_bucket[$__rate_interval]))",
            "{{le}}",
            "s",
        ),
        Panel("Keys that processes work on", "timeseries", "pushjuju_claimed_keys", "{{instance}}"),
        Panel(
            "Keys taken over from dead processes, and lost",
            "timeseries",
            'sum without (kind) (increase(pushjuju_claims_total{kind="takeover"}[$__rate_interval])) '
            "+ increase(pushjuju_leases_lost_total[$__rate_interval])",
            "{{instance}}",
        ),
        Panel(
            "Keys taken over, by what told of the end of their process",
            "timeseries",
            "increase(pushjuju_takeovers_total[$__rate_interval])",
            "{{instance}}: {{by}}",
        ),
        Panel(
            "Contacts in which a machine knew a later lease",
            "timeseries",
            "increase(pushjuju_overtaken_total[$__rate_interval])",
            "{{instance}}",
        ),
        Panel(
            "Clocks of hosts against the store's",
            "timeseries",
            "pushjuju_clock_offset_seconds",
            "{{instance}}",
            "s",
        ),
        Panel(
            "Work queue",
            "timeseries",
            f"sum by (kind, state) ({_once(f'pushjuju_queue_items{{{_MODEL}}}')})",
            "{{kind}} {{state}}",
        ),
        Panel(
            "How late the work is",
            "timeseries",
            _once(f"pushjuju_queue_oldest_due_seconds{{{_MODEL}}}"),
            "{{model}}",
            "s",
        ),
    ),
    "Controller": (
        Panel("Store", "timeseries", _once("pushjuju_store_bytes"), "store", "bytes"),
        _mean("Wait for the lock of a model", "pushjuju_lock_wait_seconds", "{{instance}} {{model}}"),
        _mean("Time with the lock of a model", "pushjuju_lock_held_seconds", "{{instance}} {{model}}"),
        _mean(
            "Time of contacts beside the runs, for each run", "pushjuju_hook_overhead_seconds", "{{instance}}"
        ),
        _mean("Commits reach the disk of the server", "pushjuju_store_flush_seconds", "{{instance}}"),
        Panel(
            "Commits wait for a standby server",
            "timeseries",
            _once("pushjuju_store_standby_synchronous", "min"),
            "synchronous",
        ),
        Panel(
            "Round trips to the store for each hook",
            "timeseries",
            "sum(rate(pushjuju_store_round_trips_total[$__rate_interval])) / "
            f"sum({_rate('pushjuju_hooks_total')})",
            "round trips",
        ),
        Panel(
            "Part of the time that processes wait for the server of the store",
            "timeseries",
            "rate(pushjuju_store_seconds_total[$__rate_interval])",
            "{{instance}}",
            "percentunit",
        ),
        Panel(
            "Statements",
            "timeseries",
            "rate(pushjuju_store_statements_total[$__rate_interval])",
            "{{instance}}: {{kind}}",
            "ops",
        ),
        Panel(
            "Answers from the cache of rows",
            "timeseries",
            "rate(pushjuju_cache_reads_total[$__rate_interval])",
            "{{instance}}: {{result}}",
            "ops",
        ),
        Panel(
            "Changes of other processes in the cache",
            "timeseries",
            "rate(pushjuju_cache_changes_total[$__rate_interval])",
            "{{instance}}",
            "ops",
        ),
        Panel(
            "The cache was dropped",
            "timeseries",
            "increase(pushjuju_cache_dropped_total[$__rate_interval])",
            "{{instance}}: {{reason}}",
        ),
        Panel(
            "Charms and resources from the cache of the host",
            "timeseries",
            "increase(pushjuju_blob_reads_total[$__rate_interval])",
            "{{instance}}: {{result}}",
        ),
        Panel("Write-ahead log", "timeseries", _once("pushjuju_store_wal_bytes"), "log", "bytes"),
        Panel(
            "Secrets that expire within a week",
            "timeseries",
            _once(f"pushjuju_secrets_expiring{{{_MODEL}}}"),
            "{{model}}",
        ),
        Panel(
            "Age of the metrics",
            "timeseries",
            "time() - pushjuju_metrics_generated_timestamp_seconds",
            "{{instance}}",
            "s",
        ),
        Panel(
            "Time until the API's certificate ends",
            "timeseries",
            _once("pushjuju_certificate_expiry_timestamp_seconds", "min") + " - time()",
            "{{name}}",
            "s",
        ),
        Panel(
            "Requests to the API per second",
            "timeseries",
            "sum by (code) (rate(pushjuju_http_requests_total[$__rate_interval]))",
            "{{code}}",
        ),
        Panel(
            "How long requests take",
            "heatmap",
            "sum by (le) (increase(pushjuju_http_request_duration_seconds_bucket[$__rate_interval]))",
            "{{le}}",
            "s",
        ),
        Panel("Open connections of clients", "timeseries", "pushjuju_http_streams", "{{instance}}"),
        Panel("Version", "table", "pushjuju_build_info"),
    ),
}


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana imports it."""
    return {
        "title": "pushjuju",
        "uid": "pushjuju",
        "schemaVersion": 39,
        "tags": ["pushjuju"],
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": _variables()},
        "panels": _panels(),
    }


def text() -> str:
    """Return the content of the file."""
    return json.dumps(dashboard(), indent=1) + "\n"


def _variables() -> list[dict[str, Any]]:
    queries = {
        "model": "label_values(pushjuju_units, model)",
        "application": f"label_values(pushjuju_units{{{_MODEL}}}, application)",
    }
    return [
        {"name": "datasource", "type": "datasource", "query": "prometheus"},
        *(
            {"name": name, "type": "query", "datasource": _SOURCE, "query": query, "refresh": 2,
             "includeAll": True, "multi": True, "current": {"text": "All", "value": "$__all"}}
            for name, query in queries.items()
        ),
    ]  # fmt: skip


def _panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    y = 0
    for title, panels in ROWS.items():
        found.append(_placed({"type": "row", "title": title, "collapsed": False, "panels": []}, 0, y, 24, 1))
        y += 1
        for place, panel in enumerate(panels):
            x, line = place % 2 * _WIDTH, place // 2 * _HEIGHT
            found.append(_placed(_panel(panel), x, y + line, _WIDTH, _HEIGHT))
        y += -(-len(panels) // 2) * _HEIGHT
    return [{"id": number, **panel} for number, panel in enumerate(found, 1)]


def _placed(panel: dict[str, Any], x: int, y: int, width: int, height: int) -> dict[str, Any]:
    return {**panel, "gridPos": {"x": x, "y": y, "w": width, "h": height}}


def _panel(panel: Panel) -> dict[str, Any]:
    target = {"refId": "A", "datasource": _SOURCE, "expr": panel.query, "legendFormat": panel.legend}
    if panel.kind != "timeseries":
        target["format"] = panel.kind
    if panel.kind == "table":
        target["instant"] = True
    return {
        "type": panel.kind,
        "title": panel.title,
        "datasource": _SOURCE,
        "targets": [target],
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        TARGET.write_text(text(), encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text():
        sys.exit(f"ERROR {TARGET.name} is out of date: run python contrib/grafana/build.py")
