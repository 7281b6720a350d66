"""Hook tools of plugins: on the machine, and answered by the controller."""

from __future__ import annotations

import marshal
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote.operation.families import load_registry
from pushjuju.runner.remote.toolkit import Tool, run_tool
from pushjuju.workers import live
from pushjuju.workers.runtime import Runtime, _answered, _sources
from tests.world.controller import TestController

HERE = """
from pushjuju.runner.remote.toolkit import Tool

def _ask(ctx, args):
    said = ctx.read_input("-").decode() if "-" in args.argv else ""
    return f"{ctx.unit} {ctx.context['model_name']} {ctx.is_leader()} {args.positional} {said}"

def _far(ctx, args):
    return ctx.ask("secret-get", [])

TOOLS = {
    "sky-ask": Tool("sky-ask", _ask, usage="<word>...", summary="Ask the sky."),
    "sky-far": Tool("sky-far", _far, summary="Ask too far."),
    "leader-set": Tool("leader-set", _ask, summary="Not mine."),
    "config-get": Tool("config-get", _ask, summary="Not mine."),
}
"""
BROKEN = "TOOLS = {}\nraise RuntimeError('no sky')\n"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules of a plugin that can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sky_here.py").write_text(HERE)
    (tmp_path / "sky_broken.py").write_text(BROKEN)
    yield
    for name in ("sky_here", "sky_broken"):
        sys.modules.pop(name, None)


def _family(module: str, *, pushable: bool) -> HookToolFamily:
    return HookToolFamily(name=module, module=module, pushable=pushable)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("pushable", [True, False])
def test_broken_hook_tools_are_a_warning(*, pushable: bool) -> None:
    """And those of everybody else are used."""
    warnings: list[str] = []
    names = ("sky_broken", "no_such_module", "no_such.module", "sky_here", "pushjuju.plugins.hooks.config")
    families = [_family(name, pushable=pushable) for name in names]
    look: Callable[..., Any] = _sources if pushable else _answered
    found = [name for name, _ in look(families, warnings.append)]
    assert [text.split(":")[0] for text in warnings] == [
        "hook tools sky_broken", "hook tools no_such_module", "hook tools no_such.module",
    ]  # fmt: skip
    assert "no sky" in warnings[0]
    if pushable:
        assert found == ["sky_here", "pushjuju.plugins.hooks.config"]
    else:
        assert found == [
            "sky-ask",
            "sky-far",
            "config-get",
            "config-get",
        ]  # leader-set is the controller's own


@pytest.mark.usefixtures("modules")
def test_what_the_machine_has_for_a_tool_that_the_controller_answers(tmp_path: Path) -> None:
    """A stub with the help; it passes on arguments, and standard input where `-` asks for it."""
    tools = dict(_answered([_family("sky_here", pushable=False)], pytest.fail))
    from pushjuju.plugins.hooks import config

    families = [("pushjuju.plugins.hooks.config", Path(str(config.__file__)))]
    program = pack(families, {name: tool.help() for name, tool in tools.items()})
    assert program.tools == ("config-get", "sky-ask", "sky-far")
    files = marshal.loads(zlib.decompress(program.data[4:]))
    (tmp_path / "pushjuju_answered.py").write_text(files["pushjuju_answered.py"])
    (tmp_path / "tools.json").write_text(files["tools.json"])
    calls: list[tuple[str, list[str], bytes]] = []
    events: list[dict[str, Any]] = []

    def ask(tool: str, argv: list[str], stdin: bytes, _cwd: str) -> tuple[int, bytes, bytes]:
        calls.append((tool, argv, stdin))
        return (0, b"blue\n", b"") if tool == "sky-ask" else (3, b"", b"ERROR too far\n")

    def run(*words: str) -> tuple[int, bytes, bytes]:
        registry = load_registry(str(tmp_path))
        context = {"unit": "web/0", "config": {"name": "mine"}}
        return run_tool(
            registry, words[0], words[1:], context, {}, stdin=lambda: b"in", cwd="/", emit=events.append,
            live=ask, reads={},
        )  # fmt: skip

    assert run("sky-ask", "--far", "a b") == (0, b"blue\n", b"")
    assert run("sky-ask", "-") == (0, b"blue\n", b"")
    assert run("sky-far") == (3, b"", b"ERROR too far\n")
    assert run("sky-ask", "--help")[1].startswith(b"Usage: sky-ask <word>...\n")
    assert calls == [("sky-ask", ["--far", "a b"], b""), ("sky-ask", ["-"], b"in"), ("sky-far", [], b"")]
    assert run("config-get", "name") == (0, b"mine\n", b"")  # a family that comes first has the name
    sys.modules.pop("pushjuju_answered", None)


@pytest.mark.usefixtures("modules")
async def test_the_controller_answers_for_a_plugin(runtime: TestController) -> None:
    """It knows the unit and the model; its errors are the tool's, and it asks nobody else."""
    runtime.deploy()
    tools: dict[str, Tool] = dict(_answered([_family("sky_here", pushable=False)], pytest.fail))

    async def call(tool: str, *argv: str, unit: str = "web/0") -> live.LiveAnswer:
        asked = {"tool": tool, "argv": list(argv), "stdin": b"in", "cwd": "/"}
        return await live.respond_for_plugin(runtime.ctx, runtime.model, unit, asked, tools)

    code, out, err = await call("sky-ask", "a", "-")
    assert (code, out.decode().split()[0], out.decode().endswith("['a', '-'] in"), err) == (
        0,
        "web/0",
        True,
        b"",
    )
    assert await call("sky-ask", "--odd") == (2, b"", b"ERROR option provided but not defined: --odd\n")
    assert (await call("sky-far"))[
        2
    ] == b"ERROR secret-get cannot be called by a tool that runs in the controller\n"
    assert (await call("sky-ask", unit="web/9"))[:2] == (1, b"")


def test_only_a_process_that_ends_soon_keeps_the_hash_of_the_program(runtime: TestController) -> None:
    cache = runtime.ctx.datadir.root / "cache" / "program.json"
    serving, command = Runtime(runtime.ctx), Runtime(runtime.ctx)
    serving.serves = True
    assert (serving.program.cache, cache.exists()) == (None, False)
    assert (command.program.cache, cache.exists()) == (cache, True)
    assert command.program.digest == serving.program.digest
