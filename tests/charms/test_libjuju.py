"""python-libjuju from PyPI against real machines; the server is `pushjuju controller run --api`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.charms.client import HELLO, Client
from tests.world.libjuju import Model

pytestmark = [
    pytest.mark.machine,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
    ),
]
PASSWORD = "a-password-of-tests"
WAIT = {"timeout": 120, "idle_period": 1, "check_freq": 0.2}


def serving(client: Client) -> str:
    """Serve a controller with the model `town`; return HOST:PORT."""
    client.run("bootstrap", "local", "here", "--add-model", "town", "--model-default", "mode=")
    client.run("change-user-password", "--no-prompt", stdin=f"{PASSWORD}\n")
    process = client.start("controller", "run", "--api", "127.0.0.1:0")
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
