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
from pushjuju.plugins.api.providers import StartRequest
from pushjuju.services.entities.model import model_config
from pushjuju.store.datadir import ControllerDir
from pushjuju.workers.provision import proxies, userdata
from tests.world.controller import TestController

CONFIG = {
    "cloudinit-userdata": "packages: [vim]\npreruncmd: [first]\npostruncmd: [last]\n",
    "http-proxy": "http://squid:3128/a b",
    "apt-mirror": "http://mirror.example/ubuntu",
    "enable-os-upgrade": False,
}


FULL = {
    **CONFIG,
    "cloudinit-userdata": (
        "write_files: [{path: /etc/motd, content: hello}]\n"
        "preruncmd: [[echo, a b], plain]\npostruncmd: [last]\n"
        "ntp: {enabled: true}\npackage_update: false\n"
    ),
    "apt-http-proxy": "squid:3128",
    "no-proxy": "localhost, 10.0.0.1",
    "snap-https-proxy": "http://squid:3128/it's",
    "snap-store-proxy": "abc",
    "snap-store-assertions": "type: account\n\nsig",
}
INHERITED = {"apt": {"primary": [{"arches": ["default"], "uri": "http://host/ubuntu"}]}}


def _request(base: str) -> StartRequest:
    return StartRequest(
        machine_id="0",
        base=Base.parse(base),
        nonce="machine-0:1",
        hostname="juju-abcdef-0",
        authorized_keys=("ssh-ed25519 AAAA me: 'you' \"# x",),
    )


@pytest.fixture
def controller(runtime: TestController) -> ControllerDir:
    """A controller with its key."""
    return runtime.ctx.controller


def _whole(
    controller: ControllerDir,
    base: str,
    config: dict[str, Any],
    folder: Path,
    inherited: dict[str, Any] | None = None,
) -> dict[str, Any]:
    request = _request(base)
    identity = userdata.host_identity(controller, request.nonce)
    return userdata.whole(request, config, identity, folder, inherited)


def _check_schema(document: dict[str, Any], folder: Path) -> None:
    if not shutil.which("cloud-init"):
        pytest.skip("cloud-init is not installed here: its own check of the document is left out")
    path = folder / "user-data"
    path.write_text("#cloud-config\n" + yaml.safe_dump(document))
    done = subprocess.run(["cloud-init", "schema", "-c", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("base", ["ubuntu@24.04", "debian@12", "centos@9"])
@pytest.mark.parametrize("config", [{}, CONFIG, FULL])
@pytest.mark.parametrize("inherited", [{}, INHERITED])
def test_every_form_is_a_valid_document_for_cloud_init(
    controller: ControllerDir,
    tmp_path: Path,
    base: str,
    config: dict[str, Any],
    inherited: dict[str, Any],
) -> None:
    document = _whole(controller, base, config, tmp_path, inherited)
    if inherited:
        assert document["apt"] == INHERITED["apt"]
    _check_schema(document, tmp_path)


@pytest.mark.parametrize("config", [{}, CONFIG])
@pytest.mark.parametrize("base", ["ubuntu@24.04", "debian@12", "centos@9"])
def test_what_a_document_holds(
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


def test_the_models_files_stand_beside_ours(controller: ControllerDir, tmp_path: Path) -> None:
    document = _whole(controller, "ubuntu@24.04", FULL, tmp_path)
    paths = [item["path"] for item in document["write_files"]]
    assert paths[-1] == "/etc/motd"
    assert "/etc/juju-proxy.conf" in paths
    assert (document["package_update"], document["ntp"]) == (False, {"enabled": True})


def test_commands_of_the_model_stand_around_ours(controller: ControllerDir, tmp_path: Path) -> None:
    before, plain, ours, off, after = _whole(controller, "ubuntu@24.04", FULL, tmp_path)["runcmd"]
    assert (before, plain, off, after) == ("echo 'a b'", "plain", "set +xe", "last")
    assert "snap set system proxy.https='http://squid:3128/it'\"'\"'s'" in ours


def test_apts_proxies(controller: ControllerDir, tmp_path: Path) -> None:
    def apt(**config: str) -> list[str]:
        found = _whole(
            controller, "debian@12", {name.replace("_", "-"): v for name, v in config.items()}, tmp_path
        )
        files = {item["path"]: item["content"] for item in found.get("write_files", [])}
        return files.get("/etc/apt/apt.conf.d/95-juju-proxy-settings", "").splitlines()

    assert apt(no_proxy="localhost") == []
    assert apt(http_proxy="a:1", juju_http_proxy="", no_proxy="x", juju_no_proxy="y")[0] == (
        'Acquire::http::Proxy "http://a:1";'
    )
    assert apt(juju_https_proxy="http://b", no_proxy="x", juju_no_proxy="y") == [
        'Acquire::https::Proxy "http://b";',
        'Acquire::http::Proxy::"y" "DIRECT";',
        'Acquire::https::Proxy::"y" "DIRECT";',
        'Acquire::ftp::Proxy::"y" "DIRECT";',
    ]
    assert (
        apt(ftp_proxy="f", apt_ftp_proxy='g"h', apt_no_proxy="z")[0] == 'Acquire::ftp::Proxy "ftp://g%22h";'
    )


def test_proxies_for_services(controller: ControllerDir, tmp_path: Path) -> None:
    document = _whole(controller, "ubuntu@24.04", {"http-proxy": 'http://u:p%"@h'}, tmp_path)
    files = {item["path"]: item["content"] for item in document["write_files"]}
    assert files["/etc/juju-proxy-systemd.conf"].splitlines()[-2:] == [
        "[Manager]",
        r'DefaultEnvironment="http_proxy=http://u:p%%\"@h" "HTTP_PROXY=http://u:p%%\"@h"',
    ]


def test_commands_for_snaps_are_shell() -> None:
    assert proxies.snap_commands({"snap-store-proxy": "abc"}) == []
    (url,) = proxies.snap_commands({"snap-store-proxy-url": "http://x/$(id)"})
    assert "'http://x/$(id)'" in url
    (given,) = proxies.snap_commands(FULL)
    for text in (url, given):
        assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0
    assert subprocess.run(["/bin/sh", "-ec", given], env={"PATH": "/nowhere"}, check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "keys"),
    [("", 1), ("ssh_keys: {rsa_private: x}", 0), ("ssh_keys: {rsa_private: x, rsa_public: ssh-rsa y}", 1)],
)
def test_host_keys_are_those_of_the_document(
    controller: ControllerDir, tmp_path: Path, text: str, keys: int
) -> None:
    document = _whole(controller, "ubuntu@24.04", {"cloudinit-userdata": text}, tmp_path)
    found = userdata.host_keys(document)
    assert (len(found), "ssh-rsa y" in found) == (keys, "rsa_public" in text)
    (tmp_path / "ubuntu.yaml.j2").write_text("timezone: UTC\n")
    assert userdata.host_keys(_whole(controller, "ubuntu@24.04", {}, tmp_path)) == ()


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
def test_bad_cloudinit_userdata_is_refused_when_it_is_set(runtime: TestController, text: str) -> None:
    with pytest.raises(NotValid, match=r"^cloudinit-userdata: "):
        runtime.write(lambda tx: model_config.change(tx, {"cloudinit-userdata": text}))


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (
            "container-inherit-properties",
            "apt-primary, users,x",
            "container-inherit-properties: users, x not allowed",
        ),
        ("juju-http-proxy", "http://a", "cannot specify both legacy proxy values and juju proxy values"),
        ("apt-mirror", "", "cannot clear apt-mirror"),
    ],
)
def test_what_juju_refuses(runtime: TestController, key: str, value: str, why: str) -> None:
    def change(values: dict[str, str]) -> None:
        runtime.write(lambda tx: model_config.change(tx, values))

    change(
        {
            "apt-mirror": "http://m",
            "ftp-proxy": "ftp://f",
            "container-inherit-properties": "ca-certs,apt-sources",
        }
    )
    with pytest.raises(NotValid, match=f"^{why}$"):
        change({key: value})
    with pytest.raises(NotValid, match="cannot clear apt-mirror"):
        runtime.write(lambda tx: model_config.change(tx, {}, ["apt-mirror"]))
    change({"apt-mirror": "http://n", "ftp-proxy": "", "juju-http-proxy": "http://a"})
