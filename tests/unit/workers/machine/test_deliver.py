"""resource-get on the controller's side: who gets what, and when it is sent."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import DiskFull, LeaseLost
from pushjuju.services.entities.application import resources
from pushjuju.services.requests.application import pending_resources
from pushjuju.workers.machine import deliver
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedSession


@pytest.fixture
def town(runtime: TestController, tmp_path: Path) -> TestController:
    """Two applications, each with a resource of its own."""
    for name in ("web", "db"):
        (tmp_path / f"{name}.txt").write_text(name)
        packed = runtime.charms.make(name, resources={name: {"type": "file", "filename": f"{name}.txt"}})
        runtime.deploy(name, packed=packed, resources={name: str(tmp_path / f"{name}.txt")})
    return runtime


async def ask(town: TestController, session: Any, unit: str, *argv: str) -> tuple[int, Any]:
    rc, out, err = await deliver.answer(town.ctx, session, town.model, unit, ["--", *argv])
    assert bool(out) != bool(err)
    return rc, json.loads(out) if out else err.decode()


async def test_it_is_sent_when_the_machine_wants_it(town: TestController) -> None:
    played = PlayedMachine(id="0")
    told = {
        "path": "web.txt",
        "size": 3,
        "sha256": hashlib.sha256(b"web").hexdigest(),
        "sha384": hashlib.sha384(b"web").hexdigest(),
    }
    assert await ask(town, PlayedSession(played), "web/0", "web") == (0, told)
    assert played.blobs == []
    application = town.application("web")
    assert town.read(lambda tx: resources.of_units(tx, application)) == []
    assert await ask(town, PlayedSession(played), "web/0", "web", "fetch") == (0, told)
    assert played.blobs == [told["sha256"]]
    assert [item.unit for item in town.read(lambda tx: resources.of_units(tx, application))] == ["web/0"]
    assert (await ask(town, PlayedSession(played), "web/0", "web", "again"))[0] == 0
    assert len(played.blobs) == 2


@pytest.mark.parametrize(
    "argv", [("db",), ("db", "fetch"), ("../db",), ("web", "take"), ("web", "fetch", "more"), ()]
)
async def test_a_unit_gets_the_resources_of_its_own_application_alone(
    town: TestController, argv: tuple[str, ...]
) -> None:
    played = PlayedMachine(id="0")
    rc, text = await ask(town, PlayedSession(played), "web/0", *argv)
    assert (rc, played.blobs) == (1, [])
    assert text.startswith("ERROR could not download resource: ")


async def test_a_file_that_is_replaced_on_the_way_is_sent_as_it_is_then(
    town: TestController, tmp_path: Path
) -> None:
    played = PlayedMachine(id="0")

    class Slow(PlayedSession):
        async def put_blob(self, sha256: str, path: Path) -> None:
            if (tmp_path / "web.txt").read_text() != "newer":
                (tmp_path / "web.txt").write_text("newer")
                pending_resources.attach_resource(
                    town.ctx, town.model, "web", "web", str(tmp_path / "web.txt")
                )
                town.ctx.controller.blobs.delete(sha256)
            await super().put_blob(sha256, path)

    rc, told = await ask(town, Slow(played), "web/0", "web", "fetch")
    assert (rc, told["sha256"]) == (0, hashlib.sha256(b"newer").hexdigest())
    assert played.blobs == [told["sha256"]]


async def test_a_full_machine_is_said(town: TestController) -> None:
    class Full(PlayedSession):
        async def put_blob(self, sha256: str, path: Path) -> None:
            raise DiskFull("the disk of machine 0 is full")

    answer = await ask(town, Full(PlayedMachine(id="0")), "web/0", "web", "fetch")
    assert answer == (1, "ERROR could not download resource: the disk of machine 0 is full\n")


async def test_a_call_that_another_process_must_answer_stays_unanswered(
    town: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any) -> None:
        raise LeaseLost("x")

    monkeypatch.setattr(deliver.units, "get", lost)
    with pytest.raises(LeaseLost):
        await ask(town, PlayedSession(PlayedMachine(id="0")), "web/0", "web")
