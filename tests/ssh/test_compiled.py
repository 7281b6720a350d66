"""The program's compiled modules are kept in one file, which the next contact uses."""

from __future__ import annotations

import binascii
import importlib.util
import marshal
import re
import sys
import zlib
from pathlib import Path

import pytest

from pushjuju.core.values import changed
from pushjuju.runner.remote.base import compiled

from .conftest import Machine, hook_op


async def _contact(machine: Machine) -> Path:
    """Run a hook; return the file of compiled modules that the server leaves at its end."""
    machine.write_charm(start="true")
    async with machine.session() as session:
        assert (await session.run(hook_op("start")))["outcome"] == "ok"
    assert await machine.gone()
    return next(machine.base.glob("*/compiled-*"))


async def test_the_next_contact_reads_no_other_files_of_the_program(machine: Machine) -> None:
    kept = await _contact(machine)
    for path in [*kept.parent.rglob("*.py"), *kept.parent.rglob("*.pyc")]:
        path.unlink()
    assert await _contact(machine) == kept


async def test_a_file_that_is_damaged_is_not_used(machine: Machine) -> None:
    kept = await _contact(machine)
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    assert await _contact(machine) == kept
    kept.write_bytes(b"")
    assert await _contact(machine) == kept


async def test_modules_that_another_operation_needs_are_added(machine: Machine) -> None:
    async with machine.session():
        pass
    assert await machine.gone()
    (kept,) = machine.base.glob("*/compiled-*")
    assert b"hookrun" not in kept.read_bytes()
    assert b"hookrun" in (await _contact(machine)).read_bytes()


@pytest.mark.parametrize("code", [b"", b"damaged", marshal.dumps("no code")])
async def test_a_file_with_modules_that_cannot_run_is_replaced_with_the_program(
    machine: Machine, code: bytes
) -> None:
    kept = await _contact(machine)
    own, modules = marshal.loads(kept.read_bytes()[4:])
    data = marshal.dumps((own, dict.fromkeys(modules, code)))
    kept.write_bytes(zlib.crc32(data).to_bytes(4, "big") + data)
    assert await _contact(machine) == kept


def _home(tmp_path: Path, names: list[str]) -> Path:
    """Return a directory that looks as if Python had compiled these modules in it."""
    enter = tmp_path / "pushjuju" / "runner" / "remote" / "enter.py"
    enter.parent.mkdir(parents=True, exist_ok=True)
    enter.write_text("ENTERED = True")
    for name in names:
        path = tmp_path / f"{name}.{sys.implementation.cache_tag}.pyc"
        path.parent.mkdir(parents=True, exist_ok=True)
        code = compile("found = __file__", name, "exec")
        path.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    return tmp_path


ENTER = "pushjuju/runner/remote/enter"
OWN = "pushjuju/runner/remote/base/__pycache__/compiled"


def test_a_module_of_another_python_or_cut_short_is_not_kept(tmp_path: Path) -> None:
    home = _home(tmp_path, [OWN, "__pycache__/probe"])
    path = next(home.glob("__pycache__/probe*"))
    whole = path.read_bytes()
    for damaged in (b"", whole[:20], b"abcd" + whole[4:]):
        path.write_bytes(damaged)
        compiled.keep(str(home))
        assert not list(home.glob("compiled-*"))
    path.write_bytes(whole)
    compiled.keep(str(home))
    assert [entry.name for entry in home.glob("compiled-*")] == [compiled.file_name()]


def test_a_kept_module_knows_its_file(tmp_path: Path) -> None:
    home = _home(tmp_path, [OWN, "__pycache__/probe", "tools/__pycache__/__init__"])
    compiled.keep(str(home))
    _, modules = marshal.loads((home / compiled.file_name()).read_bytes()[4:])
    finder = compiled.Finder(str(home), modules)
    for name, path in (("probe", "probe.py"), ("tools", "tools/__init__.py")):
        module = importlib.util.module_from_spec(finder.find_spec(name))
        finder.exec_module(module)
        assert module.found == f"{home}/{path}"


async def test_the_next_contact_compiles_none_of_the_first_code(machine: Machine) -> None:
    await _contact(machine)
    text = zlib.decompress(binascii.a2b_base64(machine.program.boot)).decode()
    broken = re.sub("^ENTER = .*$", "ENTER = 'no Python'", text, flags=re.MULTILINE)
    packed = binascii.b2a_base64(zlib.compress(broken.encode()), newline=False).decode()
    machine.program = changed(machine.program, boot=packed)
    await _contact(machine)


@pytest.mark.parametrize("code", [b"", b"damaged", marshal.dumps("fail()"), None])
async def test_a_contact_whose_first_code_is_damaged_compiles_the_code_that_was_sent(
    machine: Machine, code: bytes | None
) -> None:
    kept = await _contact(machine)
    own, modules = marshal.loads(kept.read_bytes()[4:])
    modules[ENTER] = code
    data = marshal.dumps((own, modules))
    kept.write_bytes(zlib.crc32(data).to_bytes(4, "big") + data)
    assert await _contact(machine) == kept
    assert marshal.loads(kept.read_bytes()[4:])[1][ENTER] != code
