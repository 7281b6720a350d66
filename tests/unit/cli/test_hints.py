"""What people are told to type: each command exists, takes these words, and leads on."""

from __future__ import annotations

import ast
import functools
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands import registry
from pushjuju.cli.commands.model import model_removal
from pushjuju.cli.syntax.command import GLOBAL_FLAGS, Cli, Command
from pushjuju.cli.syntax.gnuflag import FlagSet
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.cli.work import drive, hints
from pushjuju.core.errors import NotFound, NotPermitted
from pushjuju.core.status import Agent, StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis.statuses import set_status
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.views import relation_view
from pushjuju.store import processes
from pushjuju.store.processes import process_owner
from pushjuju.workers.provision import precheck
from tests.world import related
from tests.world.charms import UBUNTU
from tests.world.commandline import Run
from tests.world.controller import TestController

SOURCES = Path(registry.__file__).parents[2]
_UNKNOWN = "1"  # what stands for a part of a text that is only known when it runs
_END = re.compile(r" {2,}|[\n`'\"’;,:]|\. |\.$| <| \(| to |\)| and ")


# --- all of them ------------------------------------------------------------------------------------------


@functools.cache
def texts() -> list[tuple[Path, str]]:
    """Return all texts of the program that are no docstrings; parts that are computed are `1`."""
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        source = path.read_text()
        if "program" not in source and "next" not in source and "pushjuju " not in source:
            continue
        tree = ast.parse(source)
        inside = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr | ast.Expr)
            for part in (node.values if isinstance(node, ast.JoinedStr) else [node.value])
        }
        for node in ast.walk(tree):
            if id(node) in inside:
                continue
            if isinstance(node, ast.JoinedStr):
                found.append((path, "".join(_part(part) for part in node.values)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append((path, node.value.replace("{program}", "pushjuju")))
    return found


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    text = ast.unparse(node)
    return "pushjuju" if "program" in text else "" if text in ("{at}", "{where}") else _UNKNOWN


def commands() -> Iterator[tuple[Path, list[str]]]:
    """Yield the commands that texts name, as words: in sentences and in lines of hints."""
    for path, text in texts():
        for found in re.finditer(r"(?<![\w./-])pushjuju ((?:[a-z]+-)*[a-z]+\b[^\n]*)", text):
            if found[1].split()[0] in registry.words():
                yield path, _END.split(found[1])[0].split()
        for found in re.finditer(r"^((?:[a-z]+-)*[a-z]+(?: \S+)*) {4}\S", text, re.MULTILINE):
            if found[1].split()[0] in registry.words():
                yield path, found[1].split()


def test_every_command_that_a_text_names_exists_and_takes_these_words() -> None:
    root, seen = Root(), 0
    for path, words in commands():
        found = root.get_command(None, words[0])  # type: ignore[arg-type]
        where = f"{path}: {' '.join(words)}"
        assert isinstance(found, Command), where
        assert not found.details.startswith("Not supported: "), where
        known = {name for spec in (*found.specs, *GLOBAL_FLAGS) for name in spec.names}
        for word in words[1 : words.index("--") if "--" in words else None]:
            if word.startswith("--"):
                assert word[2:].partition("=")[0] in known, where
        seen += 1
    assert seen > 150


def test_every_line_of_a_hint_can_be_typed() -> None:
    """Such a line is a command, four blanks, and what it does."""
    root, seen = Root(), 0
    for path, text in texts():
        for found in re.finditer(r"^(?:pushjuju )?((?:[a-z]+-)*[a-z]+(?: \S+)*) {4}\S", text, re.MULTILINE):
            words = found[1].split()
            if words[0] not in registry.words() or path.name == "config_arguments.py":
                continue
            command = root.get_command(None, words[0])  # type: ignore[arg-type]
            assert isinstance(command, Command), f"{path}: {text}"
            flags = FlagSet((*command.specs, *GLOBAL_FLAGS))
            command._count(flags.parse(words[1:], interspersed=True).args)
            seen += 1
    assert seen > 30


# --- some of them -----------------------------------------------------------------------------------------


def cli_of(runtime: TestController) -> Cli:
    """Return a call in the data directory of a world, whose controller is the current one."""
    runtime.ctx.datadir.set_current_controller("home")
    env = {"PUSHJUJU_DATA": str(runtime.ctx.datadir.root), "HOME": str(runtime.ctx.datadir.root)}
    console = Console(stdin=io.StringIO(), stdout=io.StringIO(), stderr=io.StringIO(), env=env)
    return Cli(console=console, output=Output(console), clock=runtime.clock)


def typed(hint: str) -> list[str]:
    """Return the commands of a hint."""
    return [line.partition("    ")[0] for line in hint.splitlines()]


def in_error(runtime: TestController, *units: str) -> None:
    """Let hooks of units have failed."""
    for unit in units:
        status = functools.partial(set_status, kind=StatusKind.AGENT, entity=unit, now=runtime.clock.now())
        runtime.write(functools.partial(status, status=Agent.ERROR, message='hook failed: "start"'))


def test_a_model_that_is_not_the_current_one_is_named_in_hints(runtime: TestController) -> None:
    runtime.active()
    in_error(runtime, "web/0")
    cli = cli_of(runtime)
    runtime.ctx.controller.set("current-model", "admin/shop")
    assert typed(hints.after_failure(cli, runtime.ctx, runtime.model, unit="web/0")) == [
        "pushjuju debug-log --replay --include web/0",
        "pushjuju resolved web/0",
    ]
    runtime.ctx.controller.set("current-model", None)
    assert typed(hints.after_failure(cli, runtime.ctx, runtime.model, unit="web/0")) == [
        "pushjuju debug-log -m home:admin/shop --replay --include web/0",
        "pushjuju resolved -m home:admin/shop web/0",
    ]


def test_removing_an_application_whose_hook_fails_shows_the_ways_out(runtime: TestController) -> None:
    runtime.active("web", 2)
    in_error(runtime, "web/0", "web/1")
    runtime.ctx.controller.set("current-model", "admin/shop")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    lines = typed(hints.after_failure(cli_of(runtime), runtime.ctx, runtime.model, unit="web/0"))
    assert lines[2:] == ["pushjuju resolved web/0 --no-retry", "pushjuju remove-unit web/0 --force"]
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    lines = typed(hints.after_failure(cli_of(runtime), runtime.ctx, runtime.model, unit="web/1"))
    assert lines[2:] == ["pushjuju resolved web/1 --no-retry", "pushjuju remove-application web --force"]


def test_a_subordinate_in_error_is_ended_by_force_with_its_principal(runtime: TestController) -> None:
    runtime.active("web")
    related.deploy(runtime, "log")
    runtime.integrate("log:host", "web")
    in_error(runtime, "log/0")
    runtime.ctx.controller.set("current-model", "admin/shop")

    def lines() -> list[str]:
        return typed(hints.after_failure(cli_of(runtime), runtime.ctx, runtime.model, unit="log/0"))[2:]

    runtime.write(lambda tx: removal.destroy_unit(tx, units.get(tx, "log/0")))
    assert lines() == ["pushjuju resolved log/0 --no-retry"]
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert lines() == ["pushjuju resolved log/0 --no-retry", "pushjuju remove-unit web/0 --force"]
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], force=Force(wait_s=60))
    assert lines() == ["pushjuju resolved log/0 --no-retry", "pushjuju explain web/0"]


def test_a_unit_in_error_that_goes_by_force_is_not_told_to_be_forced_again(
    runtime: TestController,
) -> None:
    runtime.active("web", 2)
    in_error(runtime, "web/0")
    runtime.ctx.controller.set("current-model", "admin/shop")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], force=Force(wait_s=60))
    lines = typed(hints.after_failure(cli_of(runtime), runtime.ctx, runtime.model, unit="web/0"))
    assert lines[2:] == ["pushjuju resolved web/0 --no-retry", "pushjuju explain web/0"]


def test_a_machine_that_is_forced_away_says_when_it_goes_not_to_force_it_again(
    runtime: TestController,
) -> None:
    runtime.active()
    runtime.ctx.controller.set("current-model", "admin/shop")
    cli = cli_of(runtime)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=Force(wait_s=60))
    at = runtime.clock.now().astimezone()
    hint = hints.after_failure(cli, runtime.ctx, runtime.model, machine="0")
    assert "--force" not in hint
    assert hint.startswith(
        f"pushjuju explain 0    machine 0 goes at {at:%H}:{at:%M}".replace(f"{at:%M}", "01")
    )


def test_a_machine_that_does_not_answer_says_who_tries_it_again(runtime: TestController) -> None:
    runtime.active()
    runtime.ctx.controller.set("current-model", "admin/shop")
    cli = cli_of(runtime)
    hint = hints.after_failure(cli, runtime.ctx, runtime.model, machine="0")
    assert hint.splitlines()[0] == "pushjuju update-status    tries it again; nobody is working on it"
    runtime.ctx.store.appear()
    with runtime.ctx.store.write() as tx:
        processes.enlist(tx, runtime.ctx.clock.now(), "1", runtime.ctx.store.lives)
    hint = hints.after_failure(cli, runtime.ctx, runtime.model, machine="0")
    assert "nobody" not in hint
    assert f"process {process_owner()} tries it again at " in hint


def test_a_model_that_goes_names_itself_and_its_deadline(runtime: TestController) -> None:
    runtime.active()
    model = runtime.resolve_model()
    with runtime.ctx.write(model.uuid) as tx:
        removal.destroy_model(tx, model, None, destroy_storage=None)
    hint = hints.after_failure(cli_of(runtime), runtime.ctx, runtime.model, machine="0")
    assert typed(hint) == [
        "pushjuju update-status -m home:admin/shop",
        "pushjuju explain -m home:admin/shop 0",
        "pushjuju destroy-model home:admin/shop --force",
    ]
    assert hints.deadline(runtime.ctx, runtime.model) == ""
    with runtime.ctx.write(model.uuid) as tx:
        removal.destroy_model(tx, model, Force(wait_s=60), destroy_storage=None)
    assert re.fullmatch(r".+ goes at \d\d:01:00\S*", hints.deadline(runtime.ctx, runtime.model))
    hint = hints.after_failure(cli_of(runtime), runtime.ctx, runtime.model, machine="0")
    assert "--force" not in hint
    assert re.search(r"pushjuju explain -m home:admin/shop    .+ goes at \d\d:01:00", hint)


def test_destroying_a_model_by_force_says_what_it_waits_for_and_until_when(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.active()
    model = runtime.resolve_model()
    with runtime.ctx.write(model.uuid) as tx:
        removal.destroy_model(tx, model, Force(wait_s=60), destroy_storage=None)
    cli = cli_of(runtime)
    cli.console.env["PUSHJUJU_WAIT"] = "0"
    monkeypatch.setattr(drive, "background", lambda *_args: None)
    looks = iter(range(3))
    monkeypatch.setattr(model_removal.time, "sleep", lambda _s: next(looks))
    with pytest.raises(StopIteration):
        model_removal.await_removal(cli, runtime.ctx, model, forced=True)
    written = str(cli.console.stderr.getvalue())  # type: ignore[attr-defined]
    assert re.fullmatch(r"machine 0 waits for web/0; .+ goes at \d\d:01:00\S* at the latest\n", written)


def test_refresh_of_a_unit_in_error_shows_how_it_takes_the_charm(runtime: TestController) -> None:
    runtime.played("0")
    runtime.deploy()
    runtime.played("0").fail("start")
    runtime.settle()
    runtime.ctx.controller.set("current-model", "admin/shop")
    place = ("--path", "./my web")
    assert hints.to_new_charm(cli_of(runtime), runtime.ctx, runtime.model, "web", place) == ""
    runtime.refresh(runtime.charms.make(files={"a": "b"}))
    hint = hints.to_new_charm(cli_of(runtime), runtime.ctx, runtime.model, "web", place)
    assert typed(hint) == ["pushjuju refresh web --path './my web' --force-units"]
    runtime.refresh(runtime.charms.make(files={"a": "b"}), force_units=True)
    runtime.settle()
    assert hints.to_new_charm(cli_of(runtime), runtime.ctx, runtime.model, "web", place) == ""


def test_a_relation_that_is_not_there_names_those_that_are(runtime: TestController) -> None:
    runtime.active()
    with pytest.raises(NotFound, match="relation matching") as caught:
        relation_view.show(runtime.ctx, runtime.model, ["web", "db"])
    assert typed(caught.value.hint) == ["pushjuju show-relation 0"]
    assert caught.value.hint.endswith("    shows web:cluster")
    for words in (["7"], ["db"]):
        with pytest.raises(NotFound) as caught:
            relation_view.show(runtime.ctx, runtime.model, words)
        assert typed(caught.value.hint) == ["pushjuju show-relation 0"]


def test_a_unit_that_a_cloud_has_no_machine_for_is_pointed_to_those_that_are_there(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise NotPermitted('use "pushjuju add-machine ssh:[user@]<host>" to provision machines')

    monkeypatch.setattr(precheck, "precheck", refused)
    asked: dict[str, Any] = {"base": UBUNTU, "constraints": {}, "count": 1, "placements": (), "warn": print}
    with pytest.raises(NotPermitted) as caught:
        precheck.precheck_units(runtime.ctx, runtime.model, **asked)
    assert caught.value.hint == ""
    runtime.active()
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    with pytest.raises(NotPermitted) as caught:
        precheck.precheck_units(runtime.ctx, runtime.model, **asked)
    assert caught.value.hint == "--to 1 puts a unit on machine 1"


def test_a_word_that_is_no_channel_is_refused_for_a_local_charm_too(run: Run) -> None:
    charm = str(SOURCES.parent / "contrib" / "charms" / "hello-page")
    ended = run("deploy", charm, "--channel", "a/b/c/d", "--no-wait")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith('ERROR channel is malformed and has too many components "a/b/c/d"')
