"""The requests of terraform-provider-juju and of the client `juju`, and the fields that they read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.status import Life
from pushjuju.services.entities.model import models
from tests.charms_tools.hubstore import JAMMY, HubStore
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.transcripts import Player
from tests.world.vault import TOKEN, StandIn

FOLDER = Path(__file__).parent / "transcripts"
SQL = {"interface": "sql"}
WEB: dict[str, Any] = {
    "peers": None,
    "requires": {"db": SQL},
    "resources": {"data": {"type": "file", "filename": "data.txt"}},
    "files": {"actions.yaml": "backup: {params: {to: {type: string}}}\n", "actions/backup": "#!/bin/sh\n"},
}
MAKE_THEIR_OWN = (
    "terraform/02-",
    "terraform/03-",
    "terraform/07-",
)  # transcripts that begin with an empty model


@pytest.fixture
def shop(
    house: TestController, packs: Charms, hub: HubStore, request: pytest.FixtureRequest
) -> TestController:
    """A model with two subnets, a store of charms and, for most transcripts, two applications."""
    for number in (3, 4):
        hub.add("web", packs.make(**WEB).path, revision=number, bases=[JAMMY], resources={"data": 1})
    hub.add_resource("web", "data", 1, b"first\n", "data.txt")
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    for cidr in ("10.1.0.0/24", "10.2.0.0/24"):
        house.write(lambda tx, cidr=cidr: tx.run("subnet_add", cidr=cidr))
    if not request.node.callspec.id.startswith(MAKE_THEIR_OWN):
        house.deploy("web", packed=packs.make(**WEB))
        house.deploy("db", packed=packs.make("db", peers=None, provides={"server": SQL}))
        house.settle()
    return house


def work(house: TestController) -> None:
    """Let the machines work, and end the models that users destroy."""
    house.settle()
    with house.ctx.store.read() as tx:
        dying = [model.uuid for model in models.listed(tx) if model.life != Life.ALIVE]
    for uuid in dying:
        with house.ctx.write(uuid) as tx:
            models.purge(tx)


def charms(packs: Charms) -> dict[str, object]:
    """Return two archives of a charm with their hashes, as variables of a transcript."""
    found: dict[str, object] = {}
    for name, text in (("first", ""), ("second", "pass\n")):
        packed = packs.make(**{**WEB, "files": {**WEB["files"], "src/charm.py": text}})
        body = packed.path.read_bytes()
        digest = hashlib.sha256(body).hexdigest()
        found |= {f"{name}_charm": body, f"{name}_sha256": digest, f"{name}_sha7": digest[:7]}
    return found


@pytest.mark.parametrize(
    "transcript",
    [
        pytest.param(json.loads(file.read_text()), id=f"{file.parent.name}/{file.stem}")
        for file in sorted(FOLDER.glob("*/*.json"))
    ],
)
async def test_a_client_finds_what_it_reads(
    transcript: dict[str, Any], shop: TestController, served: ApiWorld, packs: Charms, vault_server: StandIn
) -> None:
    known = {"model": shop.model, "vault": vault_server.url, "vault_token": TOKEN, **charms(packs)}
    await Player(served, lambda: work(shop), **known).play(transcript)
