"""What storage people may ask for, and what becomes of it in the model."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.errors import AlreadyExists, Conflict, NotFound, NotValid
from pushjuju.core.storage import Directive, Kind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage, storage_pools
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import storage_requests
from pushjuju.services.requests.storage_requests import Answer
from pushjuju.services.views.status import storage_document
from pushjuju.store.rows.storage_records import Backing, BackingAttachment
from tests.world.controller import World

STORES: dict[str, Any] = {
    "data": {"type": "filesystem", "location": "/srv/data", "minimum-size": "100M"},
    "logs": {"type": "filesystem", "multiple": {"range": "0-3"}},
    "disk": {"type": "block", "multiple": {"range": "0-"}},
}


def deployed(shop: World, name: str = "web", count: int = 1, **more: Any) -> None:
    """Deploy a charm with storage."""
    packed = shop.charms.make(storage=more.pop("stores", STORES))
    shop.deploy(name, count, packed=packed, **more)


def shown(shop: World) -> dict[str, Any]:
    """The combined document."""
    return storage_document.document(shop.ctx, shop.model)


def backings(shop: World) -> list[tuple[str, str, str, str]]:
    """(kind, id, storage, volume) of all that is behind."""
    found = shop.read(lambda tx: tx.list(Backing, "backing_list", model=shop.model))
    return sorted((item.kind, item.id, item.storage, item.volume) for item in found)


def refused(answers: list[Answer]) -> list[str]:
    """What was refused."""
    return [answer.error.message for answer in answers if answer.error]


def provision(shop: World) -> None:
    """Have all that is behind storage made and attached, as the lanes of the machines do."""

    def note(tx: Any) -> None:
        for backing in tx.list(Backing, "backing_list", model=shop.model):
            key = {"model": shop.model, "kind": backing.kind, "id": backing.id}
            tx.run("backing_set_begun", **key)
            tx.run("backing_set_made", **key, provider_id="x", size=backing.size, hardware_id="", wwn="")
        for host in tx.list(BackingAttachment, "backing_attachment_list", model=shop.model):
            tx.run(
                "backing_attachment_set_attached",
                model=shop.model, kind=host.kind, id=host.id, machine=host.machine, boot_id="boot-1",
            )  # fmt: skip

    shop.write(note)


def detached(shop: World) -> None:
    """Have done what waits to be taken from machines."""

    def note(tx: Any) -> None:
        for host in tx.list(BackingAttachment, "backing_attachment_list", model=shop.model):
            if host.life != "alive":
                backing = tx.find(Backing, "backing_get", model=shop.model, kind=host.kind, id=host.id)
                storage.forget_host(tx, backing, host, shop.clock.now())

    shop.write(note)


class TestDeploy:
    def test_what_the_charm_needs_comes_from_the_root_disk(self, shop: World) -> None:
        deployed(shop)
        assert backings(shop) == [("filesystem", "0/0", "data/0", "")]
        entry = shown(shop)["filesystems"]["0/0"]
        assert (entry["pool"], entry["size"], entry["status"]["current"]) == (
            "rootfs",
            1024 // 10 - 2,
            "pending",
        )
        assert shop.unit("web/0").storage == shop.machine("0").storage - 1 == 1

    def test_directives(self, shop: World) -> None:
        wanted = {
            "data": Directive(pool="loop", size=200, count=1),
            "logs": Directive(pool="tmpfs", count=2),
            "disk": Directive(size=50, count=1),
        }
        deployed(shop, storage=wanted)
        assert backings(shop) == [
            ("filesystem", "0/0", "data/0", "0/0"),
            ("filesystem", "0/1", "logs/2", ""),
            ("filesystem", "0/2", "logs/3", ""),
            ("volume", "0/0", "data/0", ""),
            ("volume", "0/1", "disk/1", ""),
        ]

    @pytest.mark.parametrize(
        ("wanted", "refusal"),
        [
            ({"nope": Directive(count=1)}, 'charm "web" has no store called "nope"'),
            ({"data": Directive(count=2)}, 'charm "web" store "data": storage is singular, 2 specified'),
            (
                {"data": Directive(size=10)},
                'charm "web" store "data": minimum storage size is 100 MB, 10 MB specified',
            ),
            (
                {"logs": Directive(count=4)},
                'charm "web" store "logs": at most 3 instances supported, 4 specified',
            ),
            ({"disk": Directive(pool="tmpfs", count=1)}, '"tmpfs" provider does not support "block" storage'),
        ],
    )
    def test_refused(self, shop: World, wanted: dict[str, Directive], refusal: str) -> None:
        before = shop.dump()
        with pytest.raises(NotValid) as caught:
            deployed(shop, storage=wanted)
        assert caught.value.message == refusal
        assert shop.dump() == before

    def test_unknown_pool(self, shop: World) -> None:
        with pytest.raises(NotFound, match='pool "x" not found'):
            deployed(shop, storage={"data": Directive(pool="x")})

    def test_shared_is_refused_as_in_juju(self, shop: World) -> None:
        with pytest.raises(NotValid, match="shared storage support not implemented"):
            deployed(shop, stores={"data": {"type": "filesystem", "shared": True}})

    def test_two_units_of_one_machine_cannot_share_a_mount_point(self, shop: World) -> None:
        deployed(shop)
        from pushjuju.core.placement import Placement

        with pytest.raises(NotValid, match='"/srv/data" for "data" storage contains mount point "/srv/data"'):
            units.add_units(shop.ctx, shop.model, "web", 1, [Placement.parse("0")])
        assert shop.units() == ["web/0"]

    def test_every_new_unit_gets_its_own(self, shop: World) -> None:
        deployed(shop, storage={"logs": Directive(pool="tmpfs", count=1)})
        units.add_units(shop.ctx, shop.model, "web", 1, [])
        assert sorted(shown(shop)["storage"]) == ["data/0", "data/2", "logs/1", "logs/3"]

    def test_a_charm_without_storage_costs_nothing(self, shop: World) -> None:
        shop.deploy()
        assert (shop.unit("web/0").storage, shop.machine("0").storage) == (0, 0)
        assert shown(shop) == {}


class TestPools:
    def test_made_changed_listed_removed(self, shop: World) -> None:
        storage_pools.create(shop.ctx, shop.model, "fast", "tmpfs", {"a": "1"})
        assert storage_pools.document(shop.ctx, shop.model)["fast"] == {
            "provider": "tmpfs",
            "attrs": {"a": "1"},
        }
        storage_pools.update(shop.ctx, shop.model, "fast", {"b": "2"})
        assert storage_pools.document(shop.ctx, shop.model, ["fast"]) == {
            "fast": {"provider": "tmpfs", "attrs": {"b": "2"}}
        }
        assert set(storage_pools.document(shop.ctx, shop.model, (), ["loop"])) == {"loop"}
        storage_pools.remove(shop.ctx, shop.model, "fast")
        assert set(storage_pools.document(shop.ctx, shop.model)) == {"local", "loop", "rootfs", "tmpfs"}

    def test_refused(self, shop: World) -> None:
        create = storage_pools.create
        with pytest.raises(NotValid, match='pool name "1" not valid'):
            create(shop.ctx, shop.model, "1", "loop", {})
        with pytest.raises(NotFound, match='storage provider "x" not found'):
            create(shop.ctx, shop.model, "a", "x", {})
        with pytest.raises(AlreadyExists):
            create(shop.ctx, shop.model, "loop", "loop", {})
        with pytest.raises(NotFound, match='pool "loop" not found'):
            storage_pools.remove(shop.ctx, shop.model, "loop")

    def test_in_use(self, shop: World) -> None:
        storage_pools.create(shop.ctx, shop.model, "fast", "tmpfs", {})
        deployed(shop, storage={"logs": Directive(pool="fast", count=1)})
        with pytest.raises(Conflict, match='storage pool "fast" in use'):
            storage_pools.remove(shop.ctx, shop.model, "fast")
        with pytest.raises(Conflict, match="in use"):
            storage_pools.update(shop.ctx, shop.model, "fast", {}, "loop")


class TestAsked:
    def test_add(self, shop: World) -> None:
        deployed(shop)
        answers = storage_requests.add(
            shop.ctx, shop.model, "web/0",
            {"logs": Directive(count=2), "data": Directive(count=1), "x": Directive(count=1)},
        )  # fmt: skip
        assert [made for answer in answers for made in answer.made] == ["logs/1", "logs/2"]
        assert refused(answers) == ["cannot attach, storage is singular", 'charm storage "x" not found']
        answers = storage_requests.add(shop.ctx, shop.model, "web/0", {"logs": Directive(count=2)})
        assert refused(answers) == [
            "attaching 2 storage instances brings the total to 4, exceeding the maximum of 3"
        ]

    def test_detach_and_attach(self, shop: World) -> None:
        deployed(shop, storage={"logs": Directive(pool="loop", count=1)})
        provision(shop)
        shop.settle()
        assert refused(storage_requests.detach(shop.ctx, shop.model, ["data/0", "logs/1", "logs/9"])) == [
            "cannot detach, storage is singular",
            'storage instance "logs/9" not found',
        ]
        shop.settle()
        assert shop.of("web/0")[-1] == "logs-storage-detaching"
        assert refused(storage_requests.attach(shop.ctx, shop.model, "web/0", ["logs/1"])) == [
            "cannot attach storage logs/1: filesystem 0/1 is attached to machine 0"
        ]
        detached(shop)
        assert "attachments" not in shown(shop)["storage"]["logs/1"]
        assert refused(storage_requests.attach(shop.ctx, shop.model, "web/0", ["logs/1"])) == []
        provision(shop)
        shop.settle()
        assert shop.of("web/0")[-1] == "logs-storage-attached"

    def test_storage_of_a_machine_stays_there(self, shop: World) -> None:
        deployed(shop, count=2, storage={"logs": Directive(pool="tmpfs", count=1)})
        provision(shop)
        shop.settle()
        storage_requests.detach(shop.ctx, shop.model, ["logs/1"])
        shop.settle()
        detached(shop)
        assert refused(storage_requests.attach(shop.ctx, shop.model, "web/1", ["logs/1"])) == [
            "cannot attach storage logs/1 to unit web/1: tmpfs storage stays on machine 0"
        ]

    def test_remove(self, shop: World) -> None:
        deployed(shop)
        answers = storage_requests.remove(shop.ctx, shop.model, ["data/0"])
        assert refused(answers) == ['cannot destroy storage "data/0": storage is attached']
        answers = storage_requests.remove(shop.ctx, shop.model, ["data/0"], destroy=False)
        assert refused(answers) == [
            'cannot release storage "data/0": storage provider "rootfs" does not support releasing storage'
        ]

    def test_imported_twice(self, shop: World) -> None:
        from pushjuju.plugins.types import StorageMade

        made = StorageMade(provider_id="volume-1", size=10)
        assert storage_requests.record_import(shop.ctx, shop.model, "local", "data", made) == "data/0"
        with pytest.raises(Conflict, match="volume-1 is storage data/0 of this model already"):
            storage_requests.record_import(shop.ctx, shop.model, "local", "data", made)
        assert storage_requests.check_import(shop.ctx, shop.model, "local") == ("local", Kind.FILESYSTEM)
        with pytest.raises(NotValid, match="not supported"):
            storage_requests.check_import(shop.ctx, shop.model, "loop")


class TestGoing:
    def test_data_stays_when_its_unit_goes(self, shop: World) -> None:
        """And its machine with it."""
        deployed(shop, storage={"data": Directive(pool="loop")})
        provision(shop)
        shop.settle()
        removal.remove_units(shop.ctx, shop.model, ["web/0"])
        shop.settle()
        assert shop.of("web/0")[-3:] == ["data-storage-detaching", "stop", "remove"]
        assert (shop.units(), shop.machine_ids()) == ([], ["0"])
        detached(shop)
        entry = shown(shop)["storage"]["data/0"]
        assert (entry["life"], entry["status"]["current"]) == ("alive", "detached")
        with pytest.raises(Conflict, match='machine 0 has storage "data/0" on it'):
            removal.remove_machines(shop.ctx, shop.model, ["0"])

    def test_data_goes_when_that_is_said(self, shop: World) -> None:
        deployed(shop, storage={"data": Directive(pool="loop")})
        provision(shop)
        shop.settle()
        removal.remove_units(shop.ctx, shop.model, ["web/0"], destroy_storage=True)
        shop.settle()
        assert (shop.units(), shop.machine_ids(), shown(shop)) == ([], [], {})

    def test_what_was_never_made_goes_with_its_unit(self, shop: World) -> None:
        deployed(shop)
        removal.remove_units(shop.ctx, shop.model, ["web/0"])
        shop.settle()
        assert (shop.machine_ids(), shown(shop)) == ([], {})

    def test_a_model_with_kept_storage_is_not_destroyed_unasked(self, shop: World) -> None:
        deployed(shop, storage={"data": Directive(pool="loop")})
        provision(shop)
        shop.settle()
        removal.remove_units(shop.ctx, shop.model, ["web/0"])
        shop.settle()
        detached(shop)

        def destroy(destroy_storage: bool | None) -> None:
            shop.write(
                lambda tx: removal.destroy_model(
                    tx, models.get(tx, shop.model), shop.clock.now(), destroy_storage=destroy_storage
                )
            )

        before = shop.dump()
        with pytest.raises(Conflict, match="The model has persistent storage remaining:\n    1 filesystem"):
            destroy(None)
        with pytest.raises(Conflict, match="data/0 lives on a machine of it and cannot be released"):
            destroy(destroy_storage=False)
        assert shop.dump() == before
        destroy(destroy_storage=True)
        shop.settle()
        assert (shop.machine_ids(), shown(shop)) == ([], {})

    def test_storage_that_units_have_goes_with_the_machines_of_a_model(self, shop: World) -> None:
        deployed(shop)
        provision(shop)
        shop.settle()
        shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now()))
        shop.settle()
        assert (shop.machine_ids(), shown(shop)) == ([], {})

    def test_a_forced_unit_leaves_its_data(self, shop: World) -> None:
        deployed(shop, storage={"data": Directive(pool="loop")})
        provision(shop)
        shop.settle()
        unit = shop.unit("web/0")
        shop.write(lambda tx: removal.force_unit(tx, unit, shop.clock.now()))
        assert shop.units() == []
        assert shown(shop)["storage"]["data/0"]["life"] == "alive"


class TestRefresh:
    def test_a_new_store_comes_to_units_that_are_there(self, shop: World) -> None:
        deployed(shop, stores={"data": STORES["data"]})
        provision(shop)
        shop.settle()
        more = {**STORES, "more": {"type": "filesystem", "multiple": {"range": "1-2"}}}
        shop.refresh(shop.charms.make(storage=more), storage={"more": Directive(pool="tmpfs", count=2)})
        assert sorted(shown(shop)["storage"]) == ["data/0", "more/1"]
        provision(shop)
        shop.clear()
        shop.settle()
        assert shop.of("web/0")[-3:] == ["upgrade-charm", "config-changed", "more-storage-attached"]

    def test_a_directive_that_is_given_again_is_for_later_units(self, shop: World) -> None:
        deployed(shop, stores={"data": STORES["data"]}, storage={"data": Directive(pool="loop")})
        shop.refresh(shop.charms.make(storage=STORES), storage={"data": Directive(pool="tmpfs")})
        with shop.ctx.store.read() as tx:
            kept = {item.name: item.pool for item in storage.directives(tx, shop.model, "web")}
        assert (kept["data"], sorted(shown(shop)["storage"])) == ("tmpfs", ["data/0"])

    def test_a_store_in_use_cannot_go(self, shop: World) -> None:
        deployed(shop, storage={"logs": Directive(count=1)})
        with pytest.raises(Conflict, match='in-use storage "logs" removed'):
            shop.refresh(shop.charms.make(storage={"data": STORES["data"]}))


class TestHooks:
    def test_install_waits_for_all_storage(self, shop: World) -> None:
        deployed(shop, storage={"logs": Directive(pool="tmpfs", count=1)})
        shop.settle()
        assert shop.of("web/0") == []
        provision(shop)
        shop.settle()
        assert shop.of("web/0")[:3] == ["data-storage-attached", "logs-storage-attached", "install"]
        frame = shop.box().frame_of("logs-storage-attached")
        assert frame["env"]["JUJU_STORAGE_ID"] == "logs/1"
        assert frame["env"]["JUJU_STORAGE_LOCATION"] == "/var/lib/juju/storage/logs/1"
        assert frame["env"]["JUJU_STORAGE_KIND"] == "filesystem"
        assert frame["context"]["hook_storage"] == "logs/1"
        assert frame["context"]["storage"]["data/0"] == {"kind": "filesystem", "location": "/srv/data"}

    def test_a_frame_without_storage_is_no_larger(self, shop: World) -> None:
        shop.active()
        frame = shop.box().frame_of("start")
        assert "storage" not in frame["context"]
        assert not [name for name in frame["env"] if "STORAGE" in name]

    def test_storage_add(self, shop: World) -> None:
        from tests.world.controller import ok

        deployed(shop)
        provision(shop)
        shop.box().script["start"] = [ok(writes={"storage": {"logs": 2}})]
        shop.settle()
        assert sorted(shown(shop)["storage"]) == ["data/0", "logs/1", "logs/2"]
        provision(shop)
        shop.settle()
        assert shop.of("web/0")[-2:] == ["logs-storage-attached"] * 2

    @pytest.mark.parametrize(
        ("asked", "why"),
        [
            ({"nope": 1}, 'adding storage nope for unit-web-0: charm storage "nope" not found'),
            ({"data": 1}, "adding storage data for unit-web-0: cannot attach, storage is singular"),
            ({"logs": 4}, "adding storage logs for unit-web-0: attaching 4 storage instances"),
        ],
    )
    def test_storage_add_that_is_refused_fails_the_hook(
        self, shop: World, asked: dict[str, int], why: str
    ) -> None:
        from tests.world.controller import ok

        deployed(shop)
        provision(shop)
        done = shop.hook("start", ok(writes={"storage": asked}))
        assert not done.ok
        assert done.message.startswith(why)
        assert sorted(shown(shop)["storage"]) == ["data/0"]

    @pytest.mark.parametrize("odd", [{"data": "x"}, {"data": 0}, {"../x": 1}, {"data": 10**9}, ["data"]])
    def test_odd_requests_fail_the_hook_alone(self, shop: World, odd: Any) -> None:
        from tests.world.controller import ok

        deployed(shop)
        provision(shop)
        done = shop.hook("start", ok(writes={"storage": odd}))
        assert not done.ok
        assert "cannot be read" in done.message
