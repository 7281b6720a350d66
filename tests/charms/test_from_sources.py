"""Charms from their sources to the right status; scripts of trees run in a machine of their own."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.charms.client import Client
from tests.charms_tools import packing, trees
from tests.charms_tools.wheelhouse import wheel

pytestmark = pytest.mark.machine
# What hooks of public charms call on cloud images, and import.
_TOOLS = ("add-apt-repository", "crontab", "git", "logrotate", "rsyslogd", "ufw", "iptables", "rsync", "wget")
_MODULES = ("setuptools", "pkg_resources", "apt", "jinja2", "requests", "six", "yaml")


def test_source_trees_reach_their_status_on_one_machine(client: Client, tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    wheel(index, "fast")
    client.environ |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}
    for name, placed in (("linked-hooks", ()), ("ignored-venv", ("--to", "0"))):
        done = client.try_run("deploy", trees.copy(name, tmp_path), *placed)
        assert done.rc == 0, str(done)
    status = json.loads(client.try_run("status", "--format", "json").stdout)
    for name in ("linked-hooks", "ignored-venv"):
        unit = status["applications"][name]["units"][f"{name}/0"]
        assert unit["workload-status"] == unit["workload-status"] | {
            "current": "active", "message": "py3-none-any",
        }  # fmt: skip
        assert unit["juju-status"]["current"] == "idle"
    script = f"command -v {' '.join(_TOOLS)} >/dev/null && python3 -c 'import {', '.join(_MODULES)}'"
    done = client.try_run("exec", "--machine", "0", "--", f"{script} && systemctl is-active cron rsyslog")
    assert (done.rc, done.stdout.split()[:2]) == (0, ["active", "active"]), str(done)


def test_scripts_run_only_when_asked_for_and_in_a_machine_of_their_own(
    client: Client, tmp_path: Path
) -> None:
    tree = trees.copy("scripted", tmp_path)
    refused = client.try_run("pack", tree)
    assert refused.error.startswith('ERROR charm cannot be built here: part "charm" has "override-build"\n')
    assert "--allow-build-scripts" in refused.stderr
    done = client.try_run("pack", tree, "--allow-build-scripts", limit=400)
    assert done.rc == 0, str(done)
    with zipfile.ZipFile(client.work / "scripted.charm") as archive:
        assert archive.read("made.txt").decode().startswith("built-by-root-on-24.04\njq-")
        assert archive.read("venv/own.py") == b"X = 1\n"
        assert "dispatch" in archive.namelist()
    assert not (tree / "made.txt").exists()
    left = client.work / ".cache/pushjuju/build-machines"
    assert not list(left.glob("*.lock"))
    assert not list(left.glob("local/machines/*"))


def test_a_script_in_the_machine_uses_the_index_of_the_user_and_joins_the_other_parts(
    client: Client, tmp_path: Path
) -> None:
    """The index is a folder of this computer; the password of another index gets nowhere."""
    index = tmp_path / "index"
    index.mkdir()
    wheel(index, "fast")
    conf = (
        f"[global]\nno-index = true\nfind-links = {index}\nextra-index-url = https://a:s3cret-word@x.test/\n"
    )
    (tmp_path / "pip.conf").write_text(conf)
    client.environ.pop("PIP_FIND_LINKS", None)
    client.environ["PIP_CONFIG_FILE"] = str(tmp_path / "pip.conf")
    tree = trees.copy("mixed-parts", tmp_path)
    done = client.try_run("deploy", tree, "--allow-build-scripts", limit=400)
    assert done.rc == 0, str(done)
    shown = client.status()["applications"]["mixed-parts"]["application-status"]
    assert (shown["current"], shown["message"]) == (
        "active", "hello py3-none-any fast-1.0-py3-none-any.whl",
    )  # fmt: skip
    assert "s3cret-word" not in str(done)
    found = client.on("mixed-parts/0", "grep -rl s3cret-word /var/lib/juju /etc || true")
    assert found.strip() == ""


def test_deploy_and_refresh_build_packages_in_a_machine_of_its_own(client: Client, tmp_path: Path) -> None:
    """Both take a package that tells its version only when it is built; other scripts stay refused."""
    tree = trees.copy("built-version", tmp_path)
    refused = client.try_run("deploy", tree)
    assert refused.error.startswith('ERROR name and version of package "own" are known only when it is built')
    done = client.try_run("deploy", tree, "--allow-build-scripts", limit=400)
    assert done.rc == 0, str(done)
    assert client.status()["applications"]["built-version"]["application-status"]["message"] == "6.0"
    setup = tree / "own/setup.py"
    setup.write_text(setup.read_text().replace("2 * 3", "2 * 4"))
    assert "--allow-build-scripts" in client.try_run("refresh", "built-version", "--path", tree).stderr
    done = client.try_run("refresh", "built-version", "--path", tree, "--allow-build-scripts", limit=400)
    assert done.rc == 0, str(done)
    assert client.status()["applications"]["built-version"]["application-status"]["message"] == "8.0"
    assert not list((client.work / ".cache/pushjuju/build-machines").glob("*.lock"))


def test_a_reactive_charm_is_put_together_by_charm_tools_in_a_machine_of_its_own(
    client: Client, tmp_path: Path
) -> None:
    tree = trees.copy("reactive", tmp_path)
    refused = client.try_run("deploy", tree)
    assert 'part "charm" uses the plugin "reactive", which runs the code of layers' in refused.error
    assert "--allow-build-scripts" in refused.stderr
    client.environ["XDG_CACHE_HOME"] = str(packing.cache_dir())  # charm-tools are made once
    done = client.try_run("deploy", tree, "--allow-build-scripts", limit=500)
    assert done.rc == 0, str(done)
    shown = client.status()["applications"]["reactive"]["application-status"]
    assert (shown["current"], shown["message"]) == ("active", "built from a layer")
    found = client.run("exec", "--unit", "reactive/0", "--", "cat noted .build.manifest")
    assert 'VERSION_ID="24.04"' in found
    assert '"layers"' in found
