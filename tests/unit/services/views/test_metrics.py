"""What the metrics of a controller say, and what reading them costs."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from pushjuju.core.clock import SystemClock, to_iso
from pushjuju.core.errors import Unreachable
from pushjuju.core.status import Agent, StatusKind, Workload
from pushjuju.services.entities.basis import statuses
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.views.metrics import exposition, reading
from pushjuju.services.views.metrics.families import FAMILIES
from pushjuju.services.views.metrics.reading import Sample
from pushjuju.services.views.status.document import document
from pushjuju.store import processes
from pushjuju.web import certificates
from tests.bench.models import populate
from tests.bench.statements import counted
from tests.world import wire
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.machine import failed, ok
from tests.world.runtime import PlayedRuntime, drive
from tests.world.wire import WireCloud

LABEL = re.compile(r'(\w+)="([^"]*)"')


def values(runtime: TestController, family: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by its labels, without the model and the buckets of histograms."""
    found = [item for item in reading.read(runtime.ctx) if item.family == family and item.suffix != "_bucket"]
    return {(*item.labels[1:], *([item.suffix] if item.suffix else [])): item.value for item in found}


def test_units_machines_and_applications_are_counted_as_status_shows_them(
    runtime: TestController, packs: Charms
) -> None:
    runtime.active("web", 3, packed=packs.make("web", peers=None))
    runtime.active("db", 2, packed=packs.make("db", peers=None))
    for kind, unit, word in (
        (StatusKind.WORKLOAD, "web/0", Workload.BLOCKED),
        (StatusKind.AGENT, "web/1", Agent.ERROR),
        (StatusKind.WORKLOAD, "db/0", Workload.ACTIVE),
    ):
        now = runtime.ctx.clock.now()
        runtime.write(lambda tx, kind=kind, unit=unit, word=word, now=now: statuses.set_status(
            tx, kind, unit, word, now=now))  # fmt: skip
    long_ago = to_iso(runtime.ctx.clock.now())
    runtime.write(lambda tx: tx.run("machine_set_unreachable", id="2", now=long_ago))
    runtime.clock.advance(120)
    shown = document(runtime.ctx, runtime.resolve_model())
    units: Counter[tuple[str, str]] = Counter()
    for name, application in shown["applications"].items():
        for unit in application["units"].values():
            units[name, unit["workload-status"]["current"]] += 1
    assert values(runtime, "units") == units
    applications = Counter(
        (item["application-status"]["current"],) for item in shown["applications"].values()
    )
    assert values(runtime, "applications") == applications
    machines = Counter((item["juju-status"]["current"],) for item in shown["machines"].values())
    assert values(runtime, "machines") == machines
    assert machines["down",] == 1


def test_hooks_are_counted_by_kind_and_result(runtime: TestController, packs: Charms) -> None:
    runtime.deploy("web", packed=packs.make("web"))
    runtime.hook("install", failed())
    runtime.write(lambda tx: tx.run("unit_set_resolved", name="web/0", resolved="retry-hooks"))
    begun = runtime.ctx.clock.now().timestamp()
    runtime.hook("install", {"outcome": "terminated", "signal": 9})
    until = runtime.until("install")
    runtime.clock.advance(20)
    runtime.commit(until, ok(started=begun, ended=begun + 7))
    runtime.settle()
    hooks = values(runtime, "hooks_total")
    assert {labels[2]: count for labels, count in hooks.items() if labels[1] == "install"} == {
        "ok": 1, "failed": 1, "killed": 1,
    }  # fmt: skip
    assert all(not kind.startswith("cluster") for _, kind, _ in hooks)
    took = values(runtime, "hook_duration_seconds")
    assert (took["web", "install", "_sum"], took["web", "install", "_count"]) == (7, 3)
    buckets = {
        item.bound: item.value
        for item in reading.read(runtime.ctx)
        if item.labels[1:] == ("web", "install") and item.suffix == "_bucket"
    }
    assert (buckets["5"], buckets["15"], buckets["+Inf"]) == (2, 3, 3)


def test_a_machines_clock_that_jumps_does_not_make_a_hook_long(
    runtime: TestController, packs: Charms
) -> None:
    runtime.deploy("web", packed=packs.make("web", peers=None))
    until = runtime.until("install")
    runtime.clock.advance(3)
    runtime.commit(until, ok(started=0, ended=1e12))
    assert values(runtime, "hook_duration_seconds")["web", "install", "_sum"] == 3


def test_the_counts_of_a_removed_application_go_with_the_application(
    runtime: TestController, packs: Charms
) -> None:
    runtime.active("web", packed=packs.make("web", peers=None))
    assert values(runtime, "hooks_total")
    runtime.destroy_model()
    runtime.settle()
    assert [row for name, row in runtime.tables().items() if name == "hook_tally" and row] == []
    assert exposition.text(runtime.ctx)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain;version=0.0.4", False),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text; version=0.0.1", False),
        ("application/openmetrics-text;version=1.0.0;q=0.3, text/plain;q=0.6", False),
        ("application/openmetrics-text;version=1.0.0;q=x", False),
    ],
)
def test_openmetrics_is_for_clients_that_prefer_it(accept: str, wanted: bool) -> None:
    assert exposition.wants_open_metrics(accept) is wanted


def test_work_that_is_due_for_ten_minutes_is_late(runtime: TestController) -> None:
    runtime.deploy("web")
    runtime.clock.advance(60)
    assert {labels[1] for labels in values(runtime, "queue_items")} >= {"due"}
    runtime.clock.advance(600)
    assert {labels[1] for labels in values(runtime, "queue_items")} == {"late"}


def test_due_work_is_told_with_the_pool_of_its_model(runtime: TestController) -> None:
    assert list(values(runtime, "queue_oldest_due_seconds")) == [("",)]
    runtime.write(lambda tx: tx.run("model_config_set", key="controller-pool", value='"lab"'))
    assert list(values(runtime, "queue_oldest_due_seconds")) == [("lab",)]


def test_labels_are_names_of_models_applications_hooks_and_statuses_alone(
    runtime: TestController, packs: Charms
) -> None:
    """Messages, settings and addresses are nowhere in the text, so a secret in them is not either."""
    runtime.active("web", packed=packs.make("web", config={"token": {"type": "string"}}))
    now = runtime.ctx.clock.now()
    runtime.write(lambda tx: statuses.set_status(
        tx, StatusKind.WORKLOAD, "web/0", Workload.BLOCKED, "marked-message", now=now))  # fmt: skip
    text = exposition.text(runtime.ctx)
    assert not re.search(r"marked|10\.0\.0|web/0|\b" + runtime.model, text)
    known = {name for family in FAMILIES.values() for name in family.labels.split()} | {"le"}
    assert {name for name, _ in LABEL.findall(text)} <= known


def test_values_of_labels_are_escaped() -> None:
    (*_, line) = exposition.lines([Sample("machines", ('a"b\\c\nd', "started"), 1)])
    assert line == r'pushjuju_machines{model="a\"b\\c\nd",status="started"} 1'


def test_reading_takes_as_many_statements_for_many_units_as_for_few(tmp_path: Path) -> None:
    found: list[int] = []
    for name, units in (("few", 10), ("many", 300)):
        made = TestController.build(tmp_path / name, Charms(tmp_path / "charms"))
        populate(made, units)
        with counted(made.ctx.store) as statements:
            exposition.text(made.ctx)
        found.append(
            len(
                [
                    text
                    for text in statements
                    if not text.startswith(("PRAGMA", "SELECT 1 FROM sqlite_master"))
                ]
            )
        )
        made.ctx.close()
    assert found[0] == found[1] == 9


# What a model at rest does not have; other tests of this file and of the server look for these.
RARE = (
    "secrets",
    "tasks",
    "contact",
    "driver",
    "certificate",
    "http",
    "transfer",
    "store_standby",
)
ASKED_FOR = "unit_status"


@pytest.mark.parametrize(
    "family",
    [
        name
        for name, item in FAMILIES.items()
        if not name.startswith(RARE) and name != ASKED_FOR and "only with --metrics" not in item.help
    ],
)
def test_every_metric_of_the_table_is_written(runtime: TestController, packs: Charms, family: str) -> None:
    runtime.active("web", packed=packs.make("web", peers=None))
    assert family in {item.family for item in reading.read(runtime.ctx)}


async def test_tasks_contacts_and_processes_are_counted(runtime: TestController) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    request = operations.CommandRequest(command="true", timeout_s=9, units=["web/0"])
    operations.enqueue_commands(runtime.ctx, runtime.model, request)
    await drive(runtime, work)
    work.unreachable["0"] = Unreachable("no route to host")
    runtime.clock.advance(3600)
    await drive(runtime, work)
    assert values(runtime, "tasks_total") == {("web", "juju-exec", "completed"): 1}
    contacts = values(runtime, "contacts_total")
    assert (contacts["ok",] >= 2, contacts["unreachable",]) == (True, 1)
    took = values(runtime, "contact_duration_seconds")
    assert took["ok", "_count"] == contacts["ok",]
    assert values(runtime, "driver_info") == {}
    with runtime.ctx.store.write() as tx:
        processes.enlist(tx, runtime.clock.now(), "1", runtime.ctx.store.lives)
    (sample,) = [item for item in reading.read(runtime.ctx) if item.family == "driver_info"]
    assert sample.labels[1:] == (str(os.getpid()), "1")
    ((place, seen),) = values(runtime, "driver_heartbeat_timestamp_seconds").items()
    assert (place, seen >= runtime.clock.now().timestamp()) == ((str(os.getpid()),), True)
    runtime.destroy_model()
    await drive(runtime, PlayedRuntime(runtime))
    assert runtime.tables()["tally"] == []


def test_the_status_of_each_unit_is_told_only_when_asked_for(runtime: TestController) -> None:
    runtime.deploy(count=2)
    assert values(runtime, "unit_status") == {}
    found = [item for item in reading.read(runtime.ctx, per_unit=True) if item.family == "unit_status"]
    assert [item.labels[1:] for item in found] == [("web/0", "waiting"), ("web/1", "waiting")]


async def test_bytes_of_each_contact_are_counted_once(runtime: TestController) -> None:
    cloud = WireCloud()
    runtime.deploy()
    await wire.driver(runtime.ctx, runtime.model, cloud).settle()
    for _ in range(2):
        counted_now, tally = values(runtime, "transfer_bytes_total"), cloud.tally
        # The last acknowledgements follow the end of a contact; the played machine counts no hello.
        assert 0.9 * tally.bytes_out < counted_now["sent",] <= tally.bytes_out
        assert tally.bytes_in < counted_now["received",] < 2 * tally.bytes_in
        unit_requests.make_due(runtime.ctx, runtime.model)
        await wire.driver(runtime.ctx, runtime.model, cloud).settle(routine=True)


def test_the_end_of_the_certificate_of_the_api(runtime: TestController) -> None:
    folder = runtime.ctx.controller.root / "api"
    assert values(runtime, "certificate_expiry_timestamp_seconds") == {}
    certificates.ready(folder, ["127.0.0.1"], SystemClock().now())
    (sample,) = [item for item in reading.read(runtime.ctx) if item.family.startswith("certificate")]
    assert (sample.labels, sample.value > SystemClock().now().timestamp()) == (("api",), True)
