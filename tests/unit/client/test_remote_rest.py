"""Secrets with content, spaces, offers, tasks, clouds and backends on a controller of another computer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.client.test_remote_work import ACTIONS
from tests.world.charms import Charms
from tests.world.commandline import Ended, Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse


def first(ended: Ended) -> str:
    """Return the first line of what a command wrote to stderr."""
    return ended.err.partition("\n")[0]


@pytest.fixture
def administrator(kim: Home, served: ServedHouse) -> Home:
    """Kim, who is a superuser of the controller."""
    ok(served.host("grant", "kim", "superuser"))
    return kim


def test_a_secret_is_shown_as_on_the_host_with_its_content_for_administrators(
    kim: Home, served: ServedHouse, house: TestController, packs: Charms
) -> None:
    house.active("web")
    ok(kim("add-secret", "token", "token=some-text", "--info", "for web"))
    ok(kim("update-secret", "token", "token=another-text"))
    ok(kim("grant-secret", "token", "web"))
    for flags in ([], ["--reveal"], ["--revisions"], ["--revision", "1"], ["--reveal", "-r", "1"]):
        for form in ("yaml", "json"):
            words = ("show-secret", "token", *flags, "--format", form)
            near = ok(served.host(*words))
            assert ok(kim(*words)) == near, flags
            assert ("text" in near) == ("--reveal" in flags)
    ok(served.host("revoke", "kim", "write", "shop"))
    assert "another-text" not in ok(kim("show-secret", "token"))
    ended = kim("show-secret", "token", "--reveal")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("ERROR permission denied\n")


def test_a_space_is_removed_and_gets_subnets(kim: Home, served: ServedHouse, house: TestController) -> None:
    house.active("web")
    for name in ("db", "sql"):
        ok(kim("add-space", name))
    ok(kim("set-constraints", "web", "spaces=db"))
    ended = kim("remove-space", "db")
    assert 'Cannot remove space "db"' in ended.err
    assert '- "db" is used as a constraint on: web' in ended.err
    ended = kim("remove-space", "db", "--force", stdin="n\n")
    assert '- "db" is used as a constraint on: web' in ended.err
    assert "db" in ok(kim("spaces"))
    assert kim("remove-space", "db", "--force", "--yes").err == 'removed space "db"\n'
    assert kim("remove-space", "db").err == served.host("remove-space", "db").err
    missing = ("move-to-space", "sql", "192.0.2.0/24")
    assert kim(*missing).err.startswith('ERROR cannot update space "sql": subnet "192.0.2.0/24" not found')


def test_a_task_that_waits_is_cancelled(kim: Home, house: TestController, packs: Charms) -> None:
    house.active("web", packed=packs.make(files=ACTIONS))
    ok(kim("run", "web/0", "greet", "--background"))
    shown = ok(kim("cancel-task", "2"))
    assert "status: cancelled" in shown
    assert "unit: web/0" in shown
    assert "not found" in kim("cancel-task", "7").err


def as_kim(shown: str, controller: str) -> str:
    """Return what kim sees of offers that admin sees: the client's name of the controller, her access."""
    return (
        shown.replace(f"{controller}:", "team:")
        .replace(f"{controller}  ", "team  ")
        .replace("access: admin\n  endpoints", "access: read\n  endpoints")
        .replace('"access":"admin","endpoints"', '"access":"read","endpoints"')
        .replace("  admin   ", "  read   ")
    )


def test_offers_are_found_and_shown_as_on_the_host(
    kim: Home, house: TestController, served: ServedHouse, packs: Charms
) -> None:
    assert kim("find-offers").err == served.host("find-offers").err
    house.active("database", packed=packs.make("database", provides={"db": {"interface": "sql"}}))
    ok(kim("offer", "database:db", "sql"))
    ok(served.host("grant", "kim", "read", "admin/shop.sql"))
    for words in (
        ["find-offers"],
        ["find-offers", "--interface", "sql"],
        ["find-offers", "--url", "admin/shop.sql"],
        ["show-offer", "sql"],
        ["show-offer", "admin/shop.sql"],
    ):
        for form in ("tabular", "yaml", "json"):
            near = ok(served.host(*words, "--format", form))
            far = ok(kim(*words, "--format", form))
            assert far.split() == as_kim(near, house.ctx.controller.name).split(), words
    assert "read" in ok(kim("show-offer", "sql"))
    assert kim("find-offers", "--interface", "other").err.startswith("ERROR no matching application offers")
    assert kim("show-offer", "none").status == 1


def test_a_superuser_changes_the_controller(administrator: Home, served: ServedHouse, tmp_path: Path) -> None:
    kim = administrator
    ok(kim("controller-config", "auditing-enabled=false"))
    assert ok(kim("controller-config")) == ok(served.host("controller-config"))
    assert ok(kim("controller-config", "auditing-enabled")) == ok(
        served.host("controller-config", "auditing-enabled")
    )
    assert 'key "none" not found in controller "team"' in kim("controller-config", "none").err
    assert ok(kim("secret-backends")) == ok(served.host("secret-backends"))
    assert ok(kim("show-secret-backend", "internal")) == ok(served.host("show-secret-backend", "internal"))
    for words in (["add-secret-backend", "b", "none", "k=v"], ["update-secret-backend", "b", "k=v"]):
        assert first(kim(*words)) == first(served.host(*words)), "the API carries no hints"
    assert kim("remove-secret-backend", "b").err == served.host("remove-secret-backend", "b").err
    served.invite("lee")
    ok(kim("grant-cloud", "lee", "add-model", "local"))
    ok(kim("revoke-cloud", "lee", "add-model", "local"))
    assert '"read" cloud access not valid' in kim("grant-cloud", "lee", "read", "local").err
    ok(kim("disable-command", "all"))
    ok(kim("enable-destroy-controller"))
    assert "all" not in ok(kim("disabled-commands"))
    assert kim("upgrade-model").err == "no upgrades available\n"
    assert 'credential "kim/none" for cloud' in kim("set-credential", "local", "none").err


def test_a_user_without_rights_changes_nothing_of_the_controller(kim: Home) -> None:
    for words in (
        ["controller-config", "auditing-enabled=false"],
        ["grant-cloud", "kim", "admin", "local"],
        ["enable-destroy-controller"],
        ["add-secret-backend", "b", "vault", "endpoint=http://x"],
        ["secret-backends", "--reveal", "--format", "json"],
    ):
        ended = kim(*words)
        assert ended.status == 1, words
        assert "permission denied" in ended.err, words


def test_a_command_of_the_host_says_why_and_what_to_type_instead(kim: Home, served: ServedHouse) -> None:
    assert kim("explain", "web/0").err == (
        'ERROR controller "team" is on another computer, and this command works only there: '
        "the API does not carry what the command reads\n"
        f"run the command on the host of the controller: {served.endpoint}\n"
        "from here: pushjuju show-status-log UNIT\n"
    )
