"""jubilant, Canonical's library for charm tests, from PyPI, with our program in the place of juju's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jubilant
import pytest

from tests.charms import prober
from tests.charms.client import HELLO, PUSHJUJU, Client

pytestmark = pytest.mark.machine
_STORAGE = {"data": {"type": "filesystem", "minimum-size": "4M"}}


@pytest.fixture
def controller(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A controller for machines on this computer; commands return at once, as those of juju do."""
    return bootstrapped(client, monkeypatch, "local")


def bootstrapped(client: Client, monkeypatch: pytest.MonkeyPatch, cloud: str) -> Client:
    """Return a person whose commands are those of juju, with a controller on a cloud."""
    for name in set(os.environ) - set(client.environ):
        monkeypatch.delenv(name)
    for name, value in client.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PUSHJUJU_WAIT", "0")
    # temp_model runs `juju`: a link by that name is all it takes.
    folder = client.work / "bin"
    folder.mkdir()
    (folder / "juju").symlink_to(PUSHJUJU)
    monkeypatch.setenv("PATH", f"{folder}:{PUSHJUJU.parent}:{os.environ['PATH']}")
    client.run("bootstrap", cloud, "here", "--model-default", "mode=")
    return client


@pytest.fixture
def juju(controller: Client) -> Iterator[jubilant.Juju]:
    """A model for one test, as charm tests have it."""
    with jubilant.temp_model() as juju:
        juju.wait_timeout = 90
        yield juju
        name = str(juju.model)
    assert name.startswith("jubilant-")
    _until_models(controller, 0)


def test_a_charm_test_with_jubilant(juju: jubilant.Juju, tmp_path: Path) -> None:
    """Everything that a usual integration test calls."""
    version = juju.version()
    assert (version.major, version.minor) == (3, 6)
    juju.deploy(
        HELLO, "web", config={"greeting": "Hi", "banner": False}, constraints={"mem": "512M"}, trust=True
    )
    status = juju.wait(jubilant.all_active, error=jubilant.any_error, delay=0.3)
    juju.wait(jubilant.all_agents_idle, delay=0.3)
    assert (status.model.name, status.model.type) == (str(juju.model), "iaas")
    assert status.apps["web"].charm_name == "hello-page"
    assert status.apps["web"].units["web/0"].is_active
    assert status.get_units("web")["web/0"].open_ports == ["8080/tcp"]
    assert status.machines["0"].base is not None

    config = juju.config("web")
    assert (config["greeting"], config["banner"], config["port"], config["refresh"]) == (
        "Hi",
        False,
        8080,
        2.5,
    )
    assert juju.config("web", app_config=True) == {"trust": True}
    juju.config("web", {"greeting": "Moin", "banner": True, "port": 8081}, reset=["refresh"])
    juju.wait(lambda status: status.apps["web"].units["web/0"].open_ports == ["8081/tcp"], delay=0.3)
    assert "Moin, I am web/0" in juju.ssh("web/0", "curl", "-s", "http://127.0.0.1:8081/")
    assert juju.ssh("web/leader", "cat", ssh_options=["-o", "BatchMode=yes"]) == ""
    with pytest.raises(jubilant.CLIError) as failed:
        juju.ssh("web/0", "ls /nowhere")
    assert failed.value.returncode == 2
    assert "/nowhere" in failed.value.stderr

    (tmp_path / "file").write_text("there and back")
    juju.scp(tmp_path / "file", "web/0:/tmp/file")
    juju.scp("web/0:/tmp/file", tmp_path / "back", scp_options=["-p"])
    assert (tmp_path / "back").read_text() == "there and back"
    log = juju.debug_log(limit=1000)
    assert 'ran "install" hook' in log
    assert len(juju.debug_log(limit=2).splitlines()) == 2

    assert juju.model_config()["update-status-hook-interval"] == "5m"
    juju.model_config({"update-status-hook-interval": "10m"})
    assert juju.model_config()["update-status-hook-interval"] == "10m"
    juju.model_config(reset="update-status-hook-interval")
    model = juju.show_model()
    assert (model.short_name, model.cloud, model.model_type) == (str(juju.model), "local", "iaas")
    unit = juju.show_unit("web/0")
    assert (unit.leader, unit.machine) == (True, "0")

    juju.add_unit("web", num_units=1)
    juju.wait(lambda status: len(status.get_units("web")) == 2, delay=0.3)
    juju.wait(jubilant.all_agents_idle, delay=0.3)
    juju.remove_unit("web/1")
    juju.wait(lambda status: list(status.get_units("web")) == ["web/0"], delay=0.3)
    juju.trust("web", remove=True)
    juju.refresh("web", path=HELLO)
    juju.wait(
        lambda status: status.apps["web"].charm_rev == 1 and jubilant.all_agents_idle(status), delay=0.3
    )
    with pytest.raises(jubilant.CLIError, match="no charm was found"):
        juju.deploy("./nowhere")
    juju.remove_application("web", force=True)
    juju.wait(lambda status: not status.apps, delay=0.3)


def test_errors_and_several_models(juju: jubilant.Juju, controller: Client) -> None:
    """Waits see errors; models of one client do not disturb each other; status is JSON to the letter."""
    other = jubilant.Juju(cli_binary="pushjuju")
    other.add_model("second", config={"automatically-retry-hooks": False})
    assert juju.model != other.model
    assert other.status().model.name == "second"
    assert other.status().apps == {}
    raw = json.loads(other.cli("status", "--format", "json"))
    assert set(raw) >= {"model", "machines", "applications", "storage", "controller"}
    with pytest.raises(jubilant.CLIError) as failed:
        other.config("nobody")
    assert failed.value.stdout == "{}\n"
    assert failed.value.stderr == 'ERROR application "nobody" not found\n'
    with pytest.raises(TimeoutError):
        other.wait(lambda status: "web" in status.apps, timeout=1, delay=0.3)
    other.destroy_model("second", destroy_storage=True, force=True)
    _until_models(controller, 1)


def test_the_calls_that_the_usual_test_leaves_out(
    juju: jubilant.Juju, controller: Client, tmp_path: Path
) -> None:
    """Every other call of jubilant's that makes sense on machine models, on one machine."""
    tree = prober.charm(tmp_path, storage=_STORAGE, resources={"blob": {"type": "file", "filename": "b"}})
    (tmp_path / "blob").write_text("first")
    juju.add_machine(base="ubuntu@22.04", constraints={"mem": "512M"})
    juju.model_constraints({"mem": "512M", "allocate-public-ip": False})
    assert juju.model_constraints() == {"mem": 512, "allocate-public-ip": False}
    juju.deploy(
        tree, "one", bind={"up": "alpha"}, config={"word": "w", "truth": False}, constraints={"mem": "256M"},
        resources={"blob": str(tmp_path / "blob")}, storage={"data": "tmpfs,8M"}, to="0",
        base="ubuntu@22.04", force=True,
    )  # fmt: skip
    juju.deploy(tree, "two", base="ubuntu@22.04", to=["0"], resources={"blob": str(tmp_path / "blob")})
    juju.integrate("one:down", "two:up")
    juju.wait(lambda now: jubilant.all_active(now) and jubilant.all_agents_idle(now), delay=0.3)
    assert juju.config("one")["truth"] is False
    _run_and_exec(juju)
    _secrets(juju)
    _keys_and_copies(juju, tmp_path)
    _storage_and_refresh(juju, tree, tmp_path)
    _offers(juju, controller)
    juju.remove_relation("one:down", "two:up")
    juju.wait(lambda now: "down" not in now.apps["one"].relations, delay=0.3)
    juju.remove_application("one", "two", destroy_storage=True)
    juju.wait(lambda now: not now.apps and not now.storage.storage, delay=0.3)


def _run_and_exec(juju: jubilant.Juju) -> None:
    task = juju.run("one/leader", "do", {"script": "echo said; action-set a.b=1 c=two; action-log told"})
    assert (task.status, task.return_code, task.stdout) == ("completed", 0, "said\n")
    assert (task.results["a"], task.results["c"]) == ({"b": "1"}, "two")
    assert any(line.endswith("told") for line in task.log)
    with pytest.raises(jubilant.TaskError) as failed:
        juju.run("one/0", "do", {"script": "action-fail 'no way'"}, wait=30)
    assert (failed.value.task.status, failed.value.task.message) == ("failed", "no way")
    with pytest.raises(ValueError, match="nothing"):
        juju.run("one/0", "nothing")
    with pytest.raises(ValueError, match="one/9"):
        juju.run("one/9", "do")
    with pytest.raises(TimeoutError):
        juju.run("one/0", "do", {"script": "sleep 1"}, wait=0.001)
    assert juju.exec("printf '%s|' a 'b c'; config-get word", unit="one/0").stdout == "a|b c|w\n"
    assert juju.exec("echo", "b  c", unit="two/leader").stdout in ("b  c\n", "b c\n")
    assert juju.exec("hostname", machine=0).return_code == 0
    with pytest.raises(jubilant.TaskError) as failed:
        juju.exec("echo out; echo err >&2; exit 3", unit="one/0")
    wrong = failed.value.task
    assert (wrong.return_code, wrong.stdout, wrong.stderr) == (3, "out\n", "err\n")
    with pytest.raises(TimeoutError):
        juju.exec("sleep 1", machine=0, wait=0.001)
    with pytest.raises(ValueError, match="one/9"):
        juju.exec("true", unit="one/9")


def _secrets(juju: jubilant.Juju) -> None:
    secret = juju.add_secret("token", {"password": "hunter2"}, info="for one")
    assert secret.startswith("secret:")
    juju.grant_secret("token", ["one", "two"])
    juju.grant_secret(secret, "one")
    read = f"secret-get {secret} password"
    assert juju.exec(read, unit="one/0").stdout.strip() == "hunter2"
    assert juju.exec(f"secret-get {secret} --label=l >/dev/null; echo $?", unit="two/0").stdout == "0\n"
    juju.update_secret("token", {"password": "other"}, info="anew", name="renamed", auto_prune=True)
    (listed,) = juju.secrets()
    assert (listed.name, listed.revision, listed.description) == ("renamed", 2, "anew")
    assert listed.uri.unique_identifier == secret.unique_identifier
    assert juju.secrets(owner=f"model-{juju.show_model().model_uuid}") == [listed]
    assert juju.exec(f"{read} --refresh", unit="one/0").stdout.strip() == "other"
    shown = juju.show_secret(secret, reveal=True)
    assert (shown.content, bool(shown.checksum)) == ({"password": "other"}, True)
    granted = {entry.target for entry in juju.show_secret(secret).access or ()}
    assert granted == {"application-one", "application-two"}
    assert 2 in [entry.revision for entry in juju.show_secret("renamed", revisions=True).revisions or ()]
    assert juju.show_secret("renamed", reveal=True, revision=2).content == {"password": "other"}
    juju.remove_secret("renamed", revision=1)
    assert [entry.revision for entry in juju.show_secret(secret, revisions=True).revisions or ()] == [2]
    juju.remove_secret(secret)
    with pytest.raises(jubilant.CLIError, match="not found"):
        juju.show_secret(secret)


def _keys_and_copies(juju: jubilant.Juju, folder: Path) -> None:
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@here", "-f", key], check=True)
    juju.add_ssh_key(key.with_suffix(".pub").read_text().strip())
    assert "me@here" in juju.cli("ssh-keys")
    options = ["-i", str(key), "-o", "IdentitiesOnly=yes"]
    juju.wait(jubilant.all_agents_idle, delay=0.3)
    assert juju.ssh("one/0", "whoami", ssh_options=options, user="ubuntu", host_key_checks=False)
    assert juju.ssh(0, "echo", "a", "b") == "a b\n"
    assert juju.cli("ssh", "one/0", "cat", stdin="by stdin\nzwei ✓\n") == "by stdin\nzwei ✓\n"
    (folder / "tree").mkdir()
    (folder / "tree" / "leaf").write_text("leaf")
    juju.scp(folder / "tree", "one/leader:/tmp/", host_key_checks=False, scp_options=["-r", "-C"])
    assert juju.ssh("0", "cat /tmp/tree/leaf") == "leaf"
    juju.remove_ssh_key("me@here")
    assert "me@here" not in juju.cli("ssh-keys")


def _storage_and_refresh(juju: jubilant.Juju, tree: Path, folder: Path) -> None:
    storage = juju.status().storage
    assert storage.storage["data/0"].attachments is not None
    assert list(storage.storage["data/0"].attachments.units) == ["one/0"]
    assert next(iter(storage.filesystems.values())).pool == "tmpfs"
    assert juju.exec("cat $(resource-get blob)", unit="one/0").stdout == "first"
    (folder / "blob").write_text("second")
    juju.refresh("one", path=tree, config={"word": "new"}, resources={"blob": str(folder / "blob")},
                 storage={"data": "tmpfs,8M"}, force=True, trust=True)  # fmt: skip
    juju.wait(lambda now: now.apps["one"].charm_rev == 2 and jubilant.all_agents_idle(now), delay=0.3)
    assert juju.exec("cat $(resource-get blob)", unit="one/0").stdout == "second"
    assert (juju.config("one")["word"], juju.config("one", app_config=True)["trust"]) == ("new", True)
    juju.add_unit("two", num_units=2, to=["0", "0"])
    juju.wait(lambda now: len(now.get_units("two")) == 3 and jubilant.all_agents_idle(now), delay=0.3)
    juju.remove_unit("two/1", "two/2", destroy_storage=True)
    juju.wait(lambda now: list(now.get_units("two")) == ["two/0"], delay=0.3)
    unit = juju.show_unit("two/0")
    assert {item.endpoint: item.related_endpoint for item in unit.relation_info or ()} == {
        "up": "down", "ring": "ring"}  # fmt: skip
    related = next(item for item in unit.relation_info or () if item.endpoint == "up")
    assert related.related_units is not None
    assert related.related_units["one/0"].in_scope
    assert related.related_units["one/0"].data["ingress-address"]


def _offers(juju: jubilant.Juju, controller: Client) -> None:
    juju.offer("two", endpoint=["up", "spare"], name="ups")
    other = jubilant.Juju(cli_binary="pushjuju")
    other.add_model("far", controller="here", config={"update-status-hook-interval": "10m"})
    assert (other.model, other.show_model().short_name) == ("here:far", "far")
    other.consume(f"{juju.model}.ups", "near", controller="here", owner="admin")
    saas = other.status().app_endpoints["near"]
    assert saas.url == f"here:admin/{juju.model}.ups"
    assert {name: item.interface for name, item in saas.endpoints.items()} == {
        "up": "probe", "spare": "spare"}  # fmt: skip
    offered = juju.status().offers["ups"]
    assert (offered.app, sorted(offered.endpoints)) == ("two", ["spare", "up"])
    assert juju.show_model("here:admin/far").name == "admin/far"
    other.cli("remove-saas", "near")
    juju.wait(lambda now: not now.offers["ups"].total_connected_count, delay=0.3)
    juju.cli("remove-offer", "-y", "-c", "here", "--force", f"admin/{juju.model}.ups", include_model=False)
    other.destroy_model("here:far", destroy_storage=True, no_wait=True, force=True, timeout=30)
    _until_models(controller, 1)


def _until_models(controller: Client, count: int) -> None:
    """Wait until a controller has so many models."""
    controller.until(lambda: len(controller.models()) == count)
