"""A user registers, logs in and out, and chooses a model of a controller on another computer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.client import accounts
from pushjuju.core.clock import SystemClock
from pushjuju.store.datadir import DataDir
from pushjuju.store.processes import enlist, lives_here
from pushjuju.web import certificates
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import PASSWORD, ServedHouse


def test_a_registered_user_sees_the_models_that_she_may_read(kim: Home) -> None:
    assert "shop*" in ok(kim("models")).replace("admin/", "")
    assert json.loads(ok(kim("whoami", "--format", "json"))) == {
        "controller": "team", "model": "admin/shop", "user": "kim",
    }  # fmt: skip
    listed = json.loads(ok(kim("controllers", "--format", "json")))["controllers"]["team"]
    assert (listed["user"], listed["access"], listed["current-model"]) == ("kim", "login", "admin/shop")


def test_the_password_stays_out_of_every_output(kim: Home) -> None:
    record = kim.folder / "data" / "remotes" / "team.toml"
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700
    for words in (("controllers", "--format", "yaml"), ("whoami",), ("models",), ("status", "--debug")):
        ended = kim(*words)
        assert PASSWORD not in ended.out + ended.err


def test_a_user_who_has_logged_out_is_told_how_to_log_in(kim: Home) -> None:
    assert "no longer logged into any controllers" in kim("logout").err
    ended = kim("status")
    assert ended.status == 1
    assert 'ERROR kim is not logged in to controller "team"\npushjuju login -c team' in ended.err
    assert 'Welcome, kim. You are now logged into "team".' in kim("login", "team", stdin=f"{PASSWORD}\n").err
    ok(kim("status"))


def test_a_wrong_password_is_not_kept(kim: Home) -> None:
    ended = kim("login", "-c", "team", "--no-prompt", stdin="wrong\n")
    assert ended.status == 1
    assert "refuses the login of kim: invalid entity name or password\npushjuju login -c team" in ended.err
    ok(kim("status"))


def test_a_registration_string_works_once(served: ServedHouse, tmp_path: Path) -> None:
    text = served.invite("kim")
    for number, status in enumerate((0, 1)):
        folder = tmp_path / f"home{number}"
        folder.mkdir()
        ended = Home(folder)("register", text, stdin=f"team\n{PASSWORD}\n{PASSWORD}\n")
        assert ended.status == status, ended.err
    assert (
        "refuses the registration of kim: secret key not valid\na registration string works once" in ended.err
    )


def test_a_text_that_is_no_registration_string_is_refused(tmp_path: Path) -> None:
    for text in ("x", "MEcTA2tpbQ", "////", "é"):
        ended = Home(tmp_path)("register", text)
        assert "ERROR the text is not a registration string\ncopy the whole line" in ended.err


def test_a_name_that_is_taken_is_refused_before_the_string_is_used_up(kim: Home, served: ServedHouse) -> None:
    text, answers = served.invite("lee"), f"team\n{PASSWORD}\n{PASSWORD}\n"
    assert 'ERROR controller "team" already exists' in kim("register", text, stdin=answers).err
    ok(kim("register", "--replace", text, stdin=answers))
    assert '"user":"lee"' in ok(kim("whoami", "--format", "json"))


def test_a_server_that_is_gone_is_reported(kim: Home, served: ServedHouse) -> None:
    served.stop()
    ended = kim("status")
    assert ended.status == 1
    assert f'controller "team" does not answer at {served.endpoint}: ' in ended.err
    assert "on the host of the controller, `pushjuju api` serves it" in ended.err


def test_a_server_with_the_certificate_of_another_controller_is_refused(kim: Home, other_ca: str) -> None:
    folder = DataDir(kim.folder / "data")
    accounts.save(folder, replace(accounts.find(folder, "team"), ca=other_ca))
    ended = kim("status")
    assert ended.status == 1
    assert 'has no certificate of controller "team"\n' in ended.err
    assert "if the controller was made anew: pushjuju unregister team, then register" in ended.err
    assert PASSWORD not in ended.err


@pytest.fixture
def other_ca(tmp_path: Path) -> str:
    """The certificate of a CA that signed nothing here."""
    return certificates.ready(tmp_path / "other", ["127.0.0.1"], SystemClock().now()).ca.read_text()


def test_a_command_without_a_remote_form_says_where_it_works(kim: Home, served: ServedHouse) -> None:
    ended = kim("create-backup")
    assert ended.status == 1
    only_there = "and this command works only there: the backup holds the keys of the host"
    assert f'ERROR controller "team" is on another computer, {only_there}\n' in ended.err
    assert f"run the command on the host of the controller: {served.endpoint}" in ended.err


def test_a_disabled_user_is_refused(kim: Home, served: ServedHouse) -> None:
    ok(served.host("disable-user", "kim"))
    assert "refuses the login of kim" in kim("status").err


def test_a_model_that_is_gone_is_not_found(kim: Home) -> None:
    ended = kim("status", "-m", "team:admin/nothing")
    assert ended.status == 1
    assert "ERROR model team:admin/nothing not found\npushjuju models -c team" in ended.err


def test_a_forgotten_controller_is_not_current(kim: Home) -> None:
    ok(kim("unregister", "team", "--no-prompt"))
    assert not (kim.folder / "data" / "remotes" / "team.toml").exists()
    assert "No controllers registered." in kim("status").err


def test_a_user_learns_the_addresses_of_all_hosts_of_a_controller(
    kim: Home, served: ServedHouse, house: TestController
) -> None:
    api = ["127.0.0.1:1", "192.0.2.8:17070", "[2001:db8::8]:17070"]
    with house.ctx.store.write() as tx:
        enlist(tx, house.ctx.clock.now(), "1", lives_here, api=api)
    ok(kim("models"))
    shown = json.loads(ok(kim("controllers", "--format", "json")))
    assert shown["controllers"]["team"]["api-endpoints"] == [served.endpoint, *api[1:]]
