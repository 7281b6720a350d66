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
from pushjuju.services.entities.storage import storage_pools, storage_work
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import storage_requests
from pushjuju.services.views import explain
from pushjuju.services.views.status import status_filter, storage_document
from pushjuju.uniter.wanted import wanted
from tests.world.controller import UBUNTU, World


def add(shop: World, *asked: Directive) -> str:
    """Add a machine with disks."""
    return machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={}, disks=asked).id


def shown(shop: World) -> dict[str, Any]:
    """The combined document."""
    return storage_document.document(shop.ctx, shop.model)


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


def test_volumes_without_storage(shop: World) -> None:
    add(shop, loop(64, 2), loop(32))
    found = shown(shop)
    assert list(found) == ["volumes"]
    assert {name: entry["size"] for name, entry in found["volumes"].items()} == {
        "0/0": 64, "0/1": 64, "0/2": 32
    }  # fmt: skip
    entry = found["volumes"]["0/0"]
    assert entry["attachments"] == {"machines": {"0": {"read-only": False, "life": "alive"}}}
    assert "storage" not in entry
    assert entry["persistent"] is False
    assert shop.machine("0").storage == 6
    assert shop.left()["work"], "the lane is to start it"


def test_a_filtered_status_keeps_those_of_its_machines(shop: World) -> None:
    add(shop, loop())
    add(shop, loop())
    document = {"model": {}, "machines": {"0": {}, "1": {}}, "applications": {}, "storage": shown(shop)}
    filtered, _ = status_filter.filter_status(document, ["1"])
    assert list(filtered["storage"]["volumes"]) == ["1/1"]


def test_what_is_asked_of_them(shop: World) -> None:
    add(shop, loop())
    with pytest.raises(NotFound):
        storage_document.show(shop.ctx, shop.model, ["disk/0"])
    (answer,) = storage_requests.remove(shop.ctx, shop.model, ["disk-0"])
    assert str(answer.error) == 'storage ID "disk-0" not valid'
    with pytest.raises(NotFound):
        explain.explain(shop.ctx, shop.model, wanted, ["disk-0"])
    storage_pools.create(shop.ctx, shop.model, "fast", "loop", {"a": "1"})
    add(shop, Directive(pool="fast", size=8, count=1))
    assert shown(shop)["volumes"]["1/1"]["pool"] == "fast"
    with pytest.raises(Conflict, match="in use"):
        storage_pools.remove(shop.ctx, shop.model, "fast")


@pytest.mark.parametrize(
    ("asked", "kind", "text"),
    [
        (Directive(pool="lop", size=1, count=1), NotFound, 'pool "lop" not found'),
        (Directive(pool="rootfs", size=1, count=1), NotValid, '"rootfs" provider does not support "block"'),
        (Directive(pool="loop", count=1), NotValid, "invalid size 0"),
        (Directive(size=1, count=10**8), NotValid, "at most 1000 instances supported"),
    ],
)
def test_refusals_leave_nothing(shop: World, asked: Directive, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=f"cannot add a new machine: validating volume params: {text}") as caught:
        add(shop, asked)
    assert shop.machine_ids() == []
    assert shown(shop) == {}
    if kind is NotFound:
        assert "loop" in str(getattr(caught.value, "hint", ""))


def test_without_a_pool_it_is_the_default_for_blocks(shop: World) -> None:
    add(shop, Directive(size=8, count=1))
    assert shown(shop)["volumes"]["0/0"]["pool"] == "loop"


@pytest.mark.usefixtures("cloud")
def test_of_the_cloud(shop: World) -> None:
    add(shop, Directive(size=8, count=1))
    assert shown(shop)["volumes"]["0"]["pool"] == "local"
    machine = shop.machine("0")
    (todo,) = shop.read(lambda tx: storage_work.on_machine(tx, machine))
    item = shop.read(lambda tx: storage_work.item_of(tx, todo.backing, todo.host))
    assert item.tags == {"juju-model-uuid": shop.model}
    come = shop.read(lambda tx: storage_work.to_come_with(tx, machine, ["local"]))
    assert [volume.id for volume in come] == ["0"]


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("pool", ["loop", "local"])
def test_a_machine_is_not_kept_for_them(shop: World, pool: str) -> None:
    add(shop, Directive(pool=pool, size=8, count=1))
    removal.remove_machines(shop.ctx, shop.model, ["0"])
    row = shop.machine("0")
    shop.write(lambda tx: removal.remove_machine(tx, row, shop.clock.now()))
    left = shown(shop).get("volumes", {})
    assert {name: entry["life"] for name, entry in left.items()} == (
        {"0": "dying"} if pool == "local" else {}
    )

    def destroy(tx: Any) -> None:
        for todo in list(storage_work.on_no_machine(tx, shop.model)):
            storage_work.destroyed(tx, todo.backing, shop.clock.now())

    shop.write(destroy)
    assert shown(shop) == {}


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("destroy", [None, True, False])
def test_a_model_goes_without_a_word_for_them(shop: World, destroy: bool | None) -> None:
    add(shop, loop(), Directive(pool="local", size=8, count=1))

    def end(tx: Any) -> None:
        model = models.get(tx, shop.model)
        removal.destroy_model(tx, model, shop.clock.now(), destroy_storage=destroy)

    shop.write(end)
    blockers = shop.read(lambda tx: removal.blockers(tx, shop.model))
    assert "disk of machine 0 is dying: pending" in blockers
    assert shop.read(lambda tx: tx.rows("storage_instance_list", model=shop.model))[0]["releasing"] == 0
