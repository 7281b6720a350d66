"""Commands that are one request: each changes the model of another computer as it does on the host."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.remote import forms, table
from pushjuju.client.connection import VERSIONS
from pushjuju.web import registry
from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse

RESOURCE = {"page": {"type": "file", "filename": "page.html"}}
STORAGE = {"data": {"type": "filesystem", "multiple": {"range": "0-"}, "location": "/srv/data"}}


@pytest.fixture
def web(house: TestController, packs: Charms) -> None:
    """The application web with a unit."""
    house.active("web", packed=packs.make("web", resources=RESOURCE, storage=STORAGE))


def test_every_request_is_a_method_that_servers_offer() -> None:
    registry.load_all()
    root = Root()
    for word, asked in table.REQUESTS.items():
        command = root.get_command(click.Context(root), word)
        assert command is not None
        assert command.name == word
        on = registry.On.CONTROLLER if asked.of_controller else registry.On.MODEL
        assert registry.find(asked.facade, VERSIONS[asked.facade], asked.method, on), word
        assert word not in forms.FORMS


@pytest.mark.usefixtures("web")
def test_settings_of_applications_and_models_change(kim: Home, served: ServedHouse) -> None:
    for words, asked, shown in (
        (["trust", "web"], ["config", "web", "trust"], "true"),
        (["trust", "web", "--remove"], ["config", "web", "trust"], "false"),
        (["set-constraints", "web", "mem=2G", "cores=2"], ["constraints", "web"], "cores=2 mem=2048M"),
        (["set-model-constraints", "mem=1G"], ["model-constraints"], "mem=1024M"),
        (["model-config", "http-proxy=http://x"], ["model-config", "http-proxy"], "http://x"),
        (["model-config", "--reset", "http-proxy"], ["model-config", "http-proxy"], ""),
        (["set-application-base", "web", "ubuntu@22.04"], ["show-application", "web"], "base: ubuntu@22.04"),
        (["disable-command", "destroy-model", "ask first"], ["disabled-commands"], "ask first"),
        (["enable-command", "destroy-model"], ["disabled-commands"], ""),
        (["create-storage-pool", "fast", "rootfs", "a=b"], ["storage-pools"], "fast"),
        (["update-storage-pool", "fast", "a=c"], ["storage-pools"], "a=c"),
        (["add-space", "db"], ["spaces"], "db"),
        (["rename-space", "db", "sql"], ["spaces"], "sql"),
    ):
        ok(kim(*words))
        assert shown in ok(served.host(*asked)), words
    assert 'added space "more" with no subnets' in kim("add-space", "more").err
    ok(kim("remove-storage-pool", "fast"))
    ok(kim("reload-spaces"))
    assert kim("remove-storage-pool", "fast").err == 'ERROR pool "fast" not found\n'
    assert 'application "none" not found' in kim("set-constraints", "none", "mem=1G").err
    assert "relation 7 not found" in kim("suspend-relation", "7").err
    assert "machine 0 is not in an error state" in kim("retry-provisioning", "0").err


@pytest.mark.usefixtures("web")
def test_secrets_are_added_changed_granted_and_removed(
    kim: Home, served: ServedHouse, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("very-secret-text")
    assert ok(kim("add-secret", "token", f"token#file={file}", "--info", "for web")).startswith("secret:")
    ok(kim("update-secret", "token", "token=another-text", "--name", "renamed"))
    ok(kim("grant-secret", "renamed", "web"))
    assert 'application "none" not found' in kim("grant-secret", "renamed", "none").err
    shown = ok(served.host("show-secret", "renamed", "--reveal"))
    for part in ("another-text", "for web", "application-web", "revision: 2"):
        assert part in shown
    assert "another-text" not in ok(kim("show-secret", "renamed"))
    ok(kim("revoke-secret", "renamed", "web"))
    ok(kim("remove-secret", "renamed", "--revision", "1"))
    ok(kim("remove-secret", "renamed"))
    assert kim("remove-secret", "renamed").err == 'ERROR secret "renamed" not found\n'


@pytest.mark.usefixtures("web")
def test_storage_is_added_detached_and_removed(kim: Home, house: TestController) -> None:
    ok(kim("add-storage", "web/0", "data=1G"))
    house.settle()
    assert "data/0" in ok(kim("storage"))
    assert kim("detach-storage", "data/0").err == "detaching data/0\n"
    house.settle()
    assert "storage not alive" in kim("attach-storage", "web/0", "data/0").err
    assert 'storage instance "data/7" not found' in kim("remove-storage", "data/7").err


@pytest.mark.usefixtures("web")
def test_a_resource_gets_another_file(kim: Home, served: ServedHouse, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("a page")
    ok(kim("attach-resource", "web", f"page={file}"))
    assert "page" in ok(served.host("resources", "web"))
    ended = kim("attach-resource", "web", "page=none.html")
    assert 'file for resource "page": open none.html: no such file or directory' in ended.err
    assert 'resource "web/none" not found' in kim("attach-resource", "web", f"none={file}").err


def test_keys_are_removed(kim: Home, served: ServedHouse) -> None:
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIOW+2UnlwbCpZqLVDSQZhpy5hBoPsEKMSsmwLBoWyjp kim@laptop"
    ok(kim("add-ssh-key", key))
    assert "kim@laptop" in ok(kim("ssh-keys"))
    ok(kim("remove-ssh-key", "kim@laptop"))
    assert "kim@laptop" not in ok(kim("ssh-keys"))


def test_an_administrator_of_a_model_shares_it(kim: Home, served: ServedHouse) -> None:
    served.invite("lee")
    ok(kim("grant", "lee", "read", "admin/shop"))
    users = json.loads(ok(kim("users", "admin/shop", "--format", "json")))
    assert users["lee"]["access"] == "read"
    ok(kim("revoke", "lee", "read", "admin/shop"))
    assert "lee" not in ok(kim("users", "admin/shop"))
    assert "lee" not in ok(kim("users"))  # only superusers see others
    assert ok(kim("show-user")).startswith("user-name: kim\naccess: login\n")
    ended = kim("grant", "lee", "superuser")
    assert ended.err == (
        'ERROR permission denied\nask an administrator of controller "team" for more access, such as: '
        "pushjuju grant kim admin MODEL, or for the controller: pushjuju grant kim superuser\n"
    )


def test_a_superuser_manages_users(kim: Home, served: ServedHouse) -> None:
    served.invite("lee")
    ok(served.host("grant", "kim", "superuser"))
    ok(kim("disable-user", "lee"))
    near, far = (ok(run("users", "--all", "--format", "json")) for run in (served.host, kim))
    assert [item["user-name"] for item in json.loads(far)] == [item["user-name"] for item in json.loads(near)]
    assert "lee" not in ok(kim("users"))
    ok(kim("enable-user", "lee"))
    ok(kim("grant", "lee", "superuser"))
    assert "access: superuser" in ok(kim("show-user", "lee"))
    assert kim("remove-user", "lee", stdin="n\n").status == 1
    assert ok(kim("remove-user", "lee", "--yes")) == 'User "lee" removed\n'
    assert 'user "lee" not found' in kim("enable-user", "lee").err
