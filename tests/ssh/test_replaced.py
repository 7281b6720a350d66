"""Our program on a machine is changed by somebody, and a journal tells what never was: what still holds."""

from __future__ import annotations

import os
from pathlib import Path

from pushjuju.runner.remote.base.results import KNOWN
from pushjuju.runner.remote.disk import journal

from .conftest import Machine, hook_op


def _programs(machine: Machine) -> list[Path]:
    """Return the files of our program on a machine, as Python imports them."""
    return [
        path for path in machine.base.rglob("*") if path.is_file() and machine.program.digest in str(path)
    ]


async def test_program_replaced_on_a_live_machine_runs_no_hook_twice(machine: Machine) -> None:
    charm = machine.write_charm(start="echo run >> runs", stop="echo run >> stops")
    op = hook_op("start")
    async with machine.session() as session:
        assert (await session.run(op))["outcome"] == "ok"
        replaced = _programs(machine)
        assert replaced
        for path in replaced:  # the running server has read its own; the next one would begin with these
            path.write_bytes(b"raise SystemExit('replaced')\n")
        assert (await session.run(op))["outcome"] == "ok"
        assert (await session.run(hook_op("stop")))["outcome"] == "ok"
    assert (charm / "runs").read_text() == "run\n"
    assert (charm / "stops").read_text() == "run\n"


async def test_journal_that_tells_of_another_result_is_no_second_run(machine: Machine) -> None:
    """Who is root there may lie about results; no hook runs again for that, nor under a borrowed id."""
    charm = machine.write_charm(start="echo run >> runs", stop="echo run >> runs")
    op, invented = hook_op("start"), hook_op("stop")
    async with machine.session() as session:
        assert (await session.run(op))["outcome"] == "ok"
    assert await machine.gone()
    path = machine.base / "journal" / journal.file_name(op["id"])
    path.write_bytes(path.read_bytes().replace(b'"outcome": "ok"', b'"outcome": "xx"'))
    writer = journal.Writer(str(machine.base / "journal"), str(invented["id"]))
    writer.begin({"id": op["id"], "kind": "hook", "boot_id": "another"})
    writer.write("result", {"outcome": "ok", "message": "of another operation"})
    os.close(writer.fd)
    async with machine.session() as session:
        assert [item["id"] for item in session.hello["journal"]] == [op["id"]]
        assert (await session.run(op))["outcome"] in ("xx", "ok")
        assert (await session.run(invented))["outcome"] == "error"
    assert (charm / "runs").read_text() == "run\n"


async def test_journals_that_are_swapped_tell_of_their_own_operations(machine: Machine) -> None:
    """The first line says whose a result is, not the name of the file; nothing runs again for that."""
    charm = machine.write_charm(start="echo run >> runs", stop="echo run >> runs; exit 1")
    good, bad = hook_op("start"), hook_op("stop")
    async with machine.session() as session:
        assert (await session.run(good))["outcome"] == "ok"
        assert (await session.run(bad))["outcome"] == "failed"
    assert await machine.gone()
    one, other = (machine.base / "journal" / journal.file_name(op["id"]) for op in (good, bad))
    texts = one.read_bytes(), other.read_bytes()
    one.write_bytes(texts[1])
    other.write_bytes(texts[0])
    async with machine.session() as session:
        assert (await session.run(good))["outcome"] == "ok"
        assert (await session.run(bad))["outcome"] == "failed"
        for op in (good, bad):
            await session.ack(op["id"])
        assert [(await session.run(op))["code"] for op in (good, bad)] == [KNOWN, KNOWN]
    assert (charm / "runs").read_text() == "run\nrun\n"
    assert not one.exists()
    assert not other.exists()
