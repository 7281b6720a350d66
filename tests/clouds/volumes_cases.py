"""What volumes of every adapter must do on the fake of its cloud."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pushjuju.core.errors import Conflict, NotFound
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from tests.clouds.cases import OTHER, CloudBench


def opened(bench: CloudBench, model: str | None = None) -> CloudVolumes:
    """Return the storage of a model, opened anew."""
    provider = bench.open(model) if model else bench.open()
    return CloudVolumes(provider, provider.adapter)  # type: ignore[arg-type]


async def life_of_a_volume(
    bench: CloudBench, count: Callable[[], int], size: int, told: Callable[[str], StorageSeen]
) -> None:
    """Make, attach, refuse, detach, let go, find and delete a volume; each step may be taken twice.

    Args:
        count: How many volumes there are.
        size: MiB that one of 1500 MiB has.
        told: Returns from a volume's id where a machine sees it.
    """
    provider = bench.open()
    zones = [zone.name for zone in await provider.zones()]
    zone = zones[0] if zones else ""
    one = (await provider.start(bench.request(zone=zone))).instance.id
    two = (await provider.start(bench.request("1", zone=zone))).instance.id
    item = StorageItem(id="0", kind=Kind.BLOCK, size=1500, uuid="u-1", instance_id=one)
    made = await opened(bench).create(item)
    assert made.size == size
    assert (await opened(bench).create(item), count()) == (made, 1)
    item = replace(item, provider_id=made.provider_id)
    seen = await opened(bench).attach(item)
    assert seen == await opened(bench).attach(item) == told(made.provider_id)
    for refused in (opened(bench).attach(replace(item, instance_id=two)), opened(bench).destroy(item)):
        with pytest.raises(Conflict, match=f"is attached to instance {one}"):
            await refused
    for _ in range(2):
        await opened(bench).detach(item)
    await opened(bench).release(item)
    assert await opened(bench, OTHER).find(made.provider_id, Kind.BLOCK) == made
    with pytest.raises(Conflict, match=f"belongs to model {OTHER}"):
        await opened(bench).find(made.provider_id, Kind.BLOCK)
    lost = replace(item, uuid="u-2", provider_id="")
    await opened(bench).create(lost)  # and nobody wrote it down
    await opened(bench).destroy(lost)
    for _ in range(2):
        await opened(bench).destroy(item)
    assert count() == 0
    with pytest.raises(NotFound):
        await opened(bench).find(made.provider_id, Kind.BLOCK)
