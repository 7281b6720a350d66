"""The contract suite for providers of storage that outlives machines: subclass `StorageContract`."""

from __future__ import annotations

import uuid
from typing import Protocol

import pytest

from pushjuju.core.errors import Conflict, NotFound
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageProvider, StorageSeen


class StorageBench(Protocol):
    """What the suite needs from the author of the provider."""

    kind: Kind

    def open(self) -> StorageProvider:
        """Return a new provider object, which knows nothing of earlier calls."""
        ...

    async def machine(self) -> str:
        """Return the instance id of a running machine, a different one for each call."""
        ...

    async def write(self, instance: str, place: str, text: str) -> None:
        """Write a text to storage that the machine sees as `source`, as `device` or by a serial number."""
        ...

    async def read(self, instance: str, place: str) -> str:
        """Read the text that `write` wrote."""
        ...

    def leftovers(self) -> list[str]:
        """Return what is left of the storage in the cloud."""
        ...


def _place(seen: StorageSeen) -> str:
    return seen.source or seen.device or seen.serial or next(iter(seen.paths), "")


class StorageContract:
    """The suite; a subclass adds the fixture `bench`."""

    def item(self, bench: StorageBench, **more: object) -> StorageItem:
        """Return a new item of storage."""
        plain = {"id": "0", "kind": bench.kind, "size": 16, "uuid": str(uuid.uuid4())}
        return StorageItem(**{**plain, **more})  # type: ignore[arg-type]

    async def test_data_goes_from_machine_to_machine(self, bench: StorageBench) -> None:
        """Each step may be repeated, also by another process."""
        new = self.item(bench)
        made = [await bench.open().create(new) for _ in range(2)]
        assert made[0] == made[1]
        assert made[0].size >= new.size
        first, second = await bench.machine(), await bench.machine()
        there = self.item(bench, uuid=new.uuid, provider_id=made[0].provider_id, instance_id=first)
        seen = [await bench.open().attach(there) for _ in range(2)]
        assert seen[0] == seen[1]
        place = _place(seen[0])
        assert place
        await bench.write(first, place, "kept")
        for _ in range(2):
            await bench.open().detach(there)
        elsewhere = self.item(bench, uuid=new.uuid, provider_id=made[0].provider_id, instance_id=second)
        again = await bench.open().attach(elsewhere)
        assert await bench.read(second, _place(again)) == "kept"
        await bench.open().detach(elsewhere)
        for _ in range(2):
            await bench.open().destroy(there)
        assert bench.leftovers() == []

    async def test_what_a_machine_has_is_not_taken_from_it(self, bench: StorageBench) -> None:
        """Neither another machine nor a removal takes storage from the machine that has it."""
        new = self.item(bench)
        made = await bench.open().create(new)
        there = self.item(
            bench, uuid=new.uuid, provider_id=made.provider_id, instance_id=await bench.machine()
        )
        await bench.open().attach(there)
        other = self.item(
            bench, uuid=new.uuid, provider_id=made.provider_id, instance_id=await bench.machine()
        )
        with pytest.raises(Conflict):
            await bench.open().attach(other)
        with pytest.raises(Conflict):
            await bench.open().destroy(there)
        await bench.open().detach(there)
        await bench.open().destroy(there)

    async def test_what_was_let_go_can_be_found(self, bench: StorageBench) -> None:
        """Released storage can be found; storage that was not released cannot."""
        new = self.item(bench)
        made = await bench.open().create(new)
        item = self.item(bench, uuid=new.uuid, provider_id=made.provider_id)
        await bench.open().release(item)
        assert bench.leftovers()
        assert await bench.open().find(made.provider_id, bench.kind) == made
        await bench.open().destroy(item)
        with pytest.raises(NotFound):
            await bench.open().find(made.provider_id, bench.kind)

    async def test_what_is_gone_is_no_error(self, bench: StorageBench) -> None:
        """Destroying or detaching storage that does not exist is no error."""
        item = self.item(bench)
        await bench.open().destroy(item)
        made = await bench.open().create(item)
        gone = self.item(bench, uuid=item.uuid, provider_id=made.provider_id, instance_id="no-such-machine")
        await bench.open().detach(gone)
        await bench.open().destroy(gone)
        assert bench.leftovers() == []
