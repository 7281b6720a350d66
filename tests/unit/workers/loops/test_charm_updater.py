"""The loop that looks for newer charms, against a stand-in: the real store is out of reach here."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from pushjuju.core.charmstore import HubError
from pushjuju.services.entities.model import models
from pushjuju.services.requests.application import new_application
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.services.supply import origins, store_charms
from pushjuju.services.supply.store_charms import CharmRequest
from pushjuju.services.views import resource_documents
from pushjuju.services.views.status import document
from pushjuju.workers.events import silent
from pushjuju.workers.loops.charm_updater import look_for_newer
from pushjuju.workers.machine.deliver import _here
from pushjuju.workers.runtime import Runtime
from tests.charms_tools.hubstore import HubStore
from tests.world.controller import TestController

RESOURCE = {"blob": {"type": "file", "filename": "blob.txt", "description": "Some text."}}


@pytest.fixture
def site(runtime: TestController, hub: HubStore, tmp_path: Path) -> TestController:
    """The model `shop` with `web` 1 of the stand-in's `latest/stable`, with resource revision 1."""
    object.__setattr__(runtime.ctx, "environ", {"PUSHJUJU_CACHE": str(tmp_path / "cache")})
    runtime.write(lambda tx: tx.run("model_config_set", key="charmhub-url", value=json.dumps(hub.url)))
    data = runtime.charms.make("web", resources=RESOURCE, series=["noble"]).path
    hub.add("web", data, revision=1, resources={"blob": 1})
    hub.add_resource("web", "blob", 1, b"one", "blob.txt")
    hub.add_resource("web", "blob", 2, b"two", "blob.txt")
    store = store_charms.open_store(runtime.ctx, runtime.model)
    origin = store_charms.resolve_one(runtime.ctx, runtime.model, CharmRequest(url="web"), store=store)
    packed = store_charms.fetch(runtime.ctx, store, origin, tmp_path, model=runtime.model)
    found = store_charms.pick_resources(store, origin, {}, packed.charm.meta.resources)
    request = NewApplication(
        application="web", packed=packed, base=origin.base, origin=origin,
        store_resources=tuple(found.values()),
    )  # fmt: skip
    new_application.add(runtime.ctx, runtime.model, request)
    hub.requests.clear()
    return runtime


def shown(site: TestController) -> dict[str, object]:
    model = models.resolve(site.ctx, "shop")
    found: dict[str, object] = document.document(site.ctx, model)["applications"]["web"]
    return found


def due(site: TestController) -> str | None:
    row = site.read(lambda tx: tx.row("work_get", key=f"{site.model}/model/charms"))
    return str(row["due"]) if row else None


async def look(site: TestController) -> object:
    return await look_for_newer(Runtime(site.ctx, silent), site.model)


async def test_a_newer_revision_is_shown(site: TestController, hub: HubStore) -> None:
    assert "can-upgrade-to" not in shown(site)
    data = site.charms.make("web", series=["noble"], files={"src/x": "2"}).path
    hub.add("web", data, revision=4, resources={"blob": 2})
    outcome = await look(site)
    assert len(hub.asked("refresh")) == 1
    assert shown(site)["can-upgrade-to"] == "ch:amd64/noble/web-4"
    listing = resource_documents.listing(site.ctx, site.model, "web")
    assert [(item.name, item.revision) for item in listing.updates] == [("blob", 2)]
    wait = outcome.due - site.ctx.clock.now()  # type: ignore[attr-defined]
    assert timedelta(hours=24) <= wait <= timedelta(hours=48)


async def test_nothing_newer(site: TestController) -> None:
    await look(site)
    assert "can-upgrade-to" not in shown(site)
    known = site.read(lambda tx: origins.find(tx, "web"))
    assert known.looked == site.ctx.clock.now()
    assert resource_documents.listing(site.ctx, site.model, "web").updates == []


async def test_a_store_that_is_down_waits_for_the_next_time(site: TestController, hub: HubStore) -> None:
    hub.fail("refresh", "503")
    outcome = await look(site)
    assert outcome.reason.startswith("charmhub: server error")  # type: ignore[attr-defined]
    assert outcome.failed is False  # type: ignore[attr-defined]
    assert len(hub.asked("refresh")) == 1


async def test_a_model_without_such_charms_asks_nobody(runtime: TestController) -> None:
    runtime.deploy()
    outcome = await look(runtime)
    assert outcome.due is None  # type: ignore[attr-defined]


async def test_a_resource_is_fetched_when_it_is_wanted(site: TestController, hub: HubStore) -> None:
    row = resource_row(site)
    assert (row.origin, row.revision, row.sha256, row.size) == ("store", 1, "", 3)
    found = await _here(site.ctx, site.model, row)
    assert site.ctx.controller.blobs.path(found.sha256).read_bytes() == b"one"
    assert resource_row(site).sha256 == found.sha256
    await _here(site.ctx, site.model, row)
    assert len(hub.asked("download")) == 1


async def test_a_resource_that_does_not_come(site: TestController, hub: HubStore) -> None:
    hub.fail("download", "wrong", 1)
    with pytest.raises(HubError, match="while getting resource from charmhub: verifying downloaded"):
        await _here(site.ctx, site.model, resource_row(site))
    assert resource_row(site).sha256 == ""
    await _here(site.ctx, site.model, resource_row(site))


def resource_row(site: TestController):
    from pushjuju.store.rows.records import Resource

    return site.read(lambda tx: tx.find(Resource, "resource_get", application="web", name="blob"))
