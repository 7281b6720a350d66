"""What it takes to ask a cloud for many machines at once: EC2 over HTTP, played by moto."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import StartRequest
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers import open_adapter
from tests.bench.figures import Report
from tests.clouds.moto_server import Moto, server  # noqa: F401
from tests.clouds.test_ec2 import driver_of, site_of

pytest.importorskip("moto", reason="moto plays EC2 here")
pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

MACHINES = 20
ROUNDS = 3


def test_many_machines_at_once(server: Moto, report: Report, tmp_path: Path) -> None:  # noqa: F811
    """From the request of the first to the instance of the last; types and zones are known."""
    server.reset()
    spec = CloudSpec(name="aws", type="ec2", region="us-east-1", endpoint=server.url)
    image = driver_of(spec).list_images(ex_owner="099720109477")[0].id
    spec = replace(spec, config={"images": {"ubuntu@24.04": image}})
    models = [f"aaaaaaaa-bbbb-4ccc-8ddd-{number:012d}" for number in range(ROUNDS)]
    taken = [asyncio.run(_start(spec, model, tmp_path)) for model in models]
    report.add(
        f"{MACHINES} instances of EC2 requested",
        taken,
        "s",
        target="<= 2 s",
        note="libcloud, over HTTP to moto on this host, whose own time is in it",
    )


async def _start(spec: CloudSpec, model: str, folder: Path) -> float:
    provider = CloudProvider(open_adapter(site_of(spec, folder, model)))
    base = Base.parse("ubuntu@24.04")
    await provider.precheck(base, {}, "")
    begin = time.perf_counter()
    started = await asyncio.gather(
        *(
            provider.start(
                StartRequest(machine_id=str(number), base=base, nonce=f"n{number}", zone="us-east-1a")
            )
            for number in range(MACHINES)
        )
    )
    taken = time.perf_counter() - begin
    assert len({item.instance.id for item in started}) == MACHINES
    return taken
