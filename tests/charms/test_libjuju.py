"""python-libjuju from PyPI against real machines; the server is `pushjuju controller run --api`."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.charms.client import HELLO, Client
from tests.world import how_to
from tests.world.libjuju import Model

WARNINGS = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
)
pytestmark = [pytest.mark.machine, WARNINGS]
PASSWORD = "a-password-of-tests"
WAIT = {"timeout": 120, "idle_period": 1, "check_freq": 0.2}


def serving(client: Client) -> str:
    """Serve a controller with the model `town`; return HOST:PORT."""
    client.run("bootstrap", "local", "here", "--add-model", "town", "--model-default", "mode=")
    client.run("change-user-password", "--no-prompt", stdin=f"{PASSWORD}\n")
    return listening(client.start("controller", "run", "--api", "127.0.0.1:0"))


def listening(process: subprocess.Popen[str]) -> str:
    """Return HOST:PORT of a server, once it listens."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"The API listens at (\S+);", line):
            return found[1]
    raise AssertionError("the server ended")


@asynccontextmanager
async def connected(client: Client, endpoint: str) -> AsyncIterator[Any]:
    """Connect to the model."""
    (ca,) = client.data.glob("controllers/*/api/ca.pem")
    (uuid,) = [item["model-uuid"] for item in client.json("models")["models"] if not item["is-controller"]]
    model = Model()
    await model.connect(
        endpoint=endpoint, uuid=uuid, username="admin", password=PASSWORD, cacert=ca.read_text()
    )
    try:
        yield model
    finally:
        await model.disconnect()


async def test_the_page_about_the_api(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands, then its program of python-libjuju, whose charm is packed here."""
    client.run("bootstrap", "local", "here", "--add-model", "web", "--model-default", "mode=")
    shell = how_to.Shell(tmp_path / "home", **client.environ)
    endpoint = ""

    def run(line: str) -> tuple[int, str]:
        nonlocal endpoint
        if line.startswith("pushjuju change-user-password"):
            return shell(line, stdin=f"{PASSWORD}\n{PASSWORD}\n")
        if "client-config" in line:  # as the page says, the server is restarted after `renew-ca`
            endpoint = listening(client.start("controller", "run", "--api", "127.0.0.1:0"))
            return shell(line.replace("192.0.2.7", endpoint))
        if "192.0.2.7" not in line:
            return shell(line)
        process = client.start(*line.replace("192.0.2.7", "127.0.0.1:0").split()[1:])
        assert listening(process)
        process.terminate()
        return 0, ""

    named = "named in a sentence"
    how_to.play(
        "serve-the-api.md",
        run,
        left_out={
            "pushjuju api": named,
            "pip install 'pushjuju[api]'": "the tests have the extra",
            "juju register": named,
            "juju login": named,
            "juju add-machine ssh:bob@192.0.2.9": "tests/charms/test_manual_api.py sends what it sends",
            "pushjuju add-machine ssh:...": named,
        },
    )
    monkeypatch.setenv("JUJU_DATA", str(tmp_path / "home" / "juju-home"))
    monkeypatch.chdir(tmp_path)
    shell(f"cd {tmp_path}; pushjuju pack {HELLO} && mv *.charm web.charm")
    page = how_to.block("serve-the-api.md", "python").replace("idle()", f"idle(**{WAIT})")
    names: dict[str, Any] = {}
    await eval(compile(page, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    await names["model"].disconnect()
    assert set(client.agents("hello-page").values()) == {("active", "idle")}
    assert len(client.units("hello-page")) == 2


async def test_a_model_of_real_machines(client: Client) -> None:
    async with connected(client, serving(client)) as model:
        front = await model.deploy(str(HELLO), application_name="front", num_units=1)
        await model.deploy(str(HELLO), application_name="back", num_units=1, to="0", config={"port": "8081"})
        await model.integrate("front:backend", "back:website")
        await model.wait_for_idle(["front", "back"], status="active", **WAIT)
        machine = model.machines["0"]
        assert machine.agent_status == "started"
        assert machine.safe_data["hardware-characteristics"]["mem"] > 0
        assert front.units[0].public_address == machine.dns_name

        action = await (await front.units[0].run_action("greet", name="Kim", times=2)).wait()
        assert action.status == "completed"
        assert "Kim" in str(action.results)

        uri = await model.add_secret("token", ["key=value"])
        assert uri.startswith("secret:")
        await model.grant_secret("token", "front")
        await model.remove_secret("token")

        await front.destroy()
        await model.block_until(lambda: "front" not in model.applications, timeout=60)
        assert list(model.applications) == ["back"]
