"""Which revision of a store's charm is meant, and its archive: against a stand-in of Charmhub."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.charms.values.model import ResourceMeta
from pushjuju.core.base import Base
from pushjuju.core.charmstore import HubError
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.services.entities.model import model_config
from pushjuju.services.supply import store_charms
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.services.supply.store_charms import CharmRequest
from tests.charms_tools.hubstore import FOCAL, JAMMY, NOBLE, HubStore
from tests.world.controller import TestController


@pytest.fixture
def site(runtime: TestController, hub: HubStore, tmp_path: Path) -> TestController:
    """The model `shop` gets its charms from a stand-in with `web`: 11 on jammy, 12 on noble."""
    runtime.write(lambda tx: tx.run("model_config_set", key="charmhub-url", value=f'"{hub.url}"'))
    data = runtime.charms.make("web").path.read_bytes()
    hub.add("web", data, revision=11, channels=["14/stable"], bases=[JAMMY])
    hub.add("web", data, revision=12, channels=["14/stable"], bases=[NOBLE])
    hub.add("web-extra", data, revision=1, bases=[FOCAL])
    hub.entries["web"].default_track = "14"
    object.__setattr__(runtime.ctx, "environ", {"PUSHJUJU_CACHE": str(tmp_path / "cache")})
    return runtime


def one(site: TestController, **asked: object) -> StoreOrigin:
    return store_charms.resolve_one(
        site.ctx, site.model, CharmRequest(**{"url": "web", **asked})  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_default_base_of_juju_wins_over_the_stores_first(site: TestController, hub: HubStore) -> None:
    found = one(site)
    assert (found.charm.revision, found.base.display, str(found.channel)) == (12, "ubuntu@24.04", "14/stable")
    assert found.url == "ch:amd64/noble/web-12"
    assert len(hub.asked("refresh")) == 3


def test_a_base_that_is_asked_for(site: TestController, hub: HubStore) -> None:
    found = one(site, url="ch:web", base=Base.parse("ubuntu@22.04"))
    assert (found.charm.revision, found.url) == (11, "ch:amd64/jammy/web-11")
    assert len(hub.asked("refresh")) == 1


def test_the_models_default_base_counts_as_asked_for(site: TestController) -> None:
    site.write(lambda tx: model_config.change(tx, {"default-base": "ubuntu@22.04"}))
    assert one(site).charm.revision == 11


def test_a_revision(site: TestController) -> None:
    found = one(site, revision=11, channel="14/edge")
    assert (found.charm.revision, str(found.channel), found.base.display) == (11, "14/edge", "ubuntu@22.04")


def test_force_takes_a_base_that_the_charm_lacks(site: TestController) -> None:
    found = one(site, base=Base.parse("ubuntu@20.04"), force=True)
    assert found.base.display == "ubuntu@20.04"


def test_a_base_that_juju_does_not_know_is_refused_unasked(site: TestController, hub: HubStore) -> None:
    with pytest.raises(NotValid, match="web is not available on the following base"):
        one(site, base=Base.parse("ubuntu@16.04"))
    assert hub.requests == []


def test_with_daily_images_the_base_that_is_asked_for_counts_as_known(site: TestController) -> None:
    site.write(lambda tx: model_config.change(tx, {"image-stream": "daily"}))
    with pytest.raises(HubError, match=r'default channel, base "amd64/ubuntu/16.04"'):
        one(site, base=Base.parse("ubuntu@16.04"))
    assert one(site, base=Base.parse("ubuntu@16.04"), force=True).base.display == "ubuntu@16.04"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"url": "web-12"}, "cannot specify revision in a charm or bundle name. Please use --revision."),
        ({"url": "local:web"}, '"local:web" is not a Charmhub charm'),
        ({"url": "We!b"}, 'cannot parse name and/or revision in URL "We!b": name "We!b" not valid'),
        ({"channel": "a/b/c/d"}, 'channel is malformed and has too many components "a/b/c/d"'),
        ({"kind": "bundle", "base": Base.parse("ubuntu@24.04")}, 'expected bundle, got charm "web"'),
    ],
)
def test_what_is_refused(site: TestController, asked: dict[str, object], text: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        one(site, **asked)
    assert caught.value.message == text


def test_a_name_that_is_not_there_comes_with_what_is_alike(site: TestController) -> None:
    with pytest.raises(HubError) as caught:
        one(site, url="wep")
    assert caught.value.message == 'resolving error: charm or bundle name not found: "wep"'
    assert caught.value.hint == "did you mean: web"
    with pytest.raises(HubError) as caught:
        one(site, url="web-extras")
    assert caught.value.hint == "did you mean: web-extra"


def test_many_are_asked_together(site: TestController, hub: HubStore) -> None:
    asked = [CharmRequest(url=name) for name in ("web", "web-extra", "none", "WEB", "web")]
    found = store_charms.resolve(site.ctx, site.model, asked)
    assert [item.charm.revision if isinstance(item, StoreOrigin) else type(item) for item in found] == [
        12,
        1,
        HubError,
        NotValid,
        12,
    ]
    assert len(hub.asked("refresh")) == 3


def test_a_downloaded_charm_is_never_downloaded_again(
    site: TestController, hub: HubStore, tmp_path: Path
) -> None:
    store = store_charms.open_store(site.ctx, site.model)
    origin = store_charms.resolve_one(site.ctx, site.model, CharmRequest(url="web"), store=store)
    first = store_charms.fetch(site.ctx, store, origin, tmp_path, model=site.model)
    again = store_charms.fetch(site.ctx, store, origin, tmp_path, model=site.model)
    assert first.sha256 == again.sha256 == origin.charm.download.sha256
    assert first.charm.revision == 12
    assert len(hub.asked("download")) == 1


def test_resources_by_revision(site: TestController, hub: HubStore) -> None:
    store = store_charms.open_store(site.ctx, site.model)
    hub.add_resource("web", "blob", 3, b"three", "blob.txt")
    hub.add_resource("web", "blob", 4, b"four", "blob.txt")
    hub.entries["web"].revisions[12].resources = {"blob": 4}
    origin = one(site)
    declared = {"blob": ResourceMeta(name="blob", type="file", filename="blob.txt", description="")}
    assert store_charms.pick_resources(store, origin, {}, declared)["blob"].revision == 4
    assert store_charms.pick_resources(store, origin, {"blob": 3}, declared)["blob"].download.size == 5
    with pytest.raises(HubError, match='charm resource "blob" at revision 9 not found'):
        store_charms.pick_resources(store, origin, {"blob": 9}, declared)
    by_revision = one(site, revision=11, channel="14/stable")
    assert store_charms.pick_resources(store, by_revision, {}, declared)["blob"].revision == 4
