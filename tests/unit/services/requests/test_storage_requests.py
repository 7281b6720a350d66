"""What storage people may ask for, and what becomes of it in the model."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pushjuju.core.errors import AlreadyExists, Conflict, NotFound, NotValid
from pushjuju.core.storage import Directive, Kind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.requests.storage.storage_requests import Answer
from pushjuju.services.views.listings import storage_pools
from pushjuju.services.views.status import storage_document
from pushjuju.store.rows.storage_records import Backing, BackingAttachment
from tests.world.controller import TestController

STORES: dict[str, Any] = {
    "data": {"type": "filesystem", "location": "/srv/data", "minimum-size": "100M"},
    "logs": {"type": "filesystem", "multiple": {"range": "0-3"}},
    "disk": {"type": "block", "multiple": {"range": "0-"}},
}


def deployed(runtime: TestController, name: str = "web", count: int = 1, **more: Any) -> None:
    """Deploy a charm with storage."""
    packed = runtime.charms.make(storage=more.pop("stores", STORES))
    runtime.deploy(name, count, packed=packed, **more)


def shown(runtime: TestController) -> dict[str, Any]:
    """The combined document."""
    return storage_document.document(runtime.ctx, runtime.model)


def backings(runtime: TestController) -> list[tuple[str, str, str, str]]:
    """(kind, id, storage, volume) of all that is behind."""
    found = runtime.read(lambda tx: tx.list(Backing, "backing_list"))
    return sorted((item.kind, item.id, item.storage, item.volume) for item in found)


def refused(answers: list[Answer]) -> list[str]:
    """What was refused."""
    return [answer.error.message for answer in answers if answer.error]


def provision(runtime: TestController) -> None:
    """Have all that is behind storage made and attached, as the lanes of the machines do."""

    def note(tx: Any) -> None:
        for backing in tx.list(Backing, "backing_list", model=runtime.model):
            key = {"model": runtime.model, "kind": backing.kind, "id": backing.id}
            tx.run("backing_set_begun", **key)
            tx.run("backing_set_made", **key, provider_id="x", size=backing.size, hardware_id="", wwn="")
        for host in tx.list(BackingAttachment, "backing_attachment_list", model=runtime.model):
            tx.run(
                "backing_attachment_set_attached",
                model=runtime.model, kind=host.kind, id=host.id, machine=host.machine, boot_id="boot-1",
            )  # fmt: skip

    runtime.write(note)


def detached(runtime: TestController) -> None:
    """Have done what waits to be taken from machines."""

    def note(tx: Any) -> None:
        for host in tx.list(BackingAttachment, "backing_attachment_list", model=runtime.model):
            if host.life != "alive":
                backing = tx.find(Backing, "backing_get", model=runtime.model, kind=host.kind, id=host.id)
                storage_instances.forget_host(tx, backing, host)

    runtime.write(note)


class TestDeploy:
    def test_what_the_charm_needs_comes_from_the_root_disk(self, runtime: TestController) -> None:
        deployed(runtime)
        assert backings(runtime) == [("filesystem", "0/0", "data/0", "")]
        entry = shown(runtime)["filesystems"]["0/0"]
        assert (entry["pool"], entry["size"], entry["status"]["current"]) == (
            "rootfs",
            1024 // 10 - 2,
            "pending",
        )
        assert runtime.unit("web/0").storage == runtime.machine("0").storage - 1 == 1

    def test_directives(self, runtime: TestController) -> None:
        wanted = {
            "data": Directive(pool="loop", size=200, count=1),
            "logs": Directive(pool="tmpfs", count=2),
            "disk": Directive(size=50, count=1),
        }
        deployed(runtime, storage=wanted)
        assert backings(runtime) == [
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
    def test_refused(self, runtime: TestController, wanted: dict[str, Directive], refusal: str) -> None:
        before = runtime.dump()
        with pytest.raises(NotValid) as caught:
            deployed(runtime, storage=wanted)
        assert caught.value.message == refusal
        assert runtime.dump() == before

    def test_unknown_pool(self, runtime: TestController) -> None:
        with pytest.raises(NotFound, match='pool "x" not found'):
            deployed(runtime, storage={"data": Directive(pool="x")})

    def test_shared_is_refused_as_in_juju(self, runtime: TestController) -> None:
        with pytest.raises(NotValid, match="shared storage support not implemented"):
            deployed(runtime, stores={"data": {"type": "filesystem", "shared": True}})

    def test_two_units_of_one_machine_cannot_share_a_mount_point(self, runtime: TestController) -> None:
        deployed(runtime)
        from pushjuju.core.model.placement import Placement

        with pytest.raises(NotValid, match='"/srv/data" for "data" storage contains mount point "/srv/data"'):
            units.add_units(runtime.ctx, runtime.model, "web", 1, [Placement.parse("0")])
        assert runtime.units() == ["web/0"]

    def test_every_new_unit_gets_its_own(self, runtime: TestController) -> None:
        deployed(runtime, storage={"logs": Directive(pool="tmpfs", count=1)})
        units.add_units(runtime.ctx, runtime.model, "web", 1, [])
        assert sorted(shown(runtime)["storage"]) == ["data/0", "data/2", "logs/1", "logs/3"]

    def test_a_charm_without_storage_costs_nothing(self, runtime: TestController) -> None:
        runtime.deploy()
        assert (runtime.unit("web/0").storage, runtime.machine("0").storage) == (0, 0)
        assert shown(runtime) == {}


class TestPools:
    def test_made_changed_listed_removed(self, runtime: TestController) -> None:
        storage_requests.create_pool(runtime.ctx, runtime.model, "fast", "tmpfs", {"a": "1"})
        assert storage_pools.document(runtime.ctx, runtime.model)["fast"] == {
            "provider": "tmpfs",
            "attrs": {"a": "1"},
        }
        storage_requests.update_pool(runtime.ctx, runtime.model, "fast", {"b": "2"})
        assert storage_pools.document(runtime.ctx, runtime.model, ["fast"]) == {
            "fast": {"provider": "tmpfs", "attrs": {"b": "2"}}
        }
        assert set(storage_pools.document(runtime.ctx, runtime.model, (), ["loop"])) == {"loop"}
        storage_requests.remove_pool(runtime.ctx, runtime.model, "fast")
        assert set(storage_pools.document(runtime.ctx, runtime.model)) == {"local", "loop", "rootfs", "tmpfs"}

    def test_refused(self, runtime: TestController) -> None:
        create = storage_requests.create_pool
        with pytest.raises(NotValid, match='pool name "1" not valid'):
            create(runtime.ctx, runtime.model, "1", "loop", {})
        with pytest.raises(NotFound, match='storage provider "x" not found'):
            create(runtime.ctx, runtime.model, "a", "x", {})
        with pytest.raises(AlreadyExists):
            create(runtime.ctx, runtime.model, "loop", "loop", {})
        with pytest.raises(NotFound, match='pool "loop" not found'):
            storage_requests.remove_pool(runtime.ctx, runtime.model, "loop")

    def test_in_use(self, runtime: TestController) -> None:
        storage_requests.create_pool(runtime.ctx, runtime.model, "fast", "tmpfs", {})
        deployed(runtime, storage={"logs": Directive(pool="fast", count=1)})
        with pytest.raises(Conflict, match='storage pool "fast" in use'):
            storage_requests.remove_pool(runtime.ctx, runtime.model, "fast")
        with pytest.raises(Conflict, match="in use"):
            storage_requests.update_pool(runtime.ctx, runtime.model, "fast", {}, "loop")


class TestAsked:
    def test_add(self, runtime: TestController) -> None:
        deployed(runtime)
        answers = storage_requests.add(
            runtime.ctx, runtime.model, "web/0",
            {"logs": Directive(count=2), "data": Directive(count=1), "x": Directive(count=1)},
        )  # fmt: skip
        assert [made for answer in answers for made in answer.made] == ["logs/1", "logs/2"]
        assert refused(answers) == ["cannot attach, storage is singular", 'charm storage "x" not found']
        answers = storage_requests.add(runtime.ctx, runtime.model, "web/0", {"logs": Directive(count=2)})
        assert refused(answers) == [
            "attaching 2 storage instances brings the total to 4, exceeding the maximum of 3"
        ]

    def test_detach_and_attach(self, runtime: TestController) -> None:
        deployed(runtime, storage={"logs": Directive(pool="loop", count=1)})
        provision(runtime)
        runtime.settle()
        assert refused(
            storage_requests.detach(runtime.ctx, runtime.model, ["data/0", "logs/1", "logs/9"])
        ) == [
            "cannot detach, storage is singular",
            'storage instance "logs/9" not found',
        ]
        runtime.settle()
        assert runtime.of("web/0")[-1] == "logs-storage-detaching"
        assert refused(storage_requests.attach(runtime.ctx, runtime.model, "web/0", ["logs/1"])) == [
            "cannot attach storage logs/1 to unit web/0: filesystem 0/1 is attached to machine 0"
        ]
        detached(runtime)
        assert "attachments" not in shown(runtime)["storage"]["logs/1"]
        assert refused(storage_requests.attach(runtime.ctx, runtime.model, "web/0", ["logs/1"])) == []
        provision(runtime)
        runtime.settle()
        assert runtime.of("web/0")[-1] == "logs-storage-attached"

    def test_attach_what_has_an_owner(self, runtime: TestController) -> None:
        deployed(runtime, count=2)
        runtime.settle()
        cannot = "cannot attach storage "
        attach = partial(storage_requests.attach, runtime.ctx, runtime.model)
        assert refused(attach("web/0", ["data/0"])) == []
        assert refused(attach("web/1", ["data/0", "x/9"])) == [
            f"{cannot}data/0 to unit web/1: {cannot}owned by unit web/0 to unit web/1",
            f'{cannot}x/9 to unit web/1: storage instance "x/9" not found',
        ]

    def test_storage_of_a_machine_stays_there(self, runtime: TestController) -> None:
        deployed(runtime, count=2, storage={"logs": Directive(pool="tmpfs", count=1)})
        provision(runtime)
        runtime.settle()
        storage_requests.detach(runtime.ctx, runtime.model, ["logs/1"])
        runtime.settle()
        detached(runtime)
        assert refused(storage_requests.attach(runtime.ctx, runtime.model, "web/1", ["logs/1"])) == [
            "cannot attach storage logs/1 to unit web/1: tmpfs storage stays on machine 0"
        ]

    def test_remove(self, runtime: TestController) -> None:
        deployed(runtime)
        answers = storage_requests.remove(runtime.ctx, runtime.model, ["data/0"])
        assert refused(answers) == ['cannot destroy storage "data/0": storage is attached']
        answers = storage_requests.remove(runtime.ctx, runtime.model, ["data/0"], destroy=False)
        assert refused(answers) == [
            'cannot release storage "data/0": storage provider "rootfs" does not support releasing storage'
        ]

    def test_imported_twice(self, runtime: TestController) -> None:
        from pushjuju.plugins.api.storage_types import StorageMade

        made = StorageMade(provider_id="volume-1", size=10)
        assert storage_requests.record_import(runtime.ctx, runtime.model, "local", "data", made) == "data/0"
        with pytest.raises(Conflict, match="volume-1 is storage data/0 of this model already"):
            storage_requests.record_import(runtime.ctx, runtime.model, "local", "data", made)
        assert storage_requests.check_import(runtime.ctx, runtime.model, "local") == (
            "local",
            Kind.FILESYSTEM,
        )
        with pytest.raises(NotValid, match="not supported"):
            storage_requests.check_import(runtime.ctx, runtime.model, "loop")


class TestGoing:
    def test_data_stays_when_its_unit_goes(self, runtime: TestController) -> None:
        """And its machine with it."""
        deployed(runtime, storage={"data": Directive(pool="loop")})
        provision(runtime)
        runtime.settle()
        removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
        runtime.settle()
        assert runtime.of("web/0")[-3:] == ["data-storage-detaching", "stop", "remove"]
        assert (runtime.units(), runtime.machine_ids()) == ([], ["0"])
        detached(runtime)
        entry = shown(runtime)["storage"]["data/0"]
        assert (entry["life"], entry["status"]["current"]) == ("alive", "detached")
        with pytest.raises(Conflict, match='machine 0 has storage "data/0" on it'):
            removals.remove_machines(runtime.ctx, runtime.model, ["0"])

    def test_data_goes_when_that_is_said(self, runtime: TestController) -> None:
        deployed(runtime, storage={"data": Directive(pool="loop")})
        provision(runtime)
        runtime.settle()
        removals.remove_units(runtime.ctx, runtime.model, ["web/0"], destroy_storage=True)
        runtime.settle()
        assert (runtime.units(), runtime.machine_ids(), shown(runtime)) == ([], [], {})

    def test_what_was_never_made_goes_with_its_unit(self, runtime: TestController) -> None:
        deployed(runtime)
        removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
        runtime.settle()
        assert (runtime.machine_ids(), shown(runtime)) == ([], {})

    def test_a_model_with_kept_storage_is_not_destroyed_unasked(self, runtime: TestController) -> None:
        deployed(runtime, storage={"data": Directive(pool="loop")})
        provision(runtime)
        runtime.settle()
        removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
        runtime.settle()
        detached(runtime)

        def destroy(destroy_storage: bool | None) -> None:
            runtime.write(
                lambda tx: removal.destroy_model(tx, models.get(tx), destroy_storage=destroy_storage)
            )

        before = runtime.dump()
        with pytest.raises(Conflict, match="The model has persistent storage remaining:\n    1 filesystem"):
            destroy(None)
        with pytest.raises(Conflict, match="data/0 is on a machine of the model and cannot be released"):
            destroy(destroy_storage=False)
        assert runtime.dump() == before
        destroy(destroy_storage=True)
        runtime.settle()
        assert (runtime.machine_ids(), shown(runtime)) == ([], {})

    def test_storage_that_units_have_goes_with_the_machines_of_a_model(self, runtime: TestController) -> None:
        deployed(runtime)
        provision(runtime)
        runtime.settle()
        runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
        runtime.settle()
        assert (runtime.machine_ids(), shown(runtime)) == ([], {})

    def test_a_forced_unit_leaves_its_data(self, runtime: TestController) -> None:
        deployed(runtime, storage={"data": Directive(pool="loop")})
        provision(runtime)
        runtime.settle()
        unit = runtime.unit("web/0")
        runtime.write(lambda tx: removal.force_unit(tx, unit))
        assert runtime.units() == []
        assert shown(runtime)["storage"]["data/0"]["life"] == "alive"


class TestRefresh:
    def test_a_new_store_comes_to_units_that_are_there(self, runtime: TestController) -> None:
        deployed(runtime, stores={"data": STORES["data"]})
        provision(runtime)
        runtime.settle()
        more = {**STORES, "more": {"type": "filesystem", "multiple": {"range": "1-2"}}}
        runtime.refresh(runtime.charms.make(storage=more), storage={"more": Directive(pool="tmpfs", count=2)})
        assert sorted(shown(runtime)["storage"]) == ["data/0", "more/1"]
        provision(runtime)
        runtime.clear()
        runtime.settle()
        assert runtime.of("web/0")[-3:] == ["upgrade-charm", "config-changed", "more-storage-attached"]

    def test_a_directive_that_is_given_again_is_for_later_units(self, runtime: TestController) -> None:
        deployed(runtime, stores={"data": STORES["data"]}, storage={"data": Directive(pool="loop")})
        runtime.refresh(runtime.charms.make(storage=STORES), storage={"data": Directive(pool="tmpfs")})
        with runtime.ctx.read(runtime.model) as tx:
            kept = {item.name: item.pool for item in storage_instances.directives(tx, "web")}
        assert (kept["data"], sorted(shown(runtime)["storage"])) == ("tmpfs", ["data/0"])

    def test_a_store_in_use_cannot_go(self, runtime: TestController) -> None:
        deployed(runtime, storage={"logs": Directive(count=1)})
        with pytest.raises(Conflict, match='in-use storage "logs" removed'):
            runtime.refresh(runtime.charms.make(storage={"data": STORES["data"]}))


class TestHooks:
    def test_install_waits_for_all_storage(self, runtime: TestController) -> None:
        deployed(runtime, storage={"logs": Directive(pool="tmpfs", count=1)})
        runtime.settle()
        assert runtime.of("web/0") == []
        provision(runtime)
        runtime.settle()
        assert runtime.of("web/0")[:3] == ["data-storage-attached", "logs-storage-attached", "install"]
        frame = runtime.played().frame_of("logs-storage-attached")
        assert frame["env"]["JUJU_STORAGE_ID"] == "logs/1"
        assert frame["env"]["JUJU_STORAGE_LOCATION"] == "/var/lib/juju/storage/logs/1"
        assert frame["env"]["JUJU_STORAGE_KIND"] == "filesystem"
        assert frame["context"]["hook_storage"] == "logs/1"
        assert frame["context"]["storage"]["data/0"] == {"kind": "filesystem", "location": "/srv/data"}

    def test_a_frame_without_storage_is_no_larger(self, runtime: TestController) -> None:
        runtime.active()
        frame = runtime.played().frame_of("start")
        assert "storage" not in frame["context"]
        assert not [name for name in frame["env"] if "STORAGE" in name]

    def test_storage_add(self, runtime: TestController) -> None:
        from tests.world.machine import ok

        deployed(runtime)
        provision(runtime)
        runtime.played().script["start"] = [ok(writes={"storage": {"logs": 2}})]
        runtime.settle()
        assert sorted(shown(runtime)["storage"]) == ["data/0", "logs/1", "logs/2"]
        provision(runtime)
        runtime.settle()
        assert runtime.of("web/0")[-2:] == ["logs-storage-attached"] * 2

    @pytest.mark.parametrize(
        ("asked", "why"),
        [
            ({"nope": 1}, 'adding storage nope for unit-web-0: charm storage "nope" not found'),
            ({"data": 1}, "adding storage data for unit-web-0: cannot attach, storage is singular"),
            ({"logs": 4}, "adding storage logs for unit-web-0: attaching 4 storage instances"),
        ],
    )
    def test_storage_add_that_is_refused_fails_the_hook(
        self, runtime: TestController, asked: dict[str, int], why: str
    ) -> None:
        from tests.world.machine import ok

        deployed(runtime)
        provision(runtime)
        done = runtime.hook("start", ok(writes={"storage": asked}))
        assert not done.ok
        assert done.message.startswith(why)
        assert sorted(shown(runtime)["storage"]) == ["data/0"]

    @pytest.mark.parametrize("odd", [{"data": "x"}, {"data": 0}, {"../x": 1}, {"data": 10**9}, ["data"]])
    def test_odd_requests_fail_the_hook_alone(self, runtime: TestController, odd: Any) -> None:
        from tests.world.machine import ok

        deployed(runtime)
        provision(runtime)
        done = runtime.hook("start", ok(writes={"storage": odd}))
        assert not done.ok
        assert "cannot be read" in done.message
