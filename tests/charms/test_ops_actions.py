"""Actions of a real ops charm, and what its library reads of them."""

from __future__ import annotations

from pathlib import Path

import jubilant
import pytest
import yaml

from tests.charms.client import PUSHJUJU, Client
from tests.charms_tools.packing import ops_charm
from tests.charms_tools.unpacking import unpack

pytestmark = pytest.mark.machine
UNIT = "test-hookcmds/0"


def _charm(folder: Path) -> Path:
    """Return the charm `test_hookcmds` without its storage and resources."""
    unpack(ops_charm("test_hookcmds"), folder, revision=0)
    path = folder / "metadata.yaml"
    document = yaml.safe_load(path.read_text())
    kept = {key: value for key, value in document.items() if key not in ("storage", "resources")}
    path.write_text(yaml.safe_dump(kept))
    return folder


@pytest.fixture(scope="module")
def charmed(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A unit of the charm."""
    shared_client.run("deploy", _charm(tmp_path_factory.mktemp("charm") / "hookcmds"))
    return shared_client


@pytest.fixture
def juju(charmed: Client, monkeypatch: pytest.MonkeyPatch) -> jubilant.Juju:
    """Jubilant on that model."""
    for name, value in charmed.environ.items():
        monkeypatch.setenv(name, value)
    return jubilant.Juju(cli_binary=str(PUSHJUJU))


def test_an_ops_charm_reads_parameters_and_sets_results(juju: jubilant.Juju) -> None:
    task = juju.run(UNIT, "test-action-params", {"message": "hello-from-hookcmds"})
    assert task.success
    assert task.results["received"] == "hello-from-hookcmds"
    assert int(task.results["param-count"]) == 1
    assert task.log


def test_an_ops_charm_fails_an_action(juju: jubilant.Juju) -> None:
    with pytest.raises(jubilant.TaskError) as failed:
        juju.run(UNIT, "fail-action", {"message": "intentional failure"})
    assert failed.value.task.message == "intentional failure"
    assert juju.status().apps["test-hookcmds"].units[UNIT].juju_status.current == "idle"


@pytest.mark.parametrize(
    "action",
    ["get-status", "get-all-config", "check-leadership", "test-logging", "get-network-info", "test-ports",
     "test-goal-state"],
)  # fmt: skip
def test_hook_tools_work_in_actions(juju: jubilant.Juju, action: str) -> None:
    assert juju.run(UNIT, action).success


def test_what_an_action_changes_is_kept(juju: jubilant.Juju) -> None:
    assert juju.run(UNIT, "test-unit-state", {"key": "k", "value": "v"}).success
    with pytest.raises(jubilant.TaskError) as failed:
        juju.run(UNIT, "test-unit-state")
    assert "Uncaught KeyError in charm code" in failed.value.task.stderr
    assert failed.value.task.message == "exit status 1"


def test_an_event_by_way_of_exec(juju: jubilant.Juju) -> None:
    done = juju.exec("JUJU_DISPATCH_PATH=hooks/update-status ./dispatch; echo ended $?", unit=UNIT)
    assert done.stdout.endswith("ended 0\n"), done
