"""Disks of machines: volumes without a unit, made with their machine and gone with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import Conflict, NotFound, NotValid
from pushjuju.core.storage import Directive, Kind
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage_work
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.views import explain
from pushjuju.services.views.status import status_filter, storage_document
from pushjuju.uniter.wanted import wanted
from tests.world.charms import UBUNTU
from tests.world.controller import TestController


def add(runtime: TestController, *asked: Directive) -> str:
    """Add a machine with disks."""
    return machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={}, disks=asked).id


def shown(runtime: TestController) -> dict[str, Any]:
    """The combined document."""
    return storage_document.document(runtime.ctx, runtime.model)


def loop(size: int = 64, count: int = 1) -> Directive:
    return Directive(pool="loop", size=size, count=count)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cloud has volumes that outlive machines."""
    real = PluginHost.storage_types

    def types(host: PluginHost, cloud_type: str) -> dict[str, Any]:
        known = dict(real(host, cloud_type))
        known["local"] = replace(known["local"], kinds=frozenset({Kind.BLOCK}), default=True)
        return known

    monkeypatch.setattr(PluginHost, "storage_types", types)


def test_volumes_without_storage(runtime: TestController) -> None:
    add(runtime, loop(64, 2), loop(32))
    found = shown(runtime)
    assert list(found) == ["volumes"]
    assert {name: entry["size"] for name, entry in found["volumes"].items()} == {
        "0/0": 64, "0/1": 64, "0/2": 32
    }  # fmt: skip
    entry = found["volumes"]["0/0"]
    assert entry["attachments"] == {"machines": {"0": {"read-only": False, "life": "alive"}}}
    assert "storage" not in entry
    assert entry["persistent"] is False
    assert runtime.machine("0").storage == 6
    assert runtime.left()["work"], "the lane is to start it"


def test_a_filtered_status_keeps_those_of_its_machines(runtime: TestController) -> None:
    add(runtime, loop())
    add(runtime, loop())
    document = {"model": {}, "machines": {"0": {}, "1": {}}, "applications": {}, "storage": shown(runtime)}
    filtered, _ = status_filter.filter_status(document, ["1"])
    assert list(filtered["storage"]["volumes"]) == ["1/1"]


def test_what_is_asked_of_them(runtime: TestController) -> None:
    add(runtime, loop())
    with pytest.raises(NotFound):
        storage_document.show(runtime.ctx, runtime.model, ["disk/0"])
    (answer,) = storage_requests.remove(runtime.ctx, runtime.model, ["disk-0"])
    assert str(answer.error) == 'storage ID "disk-0" not valid'
    with pytest.raises(NotFound):
        explain.explain(runtime.ctx, runtime.model, wanted, ["disk-0"])
    storage_requests.create_pool(runtime.ctx, runtime.model, "fast", "loop", {"a": "1"})
    add(runtime, Directive(pool="fast", size=8, count=1))
    assert shown(runtime)["volumes"]["1/1"]["pool"] == "fast"
    with pytest.raises(Conflict, match="in use"):
        storage_requests.remove_pool(runtime.ctx, runtime.model, "fast")


@pytest.mark.parametrize(
    ("asked", "kind", "text"),
    [
        (Directive(pool="lop", size=1, count=1), NotFound, 'pool "lop" not found'),
        (Directive(pool="rootfs", size=1, count=1), NotValid, '"rootfs" provider does not support "block"'),
        (Directive(pool="loop", count=1), NotValid, "invalid size 0"),
        (Directive(size=1, count=10**8), NotValid, "at most 1000 instances supported"),
    ],
)
def test_refusals_leave_nothing(
    runtime: TestController, asked: Directive, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=f"cannot add a new machine: validating volume params: {text}") as caught:
        add(runtime, asked)
    assert runtime.machine_ids() == []
    assert shown(runtime) == {}
    if kind is NotFound:
        assert "loop" in str(getattr(caught.value, "hint", ""))


def test_without_a_pool_it_is_the_default_for_blocks(runtime: TestController) -> None:
    add(runtime, Directive(size=8, count=1))
    assert shown(runtime)["volumes"]["0/0"]["pool"] == "loop"


@pytest.mark.usefixtures("cloud")
def test_of_the_cloud(runtime: TestController) -> None:
    add(runtime, Directive(size=8, count=1))
    assert shown(runtime)["volumes"]["0"]["pool"] == "local"
    machine = runtime.machine("0")
    (todo,) = runtime.read(lambda tx: storage_work.on_machine(tx, machine))
    item = runtime.read(lambda tx: storage_work.item_of(tx, todo.backing, todo.host))
    assert item.tags == {"juju-model-uuid": runtime.model}
    come = runtime.read(lambda tx: storage_work.to_come_with(tx, machine, ["local"]))
    assert [volume.id for volume in come] == ["0"]


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("pool", ["loop", "local"])
def test_a_machine_is_not_kept_for_them(runtime: TestController, pool: str) -> None:
    add(runtime, Directive(pool=pool, size=8, count=1))
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    row = runtime.machine("0")
    runtime.write(lambda tx: removal.remove_machine(tx, row))
    left = shown(runtime).get("volumes", {})
    assert {name: entry["life"] for name, entry in left.items()} == (
        {"0": "dying"} if pool == "local" else {}
    )

    def destroy(tx: Any) -> None:
        for todo in list(storage_work.on_no_machine(tx)):
            storage_work.destroyed(tx, todo.backing)

    runtime.write(destroy)
    assert shown(runtime) == {}


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("destroy", [None, True, False])
def test_a_model_goes_without_a_word_for_them(runtime: TestController, destroy: bool | None) -> None:
    add(runtime, loop(), Directive(pool="local", size=8, count=1))

    def end(tx: Any) -> None:
        model = models.get(tx)
        removal.destroy_model(tx, model, destroy_storage=destroy)

    runtime.write(end)
    blockers = runtime.read(removal.blockers)
    assert "disk of machine 0 is dying: pending" in blockers
    assert runtime.read(lambda tx: tx.rows("storage_instance_list"))[0]["releasing"] == 0
