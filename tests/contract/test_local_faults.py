"""Faults of the network, and machines behind our back, on real machines of the cloud `local`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pushjuju.core.errors import Unreachable
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.network import Line

pytestmark = pytest.mark.machine


@pytest.fixture
async def target(local_cloud: LocalCloud) -> AsyncIterator[tuple[SSHTarget, Line]]:
    """A machine that answers, and its cable."""
    data_dir: Path = local_cloud.data_dir()
    provider = local_cloud.provider(data_dir)
    started = await provider.start(local_cloud.request("0"))
    found = await provider.ssh_target(started.instance)
    await local_cloud.ssh.wait_for(found, "true")
    yield found, Line.of(data_dir, started.instance.id)
    await provider.destroy_model()


async def _ask(cloud: LocalCloud, target: SSHTarget) -> ScriptResult:
    return await asyncio.wait_for(cloud.ssh.run_script(target, "echo here", timeout_s=2.0), 10)


async def test_a_cut_line_is_told_and_heals(local_cloud: LocalCloud, target: tuple[SSHTarget, Line]) -> None:
    found, line = target
    with line.cut(), pytest.raises((Unreachable, TimeoutError)):
        await _ask(local_cloud, found)
    assert (await local_cloud.ssh.wait_for(found, "echo here")).stdout == "here\n"
    with line.refused(22), pytest.raises(Unreachable, match="Connect call failed"):
        await _ask(local_cloud, found)
    assert (await _ask(local_cloud, found)).stdout == "here\n"


async def test_a_slow_line_works(local_cloud: LocalCloud, target: tuple[SSHTarget, Line]) -> None:
    found, line = target
    with line.slow(100):
        began = asyncio.get_running_loop().time()
        done = await asyncio.wait_for(local_cloud.ssh.run_script(found, "echo here", timeout_s=30.0), 60)
        assert done.stdout == "here\n"
        assert asyncio.get_running_loop().time() - began > 0.3
