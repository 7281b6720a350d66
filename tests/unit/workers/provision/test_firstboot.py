"""What a new machine says of its cloud-init, whatever it says."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from pushjuju.core.errors import Unreachable
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.workers.provision import firstboot
from pushjuju.workers.reach import ScriptRunner
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, worker


@dataclass
class Answer:
    """How the script ended."""

    stdout: str = ""
    exit: int | None = 0
    signal: int | None = None


@dataclass
class Session:
    """A session that answers one script."""

    answer: Answer
    asked: int = 0

    async def exec(self, **_: Any) -> Answer:
        """Answer."""
        self.asked += 1
        return self.answer


async def _wait(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, answer: Answer, *features: str
) -> tuple[int, str]:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    monkeypatch.setattr(work, "features", lambda _: frozenset(features))
    session: Any = Session(answer)
    await firstboot.wait(work, runtime.machine("0"), session)
    return session.asked, work.events[-1].text


async def test_machines_without_our_document_are_not_asked(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await _wait(runtime, monkeypatch, Answer()))[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"v1": 5}',
        '{"v1": {"errors": []}}',
        '{"v1": {"errors": 7}}',
        "[" * 5000,
        "\x00",
    ],
)
async def test_an_end_without_an_error_that_can_be_read(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    asked, said = await _wait(runtime, monkeypatch, Answer(text), "user-data")
    assert (asked, said) == (1, "setting itself up (cloud-init)")


async def test_an_error_is_told_shortly(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"v1": {"errors": ["x" * 1000]}})
    _, said = await _wait(runtime, monkeypatch, Answer(text), "user-data")
    assert said == "cloud-init ended with an error: " + "x" * 300


async def test_an_end_that_does_not_come(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreachable, match="cloud-init did not end on machine 0 in 30 minutes"):
        await _wait(runtime, monkeypatch, Answer(exit=75), "user-data")


# --- as a script ------------------------------------------------------------------------------------------

ASKED = "packages: [hello]\npreruncmd: [echo 100%]\n"


async def _script(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, provider: str, *features: str
) -> str:
    work = PlayedRuntime(runtime)
    runtime.write(lambda tx: model_config.change(tx, {"cloudinit-userdata": ASKED}))
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    monkeypatch.setattr(work, "features", lambda _: frozenset(features))
    given_to: list[str] = []

    async def run_script(_self: Any, target: SSHTarget, script: str, **how: Any) -> ScriptResult:
        assert (target.host, how["sudo"]) == ("10.0.0.2", True)
        given_to.append(script)
        return ScriptResult(rc=0)

    monkeypatch.setattr(ScriptRunner, "run_script", run_script)
    await firstboot.apply(work, dataclasses.replace(runtime.machine("0"), provider=provider))
    return given_to[0] if given_to else ""


def _is_shell(script: str) -> bool:
    return subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


async def test_a_bare_machine_gets_the_whole_document(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = await _script(runtime, monkeypatch, "local", "script")
    assert "useradd -m -s /bin/bash ubuntu" in script
    assert "apt-get install -y -q python3 hello" in script
    assert "PRIVATE KEY" not in script
    assert _is_shell(script)


async def test_a_given_machine_gets_what_the_model_wants(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = await _script(runtime, monkeypatch, "manual")
    assert "apt-get install -y -q hello\n" in script
    assert "(\necho 100%\n)" in script
    assert "useradd" not in script


async def test_others_have_their_own_way(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await _script(runtime, monkeypatch, "local") == ""
