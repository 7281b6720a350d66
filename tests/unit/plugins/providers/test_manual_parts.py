"""Parts of the manual provider that need no machine."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import AuthFailed, NotValid, RemoteFailed, Unreachable
from pushjuju.plugins.api.providers import no_progress
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.manual.provider import ManualProvider, Target, read_facts
from pushjuju.plugins.providers.manual.scripts import DETECT, join, release


@pytest.mark.parametrize(
    ("text", "target", "instance_id"),
    [
        ("ssh:10.0.0.1", Target("10.0.0.1"), "manual:10.0.0.1"),
        ("ssh:me@host.example", Target("host.example", 22, "me"), "manual:host.example"),
        ("me@host:2222", Target("host", 2222, "me"), "manual:host:2222"),
        ("ssh:fd00::1", Target("fd00::1"), "manual:fd00::1"),
        ("ssh:me@[fd00::1]:2222", Target("fd00::1", 2222, "me"), "manual:[fd00::1]:2222"),
    ],
)
def test_target(text: str, target: Target, instance_id: str) -> None:
    found = Target.parse(text)
    assert found == target
    assert found.instance_id == instance_id


@pytest.mark.parametrize(
    "text",
    [
        "ssh:",
        "ssh:me@",
        "ssh:host:0",
        "ssh:host:99999",
        "ssh:host:x",
        "ssh:-oProxyCommand=x",
        "ssh:a b",
        "ssh:a/b",
    ],
)
def test_bad_target(text: str) -> None:
    with pytest.raises(NotValid):
        Target.parse(text)


async def test_a_host_that_does_not_answer_is_named_with_the_login_that_was_asked_for() -> None:
    class Silent:
        async def run_script(self, login: SSHTarget, script: str, **options: Any) -> Any:
            raise Unreachable(f"cannot reach {login.user}@{login.host}: no route", reason="no route")

    class Provider(ManualProvider):
        def __init__(self) -> None:
            pass

        def _remote(self) -> Any:
            return Silent()

    for text, named in (
        ("bob@host:2222", "bob@host:2222"),
        ("host", "ubuntu@host"),
        ("me@fd00::1", "me@fd00::1"),
    ):
        place = Target.parse(text)
        with pytest.raises(Unreachable, match=f"^cannot reach {named}: no route$") as caught:
            await Provider()._join(place, SSHTarget(host=place.host), "owner", [], no_progress)
        assert caught.value.message == str(caught.value)


@pytest.mark.parametrize(
    ("target", "refused", "logins"),
    [
        ("root@host", [], ["root"]),
        ("root@host", ["root"], ["root", "ubuntu"]),
        ("ubuntu@host", [], ["ubuntu"]),
        ("host", [], ["ubuntu"]),
        ("host", ["ubuntu"], ["ubuntu", ""]),
    ],
)
async def test_a_machine_joins_in_the_first_connection_that_is_let_in(
    target: str, refused: list[str], logins: list[str]
) -> None:
    tried = []

    class Remote:
        async def run_script(self, login: SSHTarget, script: str, **options: Any) -> ScriptResult:
            tried.append(login.user)
            if login.user in refused:
                raise AuthFailed(f"no key of {login.user} is let in")
            return ScriptResult(rc=0, stdout="", stderr="")

    class Provider(ManualProvider):
        def __init__(self) -> None:
            pass

        def _remote(self) -> Any:
            return Remote()

    place = Target.parse(target)
    await Provider()._join(place, SSHTarget(host=place.host), "owner", [], no_progress)
    assert tried == logins


def test_facts_of_this_host() -> None:
    done = subprocess.run(["/bin/sh", "-s"], input=DETECT, capture_output=True, text=True, check=True)
    base, hardware = read_facts(done.stdout)
    assert base.os
    assert base.track
    assert hardware["cores"] >= 1
    assert hardware["mem"] > 16


def test_facts() -> None:
    text = "id=ubuntu\nversion=22.04\narch=aarch64\nmem_kib=2048000\ncores=4\n"
    assert read_facts(text) == (Base("ubuntu", "22.04"), {"arch": "arm64", "cores": 4, "mem": 2000})
    with pytest.raises(RemoteFailed):
        read_facts("id=ubuntu\n")


def test_scripts_are_valid_shell() -> None:
    odd = "controller=x'; touch /tmp/owned; '"
    keys = ['ssh-ed25519 AAAA it\'s "me"']
    for script in (join(odd, keys, user_exists=True), join(odd, keys, user_exists=False), release(odd)):
        subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=True)
