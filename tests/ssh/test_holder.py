"""A machine has one holder: marked at the first contact, checked at each, free again when it is let go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pushjuju.core.errors import HeldElsewhere
from pushjuju.core.holding import MARKER, owner_line
from pushjuju.runner.remote.base import layout

from .conftest import Machine, hook_op

A, B = owner_line("a", "m", "0"), owner_line("b", "m", "0")


def mark(machine: Machine) -> Path:
    """Return the file that names the holder."""
    return machine.root / MARKER[1:]


def test_scripts_and_program_look_at_the_same_file() -> None:
    assert layout.marker("") == MARKER


async def test_first_contact_marks_the_machine_and_others_are_refused(machine: Machine) -> None:
    machine.write_charm(start="exit 0")
    async with machine.session(options=machine.options | {"owner": A}) as session:
        assert mark(machine).read_text() == A + "\n"
        assert (await session.run(hook_op("start")))["outcome"] == "ok"
    with pytest.raises(HeldElsewhere) as caught:
        async with machine.session(options=machine.options | {"owner": B}):
            pass
    assert caught.value.detail == A
    assert machine.charm().exists()
    async with machine.session(options=machine.options | {"owner": A}) as session:
        assert session.hello["units"] == ["web/0"]


async def test_of_two_first_contacts_at_once_one_gets_the_machine(machine: Machine) -> None:
    async def contact(owner: str) -> str:
        try:
            async with machine.session(options=machine.options | {"owner": owner}):
                return owner
        except HeldElsewhere as error:
            return f"not {error.detail}"

    got = await asyncio.gather(*(contact(owner_line(str(number), "m", "0")) for number in range(6)))
    (owner,) = (item for item in got if not item.startswith("not "))
    assert sorted(got) == sorted([owner, *[f"not {owner}"] * 5])
    assert [path.name for path in mark(machine).parent.iterdir()] == ["machine"]


@pytest.mark.parametrize("released", [False, True])
async def test_the_mark_goes_when_the_machine_is_let_go_not_with_its_last_unit(
    machine: Machine, *, released: bool
) -> None:
    async with machine.session(options=machine.options | {"owner": A}) as session:
        op = {"id": "remove-1", "kind": "remove-unit", "unit": "", "last": True}
        await session.run({**op, "release": True} if released else op)
        await session.ack("remove-1")
    assert await machine.gone()
    assert mark(machine).parent.exists() is not released


async def test_units_of_juju_are_not_taken_for_ours(machine: Machine) -> None:
    machine.write_charm("web/0", start="exit 0")
    theirs = machine.write_charm("db/0", start="exit 0").parent
    (theirs.parent if theirs.name == "charm" else theirs).joinpath("agent.conf").write_text(
        "tag: unit-db-0\n"
    )
    async with machine.session() as session:
        assert session.hello["units"] == ["web/0"]
