"""config, trust, refresh, resolved, update-status: what people change of applications and units."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.services.entities.charm import charms
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.views.listings import applications
from tests.world.charms import CONFIG, PEERS
from tests.world.controller import TestController


def _set(runtime: TestController, **more: Any) -> None:
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", **more))


def _stored(runtime: TestController, url: str = "local:web-0") -> dict[str, Any]:
    return runtime.read(lambda tx: charms.stored_settings(tx, "web", url))


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
    runtime: TestController, asked: dict[str, Any], stored: dict[str, Any]
) -> None:
    runtime.deploy()
    _set(runtime, **asked)
    assert _stored(runtime) == stored


def test_reset_takes_a_setting_away(runtime: TestController) -> None:
    runtime.deploy(settings={"title": "a", "port": 1})
    _set(runtime, reset=["title"])
    assert _stored(runtime) == {"port": 1}


def test_config_touches_every_unit(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.forget_work()
    _set(runtime, values={"title": "b"})
    assert runtime.touched() == ["machine/0", "machine/1"]


def test_document_of_config(runtime: TestController) -> None:
    runtime.deploy(settings={"title": "a"}, trust=True)
    found = applications.config(runtime.ctx, runtime.model, "web")
    assert list(found) == ["application", "application-config", "charm", "settings"]
    assert (found["application"], found["charm"]) == ("web", "web")
    assert found["application-config"]["trust"]["value"] is True
    assert sorted(found["settings"]) == sorted(CONFIG)
    assert found["settings"]["title"]["source"] == "user"
    assert "value" not in found["settings"]["note"]


@pytest.mark.parametrize(
    ("values", "trust"), [({"trust": "true"}, 1), ({"trust": "false"}, 0), ({"trust": "T"}, 1)]
)
def test_trust_is_a_setting_too(runtime: TestController, values: dict[str, str], trust: int) -> None:
    runtime.deploy(trust=not trust)
    _set(runtime, values=values)
    assert runtime.application().trust == trust


def test_trust_is_a_setting_in_a_file_too(runtime: TestController) -> None:
    runtime.deploy(trust=True)
    _set(runtime, file=b"web: {trust: false, title: x}")
    assert (runtime.application().trust, _stored(runtime)) == (False, {"title": "x"})


def test_trust_is_reset(runtime: TestController) -> None:
    runtime.deploy(trust=True)
    _set(runtime, reset=["trust"])
    assert runtime.application().trust is False


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
            'parsing settings for application: trust: expected bool, got string("maybe")',
        ),
    ],
)
def test_refused_settings_change_nothing(runtime: TestController, asked: dict[str, Any], text: str) -> None:
    runtime.deploy()
    before = runtime.dump()
    with pytest.raises(NotValid) as caught:
        _set(runtime, **asked)
    assert caught.value.message == text
    assert runtime.dump() == before


@pytest.mark.parametrize(
    "act",
    [
        lambda runtime: settings.set_config(
            runtime.ctx, runtime.model, ConfigOptions(application="nope", values={"a": "b"})
        ),
        lambda runtime: applications.config(runtime.ctx, runtime.model, "nope"),
        lambda runtime: settings.set_trust(runtime.ctx, runtime.model, "nope", trusted=True),
        lambda runtime: runtime.refresh(runtime.charms.make(files={"a": "b"}), "nope"),
    ],
)
def test_application_that_is_not_there(runtime: TestController, act: Callable[[TestController], Any]) -> None:
    before = runtime.dump()
    with pytest.raises(NotFound) as caught:
        act(runtime)
    assert caught.value.message == 'application "nope" not found'
    assert runtime.dump() == before


def test_config_changed_follows_a_change_only(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    _set(runtime, values={"title": "new"})
    runtime.settle()
    assert runtime.of("web/0") == ["config-changed"]
    _set(runtime, values={"title": "new"})
    runtime.settle()
    assert runtime.of("web/0") == ["config-changed"]
    _set(runtime, values={"port": "80"})  # the default, but now it is stored
    runtime.settle()
    assert runtime.of("web/0") == ["config-changed"] * 2


def test_trust_runs_config_changed(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    for trusted in (True, True, False):
        settings.set_trust(runtime.ctx, runtime.model, "web", trusted=trusted)
        runtime.settle()
    assert runtime.of("web/0") == ["config-changed"] * 2


# --- refresh ----------------------------------------------------------------------------------------------


def test_refresh_puts_units_on_the_new_charm(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    runtime.forget_work()
    assert runtime.refresh(runtime.charms.make(files={"src/new": "1"})) == (1, [])
    application = runtime.application()
    assert (application.charm_url, application.charm_modified, application.force_charm) == (
        "local:web-1",
        1,
        0,
    )
    assert runtime.touched() == ["machine/0", "machine/1"]
    runtime.settle()
    assert runtime.of("web/0") == ["upgrade-charm", "config-changed"]
    assert runtime.of("web/1") == ["upgrade-charm", "config-changed", "leader-settings-changed"]
    assert runtime.unit("web/0").charm_url == "local:web-1"
    assert runtime.played("0").charms == {"web/0": "local:web-1"}


def test_same_archive_again_is_a_new_revision(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    assert runtime.refresh(runtime.charms.make())[0] == 1
    runtime.settle()
    assert runtime.of("web/0") == ["upgrade-charm", "config-changed"]


def test_settings_that_fit_come_along(runtime: TestController) -> None:
    runtime.active(settings={"title": "a", "port": 1, "note": "gone"})
    config = {**CONFIG, "port": {"type": "string"}}
    del config["note"]
    runtime.refresh(runtime.charms.make(config=config), values={"debug": "true"}, file=b"web: {ratio: 0.5}")
    assert _stored(runtime, "local:web-1") == {"title": "a", "debug": True, "ratio": 0.5}
    assert _stored(runtime)["note"] == "gone"  # for the units that are on the old charm yet
    runtime.settle()
    assert _stored(runtime) == {}


def test_units_on_the_old_charm_see_its_settings(runtime: TestController) -> None:
    runtime.active(settings={"title": "old"})
    runtime.refresh(runtime.charms.make(files={"a": "b"}), values={"title": "new"})
    runtime.played().fail("upgrade-charm")
    dispatch = runtime.until("upgrade-charm")
    assert dispatch.frame["context"]["config"]["title"] == "new"


def test_refresh_brings_new_peers(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    runtime.refresh(runtime.charms.make(peers={**PEERS, "gossip": {"interface": "g"}}))
    runtime.settle()
    assert runtime.of("web/0") == ["upgrade-charm", "config-changed", "gossip-relation-created"]


def test_refresh_may_trust(runtime: TestController) -> None:
    runtime.active()
    runtime.refresh(runtime.charms.make(files={"a": "b"}), trust=True)
    assert runtime.application().trust is True
    runtime.refresh(runtime.charms.make(files={"a": "c"}))
    assert runtime.application().trust is True


def test_the_last_refresh_decides_about_force(runtime: TestController) -> None:
    runtime.active()
    runtime.refresh(runtime.charms.make(files={"a": "b"}), force_units=True)
    assert runtime.application().force_charm == 1
    runtime.refresh(runtime.charms.make(files={"a": "c"}))
    assert runtime.application().force_charm == 0


def test_forced_refresh_reaches_a_unit_in_error(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("start", 3)
    runtime.settle()
    runtime.refresh(runtime.charms.make(files={"a": "b"}))
    runtime.settle()
    assert runtime.unit("web/0").charm_url == "local:web-0"
    runtime.refresh(runtime.charms.make(files={"a": "c"}), force_units=True)
    runtime.settle()
    assert runtime.unit("web/0").charm_url == "local:web-2"
    assert runtime.agent() == ("error", 'hook failed: "start"')


def test_dying_application_may_be_refreshed(runtime: TestController) -> None:

    runtime.active()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    assert runtime.refresh(runtime.charms.make(files={"a": "b"}))[0] == 1


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
    runtime: TestController, make: Callable[[Any], Any], more: dict[str, Any], text: str
) -> None:
    runtime.active()
    before = runtime.dump()
    with pytest.raises(PushjujuError) as caught:
        runtime.refresh(make(runtime.charms), **more)
    assert text in caught.value.message
    assert runtime.dump() == before


def test_revision_of_a_refused_refresh_is_given_to_the_next(runtime: TestController) -> None:
    runtime.deploy()
    with pytest.raises(PushjujuError):
        runtime.refresh(runtime.charms.make(files={"a": "b"}), values={"nope": "1"})
    assert runtime.refresh(runtime.charms.make(files={"a": "c"}))[0] == 1


# --- resolved ---------------------------------------------------------------------------------------------


def _in_error(runtime: TestController, count: int = 1) -> None:
    runtime.deploy(count=count)
    for machine in runtime.machine_ids():
        runtime.played(machine).fail("start", 2)
    runtime.settle()


def test_resolved_runs_the_hook_again(runtime: TestController) -> None:
    _in_error(runtime)
    assert runtime.agent() == ("error", 'hook failed: "start"')
    runtime.forget_work()
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    assert runtime.unit("web/0").resolved == "retry-hooks"
    assert runtime.touched() == ["machine/0"]
    runtime.clear()
    runtime.settle()
    assert runtime.of("web/0") == ["start"]
    assert runtime.agent() == ("error", 'hook failed: "start"')
    assert runtime.unit("web/0").resolved == "none"  # one resolved serves one failure


def test_resolved_without_retry_skips_it(runtime: TestController) -> None:
    _in_error(runtime)
    runtime.clear()
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=False)
    runtime.settle()
    assert runtime.of("web/0") == []
    assert runtime.agent() == ("idle", "")
    assert runtime.workload() == (
        "maintenance",
        "installing charm software",
    )  # no `unknown` for a skipped start


def test_resolve_all(runtime: TestController) -> None:
    _in_error(runtime, 2)
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/1"], retry=True)
    assert unit_requests.resolve_all(runtime.ctx, runtime.model, retry=True) == ["web/0"]
    assert unit_requests.resolve_all(runtime.ctx, runtime.model, retry=True) == []


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["web/0", "web/9"], 'unit "web/9" not found'),
        (["web/0", "web/1"], 'cannot set resolved mode for unit "web/1": already resolved'),
        (["web/0", "web/0"], 'cannot set resolved mode for unit "web/0": already resolved'),
        (["web/0", "ok/0"], 'unit "ok/0" is not in an error state'),
    ],
)
def test_refused_resolved(runtime: TestController, names: list[str], text: str) -> None:
    _in_error(runtime, 2)
    runtime.active("ok")
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/1"], retry=False)
    before = runtime.dump()
    with pytest.raises(PushjujuError) as caught:
        unit_requests.resolve(runtime.ctx, runtime.model, names, retry=True)
    assert caught.value.message == text
    assert runtime.dump() == before


# --- update-status ----------------------------------------------------------------------------------------


def _due(runtime: TestController, unit: str = "web/0") -> datetime:
    return runtime.unit(unit).update_status_due


def test_update_status_at_once(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    runtime.forget_work()
    assert unit_requests.make_due(runtime.ctx, runtime.model, ["web/1"]) == ["web/1"]
    assert _due(runtime, "web/1") == runtime.clock.now()
    assert runtime.touched() == ["machine/1"]
    runtime.settle()
    assert (runtime.of("web/0"), runtime.of("web/1")) == ([], ["update-status"])
    assert _due(runtime, "web/1") > runtime.clock.now()


def test_update_status_of_all(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    assert unit_requests.make_due(runtime.ctx, runtime.model) == ["web/0", "web/1"]
    runtime.settle()
    assert (runtime.of("web/0"), runtime.of("web/1")) == (["update-status"], ["update-status"])


def test_update_status_of_a_missing_unit(runtime: TestController) -> None:
    runtime.active()
    before = runtime.dump()
    with pytest.raises(NotFound, match='unit "web/7" not found'):
        unit_requests.make_due(runtime.ctx, runtime.model, ["web/0", "web/7"])
    assert runtime.dump() == before


def test_update_status_of_new_and_dying_units(runtime: TestController) -> None:

    runtime.active()
    runtime.deploy("new", packed=runtime.charms.make("new"))
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert unit_requests.make_due(runtime.ctx, runtime.model) == []
