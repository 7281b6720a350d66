"""config, trust, refresh, resolved, update-status: what people change of applications and units."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.charm import charms
from pushjuju.services.requests import update_status
from tests.world.controller import CONFIG, PEERS, World


def _set(shop: World, **more: Any) -> None:
    applications.set_config(shop.ctx, shop.model, "web", **more)


def _stored(shop: World, url: str = "local:web-0") -> dict[str, Any]:
    return shop.read(lambda tx: charms.stored_settings(tx, shop.model, "web", url))


# --- config -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ({"values": {"title": "a", "port": "8080"}}, {"title": "a", "port": 8080}),
        ({"values": {"debug": "T", "ratio": "1e3"}}, {"debug": True, "ratio": 1000.0}),
        ({"values": {"title": ""}}, {"title": ""}),
        ({"file": b"web: {title: f, port: 1}"}, {"title": "f", "port": 1}),
        ({"file": b"web: {title: f}", "reset": ["title"]}, {}),
        ({"file": b"web: {title: f}", "reset": ["title"], "values": {"title": "v"}}, {"title": "v"}),
        ({"values": {"port": "80"}}, {"port": 80}),  # the default, said explicitly, is stored
        ({"values": {"trust": "true"}}, {}),
    ],
)
def test_settings_are_stored_with_their_types(
    shop: World, asked: dict[str, Any], stored: dict[str, Any]
) -> None:
    shop.deploy()
    _set(shop, **asked)
    assert _stored(shop) == stored


def test_reset_takes_a_setting_away(shop: World) -> None:
    shop.deploy(settings={"title": "a", "port": 1})
    _set(shop, reset=["title"])
    assert _stored(shop) == {"port": 1}


def test_config_touches_every_unit(shop: World) -> None:
    shop.active(count=2)
    shop.forget_work()
    _set(shop, values={"title": "b"})
    assert shop.touched() == ["machine/0", "machine/1"]


def test_document_of_config(shop: World) -> None:
    shop.deploy(settings={"title": "a"}, trust=True)
    found = applications.config(shop.ctx, shop.model, "web")
    assert list(found) == ["application", "application-config", "charm", "settings"]
    assert (found["application"], found["charm"]) == ("web", "web")
    assert found["application-config"]["trust"]["value"] is True
    assert sorted(found["settings"]) == sorted(CONFIG)
    assert found["settings"]["title"]["source"] == "user"
    assert "value" not in found["settings"]["note"]


@pytest.mark.parametrize(
    ("values", "trust"), [({"trust": "true"}, 1), ({"trust": "false"}, 0), ({"trust": "T"}, 1)]
)
def test_trust_is_a_setting_too(shop: World, values: dict[str, str], trust: int) -> None:
    shop.deploy(trust=not trust)
    _set(shop, values=values)
    assert shop.application().trust == trust


def test_trust_is_reset(shop: World) -> None:
    shop.deploy(trust=True)
    _set(shop, reset=["trust"])
    assert shop.application().trust == 0


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"values": {"nope": "1"}}, 'parsing settings for application: unknown option "nope"'),
        (
            {"values": {"title": "x", "port": "many"}},
            'parsing settings for application: option "port" expected int, got "many"',
        ),
        ({"reset": ["nope"]}, 'parsing settings for application: unknown option "nope"'),
        ({"file": b"db: {title: x}"}, 'parsing settings for application: no settings found for "web"'),
        (
            {"file": b"web: {port: x}"},
            'parsing settings for application: option "port" expected int, got "x"',
        ),
        (
            {"file": b"web: {title: x}", "values": {"debug": "maybe"}},
            'parsing settings for application: option "debug" expected boolean, got "maybe"',
        ),
        (
            {"values": {"title": "x", "trust": "maybe"}},
            'trust: expected bool, got string("maybe")',
        ),
    ],
)
def test_refused_settings_change_nothing(shop: World, asked: dict[str, Any], text: str) -> None:
    shop.deploy()
    before = shop.dump()
    with pytest.raises(NotValid) as caught:
        _set(shop, **asked)
    assert caught.value.message == text
    assert shop.dump() == before


@pytest.mark.parametrize(
    "act",
    [
        lambda shop: applications.set_config(shop.ctx, shop.model, "nope", values={"a": "b"}),
        lambda shop: applications.config(shop.ctx, shop.model, "nope"),
        lambda shop: applications.set_trust(shop.ctx, shop.model, "nope", trusted=True),
        lambda shop: shop.refresh(shop.charms.make(files={"a": "b"}), "nope"),
    ],
)
def test_application_that_is_not_there(shop: World, act: Callable[[World], Any]) -> None:
    before = shop.dump()
    with pytest.raises(NotFound) as caught:
        act(shop)
    assert caught.value.message == 'application "nope" not found'
    assert shop.dump() == before


def test_config_changed_follows_a_change_only(shop: World) -> None:
    shop.active()
    shop.clear()
    _set(shop, values={"title": "new"})
    shop.settle()
    assert shop.of("web/0") == ["config-changed"]
    _set(shop, values={"title": "new"})
    shop.settle()
    assert shop.of("web/0") == ["config-changed"]
    _set(shop, values={"port": "80"})  # the default, but now it is stored
    shop.settle()
    assert shop.of("web/0") == ["config-changed"] * 2


def test_trust_runs_config_changed(shop: World) -> None:
    shop.active()
    shop.clear()
    for trusted in (True, True, False):
        applications.set_trust(shop.ctx, shop.model, "web", trusted=trusted)
        shop.settle()
    assert shop.of("web/0") == ["config-changed"] * 2


# --- refresh ----------------------------------------------------------------------------------------------


def test_refresh_puts_units_on_the_new_charm(shop: World) -> None:
    shop.active(count=2)
    shop.clear()
    shop.forget_work()
    assert shop.refresh(shop.charms.make(files={"src/new": "1"})) == (1, [])
    application = shop.application()
    assert (application.charm_url, application.charm_modified, application.force_charm) == (
        "local:web-1",
        1,
        0,
    )
    assert shop.touched() == ["machine/0", "machine/1"]
    shop.settle()
    assert shop.of("web/0") == ["upgrade-charm", "config-changed"]
    assert shop.of("web/1") == ["upgrade-charm", "config-changed", "leader-settings-changed"]
    assert shop.unit("web/0").charm_url == "local:web-1"
    assert shop.box("0").charms == {"web/0": "local:web-1"}


def test_same_archive_again_is_a_new_revision(shop: World) -> None:
    shop.active()
    shop.clear()
    assert shop.refresh(shop.charms.make())[0] == 1
    shop.settle()
    assert shop.of("web/0") == ["upgrade-charm", "config-changed"]


def test_settings_that_fit_come_along(shop: World) -> None:
    shop.active(settings={"title": "a", "port": 1, "note": "gone"})
    config = {**CONFIG, "port": {"type": "string"}}
    del config["note"]
    shop.refresh(shop.charms.make(config=config), values={"debug": "true"}, file=b"web: {ratio: 0.5}")
    assert _stored(shop, "local:web-1") == {"title": "a", "debug": True, "ratio": 0.5}
    assert _stored(shop)["note"] == "gone"  # for the units that are on the old charm yet
    shop.settle()
    assert _stored(shop) == {}


def test_units_on_the_old_charm_see_its_settings(shop: World) -> None:
    shop.active(settings={"title": "old"})
    shop.refresh(shop.charms.make(files={"a": "b"}), values={"title": "new"})
    shop.box().fail("upgrade-charm")
    prepared = shop.until("upgrade-charm")
    assert prepared.frame["context"]["config"]["title"] == "new"


def test_refresh_brings_new_peers(shop: World) -> None:
    shop.active()
    shop.clear()
    shop.refresh(shop.charms.make(peers={**PEERS, "gossip": {"interface": "g"}}))
    shop.settle()
    assert shop.of("web/0") == ["upgrade-charm", "config-changed", "gossip-relation-created"]


def test_refresh_may_trust(shop: World) -> None:
    shop.active()
    shop.refresh(shop.charms.make(files={"a": "b"}), trust=True)
    assert shop.application().trust == 1
    shop.refresh(shop.charms.make(files={"a": "c"}))
    assert shop.application().trust == 1


def test_the_last_refresh_decides_about_force(shop: World) -> None:
    shop.active()
    shop.refresh(shop.charms.make(files={"a": "b"}), force_units=True)
    assert shop.application().force_charm == 1
    shop.refresh(shop.charms.make(files={"a": "c"}))
    assert shop.application().force_charm == 0


def test_forced_refresh_reaches_a_unit_in_error(shop: World) -> None:
    shop.deploy()
    shop.box().fail("start", 3)
    shop.settle()
    shop.refresh(shop.charms.make(files={"a": "b"}))
    shop.settle()
    assert shop.unit("web/0").charm_url == "local:web-0"
    shop.refresh(shop.charms.make(files={"a": "c"}), force_units=True)
    shop.settle()
    assert shop.unit("web/0").charm_url == "local:web-2"
    assert shop.agent() == ("error", 'hook failed: "start"')


def test_dying_application_may_be_refreshed(shop: World) -> None:
    from pushjuju.services.lifecycle import removal

    shop.active()
    removal.remove_application(shop.ctx, shop.model, ["web"])
    assert shop.refresh(shop.charms.make(files={"a": "b"}))[0] == 1


@pytest.mark.parametrize(
    ("make", "more", "text"),
    [
        (lambda c: c.make("other"), {}, 'cannot refresh "web" to "other"'),
        (
            lambda c: c.make(
                subordinate=True, requires={"h": {"interface": "juju-info", "scope": "container"}}
            ),
            {},
            "cannot change an application's subordinacy",
        ),
        (
            lambda c: c.make(series=["noble"]),
            {},
            'web" to charm "local:web": cannot upgrade from single base "ubuntu@22.04" charm to a charm',
        ),
        (lambda c: c.make(files={"a": "b"}), {"values": {"nope": "1"}}, "validating config settings: "),
        (lambda c: c.make(files={"a": "b"}), {"file": b"web: {port: x}"}, "validating config settings: "),
        (
            lambda c: c.make(peers={"cluster": {"interface": "another"}}),
            {},
            'cannot upgrade application "web" to charm "local:web": would break relation "web:cluster"',
        ),
    ],
)
def test_refused_refresh_changes_nothing(
    shop: World, make: Callable[[Any], Any], more: dict[str, Any], text: str
) -> None:
    shop.active()
    before = shop.dump()
    with pytest.raises(PushjujuError) as caught:
        shop.refresh(make(shop.charms), **more)
    assert text in caught.value.message
    assert shop.dump() == before


def test_revision_of_a_refused_refresh_is_given_to_the_next(shop: World) -> None:
    shop.deploy()
    with pytest.raises(PushjujuError):
        shop.refresh(shop.charms.make(files={"a": "b"}), values={"nope": "1"})
    assert shop.refresh(shop.charms.make(files={"a": "c"}))[0] == 1


# --- resolved ---------------------------------------------------------------------------------------------


def _in_error(shop: World, count: int = 1) -> None:
    shop.deploy(count=count)
    for machine in shop.machine_ids():
        shop.box(machine).fail("start", 2)
    shop.settle()


def test_resolved_runs_the_hook_again(shop: World) -> None:
    _in_error(shop)
    assert shop.agent() == ("error", 'hook failed: "start"')
    shop.forget_work()
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=True)
    assert shop.unit("web/0").resolved == "retry-hooks"
    assert shop.touched() == ["machine/0"]
    shop.clear()
    shop.settle()
    assert shop.of("web/0") == ["start"]
    assert shop.agent() == ("error", 'hook failed: "start"')
    assert shop.unit("web/0").resolved == "none"  # one resolved serves one failure


def test_resolved_without_retry_skips_it(shop: World) -> None:
    _in_error(shop)
    shop.clear()
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=False)
    shop.settle()
    assert shop.of("web/0") == []
    assert shop.agent() == ("idle", "")
    assert shop.workload() == ("maintenance", "installing charm software")  # no `unknown` for a skipped start


def test_resolve_all(shop: World) -> None:
    _in_error(shop, 2)
    units.resolve(shop.ctx, shop.model, ["web/1"], retry=True)
    assert units.resolve_all(shop.ctx, shop.model, retry=True) == ["web/0"]
    assert units.resolve_all(shop.ctx, shop.model, retry=True) == []


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["web/0", "web/9"], 'unit "web/9" not found'),
        (["web/0", "web/1"], 'cannot set resolved mode for unit "web/1": already resolved'),
        (["web/0", "web/0"], 'cannot set resolved mode for unit "web/0": already resolved'),
        (["web/0", "ok/0"], 'unit "ok/0" is not in an error state'),
    ],
)
def test_refused_resolved(shop: World, names: list[str], text: str) -> None:
    _in_error(shop, 2)
    shop.active("ok")
    units.resolve(shop.ctx, shop.model, ["web/1"], retry=False)
    before = shop.dump()
    with pytest.raises(PushjujuError) as caught:
        units.resolve(shop.ctx, shop.model, names, retry=True)
    assert caught.value.message == text
    assert shop.dump() == before


# --- update-status ----------------------------------------------------------------------------------------


def _due(shop: World, unit: str = "web/0") -> datetime:
    return from_iso(str(shop.unit(unit).update_status_due))


def test_update_status_at_once(shop: World) -> None:
    shop.active(count=2)
    shop.clear()
    shop.forget_work()
    assert update_status.make_due(shop.ctx, shop.model, ["web/1"]) == ["web/1"]
    assert _due(shop, "web/1") == shop.clock.now()
    assert shop.touched() == ["machine/1"]
    shop.settle()
    assert (shop.of("web/0"), shop.of("web/1")) == ([], ["update-status"])
    assert _due(shop, "web/1") > shop.clock.now()


def test_update_status_of_all(shop: World) -> None:
    shop.active(count=2)
    shop.clear()
    assert update_status.make_due(shop.ctx, shop.model) == ["web/0", "web/1"]
    shop.settle()
    assert (shop.of("web/0"), shop.of("web/1")) == (["update-status"], ["update-status"])


def test_update_status_of_a_missing_unit(shop: World) -> None:
    shop.active()
    before = shop.dump()
    with pytest.raises(NotFound, match='unit "web/7" not found'):
        update_status.make_due(shop.ctx, shop.model, ["web/0", "web/7"])
    assert shop.dump() == before


def test_update_status_of_new_and_dying_units(shop: World) -> None:
    from pushjuju.services.lifecycle import removal

    shop.active()
    shop.deploy("new", packed=shop.charms.make("new"))
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    assert update_status.make_due(shop.ctx, shop.model) == []
