"""A journal that is cut short or damaged: nothing runs twice for that, and what happened is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pushjuju.runner.remote.base.results import KNOWN
from pushjuju.runner.remote.disk import journal

from .conftest import Machine, hook_op


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def noise(path: Path) -> None:
    path.write_bytes(b"\xff\n{" * 500)


def cut_in_the_first_line(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


def cut_in_the_result(path: Path) -> None:
    data = path.read_bytes().rstrip(b"\0")
    path.write_bytes(data[: data.index(b'{"result"') + 30])


def spoil_the_result(path: Path) -> None:
    data = path.read_bytes()
    at = data.index(b'{"result"')
    path.write_bytes(data[:at] + b"}" + data[at + 1 :])


DAMAGES = (empty, zero, noise, cut_in_the_first_line, cut_in_the_result, spoil_the_result)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
async def test_hook_with_a_damaged_journal_is_not_run_again(
    machine: Machine, damage: Callable[[Path], None]
) -> None:
    charm = machine.write_charm(start="echo run >> runs")
    op = hook_op("start", id="op/with strange:id")
    async with machine.session() as session:
        assert (await session.run(op))["outcome"] == "ok"
    assert await machine.gone()
    damage(machine.base / "journal" / journal.file_name(op["id"]))
    for _ in range(2):  # the second time it is read from what the first contact wrote
        async with machine.session() as session:
            assert session.hello["journal"] == [{"id": op["id"], "done": True}]
            result = await session.run(op)
            assert (result["outcome"], result["recovered"]) == ("terminated", True)
            assert result["message"]
        assert await machine.gone()
    assert (charm / "runs").read_text() == "run\n"
    async with machine.session() as session:
        await session.ack(op["id"])
        assert (await session.run(hook_op("stop")))["outcome"] == "missing"
        assert (await session.run(op))["code"] == KNOWN


async def test_other_hooks_go_on_beside_a_damaged_journal(machine: Machine) -> None:
    machine.write_charm()
    folder = machine.base / "journal"
    folder.mkdir(parents=True)
    (folder / "op-%zz").write_text("no id leads to this name")
    (folder / "seen").write_bytes(b"\xff\xfe\n\0\n")
    async with machine.session() as session:
        assert session.hello["journal"] == []
        assert (await session.run(hook_op("stop")))["outcome"] == "missing"
    assert not (folder / "op-%zz").exists()


def test_name_of_a_journal_leads_back_to_its_operation() -> None:
    for name in ("a", "op/with strange:id", "blå", "%41", "a.b-c_d"):
        assert journal.id_of("/x/" + journal.file_name(name)) == name
    assert journal.id_of("/x/op-%zz") == journal.id_of("/x/op-%ff") == ""
