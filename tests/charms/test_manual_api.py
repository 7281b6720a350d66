"""A machine that somebody has, added over the API by python-libjuju, which logs in there itself."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.charms.client import HELLO, Client
from tests.charms.test_libjuju import WAIT, connected, serving
from tests.charms.test_manual import Server, server  # noqa: F401

pytestmark = [
    pytest.mark.machine,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning",
        "ignore::UserWarning",
    ),
]  # fmt: skip
# The client reads the merged output of a probe: lsb_release may print a warning there, or be missing.
_PROBED = r"""printf '#!/bin/sh\n. /etc/os-release; echo "$VERSION_CODENAME"\n' > /usr/local/bin/lsb_release
chmod 0755 /usr/local/bin/lsb_release
"""
_OTHERS = (
    "controller=11111111-1111-4111-8111-111111111111 model=22222222-2222-4222-8222-222222222222 machine=0"
)


@pytest.fixture
def login(server: Server, tmp_path: Path) -> Path:  # noqa: F811
    """The private key of bob in the form that the client reads."""
    path = tmp_path / "bob"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-m", "PEM", "-N", "", "-f", path], check=True)
    public = shlex.quote(path.with_suffix(".pub").read_text().strip())
    server.run(f"{_PROBED}echo {public} >> /home/bob/.ssh/authorized_keys\n")
    return path


async def _add(model: Any, host: str, login: Path) -> Any:
    return await model.add_machine(f"ssh:bob@{host}:{login}")


async def on(machine: Server, script: str) -> str:
    """Run a script as root on the machine, from a running loop."""
    return await asyncio.to_thread(machine.run, script)


async def test_a_machine_is_added_used_and_let_go(
    client: Client,
    server: Server,  # noqa: F811
    login: Path,
) -> None:
    async with connected(client, serving(client)) as model:
        machine = await _add(model, server.host, login)
        await model.block_until(lambda: machine.agent_status == "started", timeout=60)
        assert machine.safe_data["instance-id"] == f"manual:{server.host}"
        await model.deploy(str(HELLO), application_name="web", to=machine.id)
        await model.wait_for_idle(["web"], status="active", **WAIT)
        assert "I am web/0" in await on(server, "curl -s http://127.0.0.1:8080/\n")
        await model.applications["web"].destroy()
        await model.block_until(lambda: not model.machines, timeout=60)
    assert await on(server, "ls -d /var/lib/pushjuju 2>/dev/null || true\n") == ""
    key = next(client.data.glob("controllers/*/ssh/*.pub")).read_text().split()[1]
    assert key not in await on(server, "cat /home/ubuntu/.ssh/authorized_keys\n")


async def test_a_machine_of_another_controller_refuses_the_script(
    client: Client,
    server: Server,  # noqa: F811
    login: Path,
) -> None:
    """The client learns it from the script, which changes nothing there."""
    await on(server, f"mkdir -p /var/lib/pushjuju\necho {_OTHERS} > /var/lib/pushjuju/machine\n")
    async with connected(client, serving(client)) as model:
        with pytest.raises(subprocess.CalledProcessError) as failed:
            await _add(model, server.host, login)
        assert failed.value.returncode == 90
        assert await on(server, "ls /var/lib/pushjuju\n") == "machine\n"
        assert client.status()["machines"]["0"]["instance-id"] == "pending"
