"""Reads the values of all metrics from the store."""

from __future__ import annotations

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from pushjuju import JUJU_VERSION, __version__
from pushjuju.core import status as rules
from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.errors import InstanceGone
from pushjuju.services.entities.basis.tally import BOUNDS_MS, CONTACTS, TASKS, TRANSFER
from pushjuju.services.views.metrics import certificates
from pushjuju.services.views.metrics.families import FAMILIES
from pushjuju.services.views.status.document import LOST_AFTER_S
from pushjuju.store import processes

if TYPE_CHECKING:
    from pathlib import Path

    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.engine import Row
    from pushjuju.store.tx import Tx

LATE = timedelta(minutes=10)
_SOON = timedelta(days=7)  # for secrets that expire


class Sample(NamedTuple):
    """A value of a metric."""

    family: str  # the name in `families.FAMILIES`
    labels: tuple[str, ...]
    value: float
    suffix: str = ""  # what a histogram adds to the name
    bound: str = ""  # the bound of a histogram's bucket in seconds, "" for other values


def read(ctx: Context, more: Iterable[Sample] = (), *, per_unit: bool = False) -> list[Sample]:
    """Return the samples of all metrics of a controller.

    Args:
        more: Metrics of this process, with the UUIDs of models.
        per_unit: True to have also the status of each unit.
    """
    now = ctx.clock.now()
    found = [
        Sample("build_info", (__version__, JUJU_VERSION, platform.python_version()), 1),
        Sample("metrics_generated_timestamp_seconds", (), now.timestamp()),
    ]
    with ctx.store.read() as tx:
        if (waits := ctx.store.engine.standby()) is not None:
            found.append(Sample("store_standby_synchronous", (), waits))
        found += [Sample(f"{name}_bytes", (), size) for name, size in ctx.store.engine.sizes().items()]
        models = tx.rows("metrics_models")
        names = {row["uuid"]: row["name"] for row in models}
        units = tx.rows("metrics_units")
        found += _units(units)
        if per_unit:
            found += [Sample("unit_status", tuple(row), 1) for row in tx.rows("metrics_each_unit")]
        found += _applications(tx, units)
        found += _machines(tx, now)
        found += _hooks(tx.rows("metrics_hooks"))
        found += _queue(tx, now, models)
        found += _counts(tx.rows("metrics_tally"))
        found += _processes(tx, ctx)
        soon = tx.rows("metrics_secrets", until=to_iso(now + _SOON))
    found += _certificates(ctx.controller.root / "api" / "server.pem")
    found += [Sample("secrets_expiring", (row["model"],), row["revisions"]) for row in soon]
    found += more
    names[""] = ""  # the whole store
    return [_named(sample, names) for sample in found if not _is_of_unknown_model(sample, names)]


def _is_of_unknown_model(sample: Sample, names: Mapping[str, str]) -> bool:
    """Return True for what a removed model has left in the queue."""
    return _has_model(sample) and sample.labels[0] not in names


def _has_model(sample: Sample) -> bool:
    return FAMILIES[sample.family].labels.startswith("model")


def _named(sample: Sample, names: Mapping[str, str]) -> Sample:
    """Return a sample with the name of its model in place of the UUID."""
    if not _has_model(sample):
        return sample
    return sample._replace(labels=(names[sample.labels[0]], *sample.labels[1:]))


def _units(rows: Iterable[Row]) -> Iterator[Sample]:
    attempts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        labels = row["model"], row["application"], row["status"]
        yield Sample("units", labels, row["units"])
        if row["since"]:
            yield Sample("unit_status_since_timestamp_seconds", labels, _seconds(row["since"]))
        attempts[labels[:2]] = max(attempts[labels[:2]], row["attempts"])
    yield from (Sample("hook_attempts", labels, most) for labels, most in attempts.items())


def _applications(tx: Tx, units: Iterable[Row]) -> Iterator[Sample]:
    """Yield the number of applications by status; units give theirs to an application that has none."""
    shown: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in units:
        shown[row["model"], row["application"]].append(row["status"])
    counts: Counter[tuple[str, str]] = Counter()
    for row in tx.rows("metrics_applications"):
        status, of_units = row["status"], shown[row["model"], row["application"]]
        if status == rules.Workload.UNSET:
            worst = rules.most_severe(of_units)
            status = str(rules.Workload.UNKNOWN) if worst is None else of_units[worst]
        counts[row["model"], status] += 1
    yield from (Sample("applications", labels, count) for labels, count in counts.items())


def _machines(tx: Tx, now: datetime) -> Iterator[Sample]:
    lost = to_iso(now - timedelta(seconds=LOST_AFTER_S))
    contact: dict[str, str] = {}
    for row in tx.rows("metrics_machines", lost=lost, gone=f'"{InstanceGone.code}"'):
        yield Sample("machines", (row["model"], row["status"]), row["machines"])
        if row["contact"]:
            contact[row["model"]] = min(row["contact"], contact.get(row["model"], row["contact"]))
    for model, time in contact.items():
        yield Sample("machine_last_contact_timestamp_seconds", (model,), _seconds(time))


def _hooks(rows: Iterable[Row]) -> Iterator[Sample]:
    buckets: dict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
    results: Counter[tuple[str, str, str, str]] = Counter()
    took: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        labels = row["model"], row["application"], row["hook"]
        results[(*labels, row["result"])] += row["runs"]
        buckets[labels][row["bound_ms"]] += row["runs"]
        took[labels] += row["milliseconds"]
    yield from (Sample("hooks_total", labels, count) for labels, count in results.items())
    for labels, counts in buckets.items():
        yield from histogram("hook_duration_seconds", labels, counts, took[labels] / 1000)


def _counts(rows: Iterable[Row]) -> Iterator[Sample]:
    """Yield the tasks and the contacts that ended, and the bytes that were moved."""
    runs: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    took: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        labels = (row["metric"], row["model"], *json.loads(row["labels"]))
        runs[labels][row["bound_ms"]] += row["number"]
        took[labels] += row["milliseconds"]
    for key, counts in runs.items():
        metric, labels = key[0], key[1:]
        if metric in (TASKS, CONTACTS, TRANSFER):
            yield Sample(f"{metric}_total", labels, counts.total())
        if metric == CONTACTS:
            yield from histogram("contact_duration_seconds", labels, counts, took[key] / 1000)


def _processes(tx: Tx, ctx: Context) -> Iterator[Sample]:
    now, found = ctx.clock.now(), processes.living(tx, ctx.store.lives)
    seen = ctx.store.engine.seen(process.owner for process in found) if found else {}
    for process in found:
        place = processes.place_of(process.owner)
        yield Sample("driver_info", (*place, process.version), 1)
        yield Sample("driver_heartbeat_timestamp_seconds", place, seen.get(process.owner, now).timestamp())


def _certificates(path: Path) -> Iterator[Sample]:
    """Yield when the certificate of the API ends, if the controller has served the API."""
    if path.exists():
        yield Sample("certificate_expiry_timestamp_seconds", ("api",), certificates.end_of(path))


def histogram(name: str, labels: tuple[str, ...], counts: Counter[int], total: float) -> Iterator[Sample]:
    """Yield a histogram from the numbers of runs by their bounds."""
    for bound in BOUNDS_MS:
        below = sum(count for other, count in counts.items() if 0 < other <= bound)
        yield Sample(name, labels, below, "_bucket", f"{bound / 1000:g}")
    yield Sample(name, labels, counts.total(), "_bucket", "+Inf")
    yield Sample(name, labels, total, "_sum")
    yield Sample(name, labels, counts.total(), "_count")


def _queue(tx: Tx, now: datetime, models: Iterable[Row]) -> Iterator[Sample]:
    pools = {row["uuid"]: json.loads(row["pool"] or '""') for row in models}
    late = dict.fromkeys(pools, 0.0)
    for row in tx.rows("metrics_queue", now=to_iso(now), late=to_iso(now - LATE)):
        yield Sample("queue_items", (row["model"], row["kind"], row["state"]), row["items"])
        if row["state"] in ("due", "late") and row["model"] in late:
            waited = now.timestamp() - _seconds(row["due"])
            late[row["model"]] = max(waited, late[row["model"]])
    for model, waited in late.items():
        yield Sample("queue_oldest_due_seconds", (model, pools[model]), waited)


def _seconds(text: str) -> float:
    return from_iso(text).timestamp()
