"""Taking in a machine whose login prints more than what was asked for, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import (
    AlreadyExists,
    AuthFailed,
    ConnectionLost,
    HostKeyChanged,
    PushjujuError,
    RemoteFailed,
    Unreachable,
)
from pushjuju.plugins.api.providers import ModelInfo, Services
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.manual import scripts
from pushjuju.plugins.providers.manual.provider import ManualProvider


class Remote:
    """Answers each script in the same way, and keeps the users that logged in."""

    def __init__(self, answer: ScriptResult | PushjujuError) -> None:
        self.answer = answer
        self.users: list[str | None] = []

    async def run_script(self, target: SSHTarget, *_: Any, **__: Any) -> ScriptResult:
        self.users.append(target.user)
        if isinstance(self.answer, PushjujuError):
            raise self.answer
        return self.answer


def provider(folder: Path, answer: ScriptResult | PushjujuError) -> ManualProvider:
    model = ModelInfo(uuid="m", name="test", controller_uuid="c0ffee")
    return ManualProvider(model=model, services=Services(data_dir=folder, remote=Remote(answer)))


async def test_the_holder_of_a_machine_is_named_behind_what_a_login_prints(tmp_path: Path) -> None:
    held = "controller=other model=m machine=1"
    answer = ScriptResult(rc=scripts.PROVISIONED, stdout="", stderr=f"stty: no terminal\n{held}\n")
    with pytest.raises(AlreadyExists) as caught:
        await provider(tmp_path, answer).enlist("ssh:bob@h", machine_id="0", authorized_keys=["k"])
    assert caught.value.detail == held
    assert caught.value.hint.startswith("remove-machine there gives it back")
    assert caught.value.hint.endswith(": ssh bob@h sudo rm /var/lib/pushjuju/machine")
    with pytest.raises(AlreadyExists) as caught:
        await provider(tmp_path, answer).enlist("ssh:h:2222", machine_id="0", authorized_keys=["k"])
    assert caught.value.hint.endswith(": ssh -p 2222 ubuntu@h sudo rm /var/lib/pushjuju/machine")


async def test_a_system_without_version_is_refused_before_it_is_a_machine(tmp_path: Path) -> None:
    facts = "id=debian\nversion=\narch=x86_64\ncores=2\nmem_kib=1000000\n"
    answer = ScriptResult(rc=0, stdout=facts, stderr="")
    with pytest.raises(RemoteFailed, match="runs debian without a version number"):
        await provider(tmp_path, answer).enlist("ssh:bob@h", machine_id="0", authorized_keys=["k"])


async def test_a_login_that_ends_before_the_script_is_told(tmp_path: Path) -> None:
    answer = ScriptResult(rc=0, stdout="", stderr="")
    with pytest.raises(RemoteFailed) as caught:
        await provider(tmp_path, answer).enlist("ssh:bob@h", machine_id="0", authorized_keys=["k"])
    assert caught.value.detail == "nothing was printed: does the login's shell run commands?"


@pytest.mark.parametrize(
    ("error", "users"),
    [
        (AuthFailed("refused"), ["bob", "ubuntu"]),
        (Unreachable("no answer"), ["bob"]),
        (HostKeyChanged("another key"), ["bob"]),
        (ConnectionLost("cut"), ["bob", "ubuntu", "bob"]),  # the script may have run: its mark is taken back
    ],
)
async def test_a_machine_on_which_nothing_was_written_is_left_alone(
    tmp_path: Path, error: PushjujuError, users: list[str]
) -> None:
    made = provider(tmp_path, error)
    with pytest.raises(type(error)):
        await made.enlist("ssh:bob@h", machine_id="0", authorized_keys=["k"])
    assert made._remote().users == users
