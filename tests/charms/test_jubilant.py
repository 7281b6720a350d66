"""jubilant, Canonical's library for charm tests, from PyPI, with our program in the place of juju's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import jubilant
import pytest

from tests.charms.client import HELLO, PUSHJUJU, Client

pytestmark = pytest.mark.machine


@pytest.fixture
def controller(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A controller for machines on this computer; commands return at once, as those of juju do."""
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
    client.run("bootstrap", "local", "here", "--model-default", "mode=")
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


def _until_models(controller: Client, count: int) -> None:
    """Wait until a controller has so many models."""
    controller.until(lambda: len(controller.json("models")["models"]) == count)
