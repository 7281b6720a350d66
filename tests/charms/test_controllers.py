"""Controllers that go with real machines: in order, by force, and without their store."""

from __future__ import annotations

import pytest

from pushjuju.testing.machines import LocalCloud
from tests.charms.client import HELLO, Client

pytestmark = pytest.mark.machine


def test_a_controller_goes_with_its_models_and_machines(client: Client, local_cloud: LocalCloud) -> None:
    client.run("bootstrap", "local", "lab", "--add-model", "shop")
    client.run("deploy", HELLO, "web")
    folders = client.machine_folders()
    assert [local_cloud.leftovers(folder) for folder in folders] != [[]]
    done = client.try_run("destroy-controller", "lab", "--no-prompt")
    assert done.rc == 1
    assert "admin/shop (alive)" in done.stderr
    done = client.try_run("destroy-controller", "lab", "--no-prompt", "--destroy-all-models")
    assert (done.rc, done.stdout) == (0, ""), str(done)
    lines = done.stderr.splitlines()
    for text in (
        "Destroying controller",
        "Waiting for model resources to be reclaimed",
        "Waiting for 1 model(s), 1 machine(s), 1 application(s)",
        "All models reclaimed, cleaning up controller machines",
    ):
        assert text in lines, str(done)
    assert [local_cloud.leftovers(folder) for folder in folders] == [[]]
    assert not (client.data / "controllers" / "lab").exists()


def test_a_killed_controller_ends_its_machines_also_when_the_command_died(
    client: Client, local_cloud: LocalCloud
) -> None:
    client.run("bootstrap", "local", "lab", "--add-model", "shop")
    client.run("deploy", HELLO, "web", limit=300)
    folders = client.machine_folders()
    assert [local_cloud.leftovers(folder) for folder in folders] != [[]]
    _kill_the_command_in_the_middle(client)
    assert (client.data / "controllers" / "lab").exists()
    done = client.try_run("kill-controller", "lab", "--no-prompt", "-t", "0s")
    assert (done.rc, done.stdout) == (0, ""), str(done)
    assert [local_cloud.leftovers(folder) for folder in folders] == [[]]
    assert not (client.data / "controllers" / "lab").exists()


def _kill_the_command_in_the_middle(client: Client) -> None:
    first = client.start("kill-controller", "lab", "--no-prompt", "-t", "0s")
    assert first.stderr is not None
    assert any(line == "Ending model admin/shop directly\n" for line in first.stderr)
    first.kill()
    first.communicate()
