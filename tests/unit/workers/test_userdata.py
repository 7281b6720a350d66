"""The cloud-config documents of new machines."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.plugins.types import StartRequest
from pushjuju.services import model_config
from pushjuju.state.datadir import ControllerDir
from pushjuju.workers import userdata
from tests.unit.services.world import World

CONFIG = {
    "cloudinit-userdata": "packages: [vim]\npreruncmd: [first]\npostruncmd: [last]\n",
    "http-proxy": "http://squid:3128/a b",
    "apt-mirror": "http://mirror.example/ubuntu",
    "enable-os-upgrade": False,
}


def _request(base: str) -> StartRequest:
    return StartRequest(
        machine_id="0",
        base=Base.parse(base),
        nonce="machine-0:1",
        hostname="juju-abcdef-0",
        authorized_keys=("ssh-ed25519 AAAA me: 'you' \"# x",),
    )


@pytest.fixture
def controller(shop: World) -> ControllerDir:
    """A controller with its key."""
    return shop.ctx.controller


def _whole(controller: ControllerDir, base: str, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    request = _request(base)
    identity = userdata.host_identity(controller, request.nonce)
    return userdata.whole(request, config, identity, folder)


@pytest.mark.parametrize("base", ["ubuntu@24.04", "debian@12", "centos@9"])
@pytest.mark.parametrize("config", [{}, CONFIG])
def test_every_form_is_a_valid_document(
    controller: ControllerDir, tmp_path: Path, base: str, config: dict[str, Any]
) -> None:
    document = _whole(controller, base, config, tmp_path)
    assert document["hostname"] == "juju-abcdef-0"
    (user,) = document["users"]
    assert (user["name"], user["ssh_authorized_keys"]) == ("ubuntu", ["ssh-ed25519 AAAA me: 'you' \"# x"])
    assert document["ssh_keys"]["ed25519_public"].startswith("ssh-ed25519 ")
    assert document["package_upgrade"] is not bool(config)
    if config:
        assert document["packages"][-1] == "vim"
        assert document["runcmd"] == ["first", "set +xe", "last"]
        files = {item["path"]: item["content"] for item in document["write_files"]}
        assert "http_proxy='http://squid:3128/a b'" in files["/etc/juju-proxy.conf"]
        assert files["/etc/apt/apt.conf.d/95-juju-proxy-settings"].startswith('Acquire::http::Proxy "http')
    if not shutil.which("cloud-init"):
        pytest.skip("cloud-init is not installed here: its own check of the document is left out")
    path = tmp_path / "user-data"
    path.write_text("#cloud-config\n" + yaml.safe_dump(document))
    done = subprocess.run(["cloud-init", "schema", "-c", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_host_key_belongs_to_its_request(controller: ControllerDir) -> None:
    one = userdata.host_identity(controller, "a")
    assert one.public == userdata.host_identity(controller, "a").public
    assert one.public != userdata.host_identity(controller, "b").public
    assert "PRIVATE" not in repr(one)
    assert one.private.startswith("-----BEGIN OPENSSH PRIVATE KEY-----")


def test_a_template_of_the_users_wins(controller: ControllerDir, tmp_path: Path) -> None:
    (tmp_path / "ubuntu.yaml.j2").write_text("timezone: {{ hostname | tojson }}\n")
    assert _whole(controller, "ubuntu@24.04", {}, tmp_path) == {"timezone": "juju-abcdef-0"}


@pytest.mark.parametrize("text", ["{{ nothing }}", "{% if %}", "[1]", "a: [", "{{ ''.__class__.__mro__ }}"])
def test_a_bad_template_is_named(controller: ControllerDir, tmp_path: Path, text: str) -> None:
    (tmp_path / "debian.yaml.j2").write_text(text)
    with pytest.raises(NotValid, match=r"the template debian\.yaml\.j2 of user data"):
        _whole(controller, "debian@12", {}, tmp_path)


def test_what_a_machine_without_user_data_gets() -> None:
    assert userdata.wanted({}) == {}
    found = userdata.wanted(CONFIG)
    files = {item["path"]: item["content"] for item in found.pop("write_files")}
    assert files["/etc/apt/apt.conf.d/95-juju-proxy-settings"].startswith('Acquire::http::Proxy "http')
    assert found == {
        "package_update": True,
        "packages": ["vim"],
        "runcmd": ["first", "set +xe", "last"],
        "apt": {"primary": [{"arches": ["default"], "uri": "http://mirror.example/ubuntu"}]},
    }


@pytest.mark.parametrize("text", ["users: []", "a: [", "- x", "runcmd: [x]", "packages: vim"])
def test_bad_cloudinit_userdata_is_refused_when_it_is_set(shop: World, text: str) -> None:
    with pytest.raises(NotValid, match=r"^cloudinit-userdata: "):
        shop.write(lambda tx: model_config.change(tx, shop.model, {"cloudinit-userdata": text}))
