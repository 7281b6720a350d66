"""Users, and what they may do: added, disabled, removed; access granted and revoked."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode

import pytest

from tests.unit.cli.commands.model.test_model_commands import CHARM, ok, refused
from tests.world.commandline import Run

pytestmark = pytest.mark.usefixtures("unworked")


def test_a_user_is_added_shown_disabled_and_removed(lab: Run) -> None:
    out = ok(lab("add-user", "kim", "Kim K"))
    lines = out.splitlines()
    assert lines[:2] == ['User "Kim K (kim)" added', "Please send this command to kim:"]
    data = urlsafe_b64decode(lines[2].removeprefix("    pushjuju register "))
    assert b"kim" in data
    assert b"lab" in data
    assert lines[4] == (
        '"Kim K (kim)" has not been granted access to any models. '
        'You can use "pushjuju grant" to grant access.'
    )
    listed = json.loads(ok(lab("users", "--format", "json")))
    assert [(item["user-name"], item["access"]) for item in listed] == [
        ("admin", "superuser"),
        ("kim", "login"),
    ]
    assert listed[1]["last-connection"] == "never connected"
    ended = lab("disable-user", "kim")
    assert (ended.status, ended.err) == (0, 'User "kim" disabled\n')
    assert "kim" not in ok(lab("users"))
    assert "(disabled)" in ok(lab("users", "--all"))
    assert json.loads(ok(lab("show-user", "kim", "--format", "json")))["disabled"] is True
    assert lab("enable-user", "kim").err == 'User "kim" enabled\n'
    assert lab("remove-user", "kim", stdin="n\n").status == 1
    assert ok(lab("remove-user", "kim", "-y")) == 'User "kim" removed\n'
    refused(lab("show-user", "kim"), 'user "kim" not found')


def test_users_that_cannot_be(lab: Run) -> None:
    refused(lab("add-user", "no one"), 'failed to create user: invalid user name "no one"')
    refused(lab("add-user", "admin"), "failed to create user: username unavailable")
    refused(lab("disable-user", "admin"), "failed to disable user: cannot disable controller model owner")
    refused(lab("remove-user", "admin", "-y"), 'failed to delete user "admin"')
    refused(lab("enable-user", "ghost"), 'user "ghost" not found')
    refused(lab("change-user-password", "ghost"), 'user "ghost" not found')
    refused(lab("change-user-password", "--no-prompt", stdin="\n"), "cannot set an empty password")
    refused(lab("login", "--user", "kim"), 'cannot log into controller "lab": permission denied')
    refused(lab("login", "example.com"), "controller example.com not found")
    refused(lab("logout"), 'there is no login to controller "')
    refused(lab("register", "MEcTA2tpbQ"), "the text is not a registration string")
    assert lab("login").err == 'Welcome, admin. You are now logged into "lab".\n'


def test_access_is_granted_and_revoked_step_by_step(lab: Run) -> None:
    ok(lab("add-user", "kim"))
    ok(lab("grant", "kim", "write", "shop"))
    refused(
        lab("grant", "kim", "read", "shop"),
        'could not grant model access: user already has "read" access or greater',
    )
    shown = json.loads(ok(lab("show-model", "--format", "json")))["shop"]["users"]
    assert shown["kim"] == {"access": "write", "last-connection": "never connected"}
    assert json.loads(ok(lab("users", "shop", "--format", "json")))["kim"]["access"] == "write"
    listed = json.loads(ok(lab("models", "--user", "kim", "--format", "json")))["models"]
    assert [(item["name"], item["access"]) for item in listed] == [("admin/shop", "write")]
    ok(lab("revoke", "kim", "write", "shop"))
    assert json.loads(ok(lab("users", "shop", "--format", "json")))["kim"]["access"] == "read"
    ok(lab("revoke", "kim", "read", "shop"))
    assert "kim" not in json.loads(ok(lab("users", "shop", "--format", "json")))
    ok(lab("grant", "kim", "superuser"))
    assert json.loads(ok(lab("show-user", "kim", "--format", "json")))["access"] == "superuser"
    ok(lab("grant-cloud", "kim", "add-model", "local"))
    ok(lab("revoke-cloud", "kim", "add-model", "local"))


@pytest.mark.parametrize(
    ("words", "text", "status"),
    [
        (("grant",), "no user specified", 2),
        (("grant", "kim"), "no permission level specified", 2),
        (("grant", "kim", "write"), 'You have specified a model access permission "write".', 2),
        (("grant", "kim", "login", "shop"), 'You have specified a controller access permission "login".', 2),
        (("grant", "kim", "fly", "shop"), '"fly" model access not valid', 2),
        (("grant", "kim", "read", "shop", "shop.web"), "either specify model names or offer URLs", 2),
        (("grant", "kim", "read", "nowhere"), "model lab:admin/nowhere not found", 1),
        (("grant", "ghost", "read", "shop"), 'user "ghost" not found', 1),
        (("revoke", "kim", "read", "shop"), "could not revoke model access", 1),
        (("revoke", "admin", "read", "shop"), "could not revoke model access: admin is the owner", 1),
        (("grant-cloud", "kim", "add-model"), "no cloud specified", 2),
        (("grant-cloud", "kim", "read", "local"), '"read" cloud access not valid', 2),
        (("grant-cloud", "kim", "admin", "mars"), "cloud mars not found", 1),
        (("add-model", "x", "--owner", "ghost"), 'user "ghost" not found', 1),
        (("models", "--user", "ghost"), 'user "ghost" not found', 1),
    ],
)
def test_access_that_makes_no_sense(lab: Run, words: tuple[str, ...], text: str, status: int) -> None:
    ok(lab("add-user", "kim"))
    refused(lab(*words), text, status)


def test_external_users_need_not_be_added(lab: Run) -> None:
    ok(lab("grant", "bob@external", "write", "shop"))
    refused(
        lab("grant", "bob@external", "read", "shop"),
        'could not grant model access: user already has "read" access or greater',
    )
    users = json.loads(ok(lab("show-model", "--format", "json")))["shop"]["users"]
    assert users["bob@external"] == {"access": "write", "last-connection": "never connected"}
    assert json.loads(ok(lab("users", "shop", "--format", "json")))["bob@external"]["access"] == "write"
    assert "bob@external " in ok(lab("users", "shop"))
    listed = json.loads(ok(lab("models", "--user", "bob@external", "--format", "json")))["models"]
    assert [(item["name"], item["access"]) for item in listed] == [("admin/shop", "write")]
    ok(lab("revoke", "bob@external", "read", "shop"))
    assert "bob@external" not in json.loads(ok(lab("users", "shop", "--format", "json")))
    refused(lab("revoke", "bob@external", "read", "shop"), "could not revoke model access")


def test_what_is_known_of_external_users(lab: Run) -> None:
    assert ok(lab("show-user", "bob@external")) == 'user-name: bob@external\naccess: ""\n'
    ok(lab("grant", "everyone@external", "login"))
    assert json.loads(ok(lab("show-user", "bob@external", "--format", "json"))) == {
        "user-name": "bob@external",
        "access": "login",
    }
    ok(lab("grant", "bob@external", "superuser"))
    assert json.loads(ok(lab("show-user", "bob@external", "--format", "json")))["access"] == "superuser"
    assert "bob" not in ok(lab("users"))  # those of the controller are its own, as in Juju
    ok(lab("grant-cloud", "bob@external", "add-model", "local"))
    refused(lab("remove-user", "bob@external", "-y"), 'user "bob@external" not found')
    refused(lab("add-user", "bob@external"), "failed to create user: invalid user name")
    ok(lab("add-user", "kim"))
    ok(lab("grant", "kim@local", "read", "shop"))
    assert json.loads(ok(lab("users", "shop", "--format", "json")))["kim"]["access"] == "read"


@pytest.mark.parametrize("name", ["bob@", "@external", "b@ex ternal", "a@b@c", "-x@y.z", "x" * 300 + "@yy"])
def test_names_that_no_user_can_have(lab: Run, name: str) -> None:
    refused(lab("grant", "--", name, "read", "shop"), f'invalid username: "{name}"')
    assert lab("show-user", "--", name).status == 1


def test_external_users_of_an_offer(lab: Run) -> None:
    ok(lab("deploy", CHARM, "web", "--no-wait"))
    ok(lab("offer", "web:website"))
    for words in (("grant", "bob@example.com", "consume"), ("grant", "everyone@external", "consume")):
        ok(lab(*words, "admin/shop.web"))
    users = json.loads(ok(lab("show-offer", "admin/shop.web", "--format", "json")))["lab:admin/shop.web"][
        "users"
    ]
    assert users["bob@example.com"] == {"access": "consume"}
    assert users["everyone@external"] == {"access": "consume"}
    ok(lab("revoke", "everyone@external", "read", "shop.web"))
    users = json.loads(ok(lab("show-offer", "admin/shop.web", "--format", "json")))["lab:admin/shop.web"][
        "users"
    ]
    assert "everyone@external" not in users
    refused(lab("revoke", "everyone@external", "read", "shop.web"), "could not revoke offer access")
    ok(lab("grant", "everyone@external", "read", "shop.web"))


def test_a_model_of_an_external_user(lab: Run) -> None:
    ok(lab("add-model", "dev", "--owner", "bob@example.com", "--no-switch"))
    name = "bob@example.com/dev"
    assert json.loads(ok(lab("show-model", name, "--format", "json")))["dev"]["owner"] == "bob@example.com"
    ok(lab("add-user", "kim"))
    ok(lab("grant", "kim", "read", name))
    assert json.loads(ok(lab("users", name, "--format", "json")))["kim"]["access"] == "read"


def test_a_model_of_somebody_else(lab: Run) -> None:
    ok(lab("add-user", "kim"))
    ok(lab("add-model", "dev", "--owner", "kim", "--no-switch"))
    assert "kim/dev" not in ok(lab("models"))
    assert "kim/dev" in ok(lab("models", "--all"))
    ok(lab("show-model", "kim/dev"))
    refused(lab("remove-user", "kim", "-y"), 'failed to delete user "kim": models belong to the user: dev')
