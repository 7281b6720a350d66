"""plan: shows what a command would do, without doing it."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from pushjuju.cli.commands import registry
from pushjuju.cli.commands.bundle.bundling import NOT_THERE
from pushjuju.cli.commands.controller import controller_removal, kill_controller
from pushjuju.cli.commands.plan import plan_table
from pushjuju.cli.commands.plan.plannable import NOT_PLANNED, PLANNED
from pushjuju.cli.commands.plan.planned import Plan
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, PushjujuError, Silent, UsageError
from pushjuju.core.suggest import did_you_mean
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import context as contexts
from pushjuju.services.requests.controller import copies
from pushjuju.services.views import inventory as stocks
from pushjuju.workers import rehearsal as rehearsals

CHANGES = 2  # exit status when something would change, as of `terraform plan -detailed-exitcode`

_YES = "y\n" * 100  # answers to the questions of the planned command


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """The end of a rehearsal: the operations that would run, and the entities that are left."""

    rehearsal: rehearsals.Rehearsal
    inventory: stocks.Inventory


@command(
    "plan",
    usage="-- <command> [<argument> ...]",
    summary="Shows what a command would do, without doing it.",
    interspersed=False,
    at_least=(1, "no command specified: plan -- <command> ..."),
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.COLOUR),
    details="The command runs on a copy of the controller's store. No machine is contacted, and nothing is\n"
    "recorded. The plan shows what would be added, changed and removed until the model is at rest, and\n"
    "which hooks would run on which units. The plan assumes that each hook succeeds and writes nothing;\n"
    "effects that depend on more are listed as unknown. The order is exact for each unit; machines work\n"
    "in parallel, so the order between machines may differ. Questions are answered with yes.\n\n"
    "Exit status: 0 nothing would change, 2 something would, 1 on errors.",
    examples="    pushjuju plan -- deploy ./web -n 2\n    pushjuju plan -- remove-application db\n"
    "    pushjuju plan -- destroy-model shop --destroy-storage\n    pushjuju plan -- run web/leader backup\n"
    "    pushjuju plan --format json -- refresh web --path ./web\n",
    see_also=("explain", "deploy", "refresh", "integrate"),
)
def plan(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    words = list(args[1:] if args[0] == "--" else args)
    _check(words)
    made = _plan(cli, words, model)
    table = {"tabular": lambda _document: plan_table.table(made, colour=cli.output.colour)}
    cli.output.write(plan_table.document(made), table)
    if made.changed:
        raise Exited(CHANGES)


def _check(words: Sequence[str]) -> None:
    """Refuse a command that cannot be planned.

    Raises:
        PushjujuError: The command has no plan. The exit status is 1 also for wrong flags: 2 means changes.
    """
    if not words or words[0].startswith("-"):
        raise PushjujuError("no command specified: plan -- <command> ...")
    word = registry.ALIASES.get(words[0], words[0])
    if word not in registry.known():
        raise NotFound(
            f"{quote(words[0])} is not a command that can be planned: there is none of that name",
            hint=did_you_mean(words[0], PLANNED),
        )
    if "--help" in words or "-h" in words:
        raise PushjujuError("help cannot be planned")
    if word not in PLANNED:
        raise PushjujuError(f"{word} cannot be planned: {NOT_PLANNED[word]}")
    if word == "add-machine" and any(item.startswith("ssh:") for item in words):
        raise PushjujuError("add-machine ssh: cannot be planned: the host itself must be asked")


def _plan(cli: Cli, words: Sequence[str], model: str) -> Plan:
    """Run a command on a copy, rehearse what follows, and compare with a copy without the command."""
    source, folder = session.data_dir(cli), Path(tempfile.mkdtemp(prefix="pushjuju-plan-"))
    try:
        with_it, without = folder / "with", folder / "without"
        for part in (with_it, without):
            copies.make(source, part)
        inner = _run(cli, words, model, with_it, source.root)
        try:
            opened = _controller(inner)
            if opened is None:
                return Plan(command=words, changes=(), steps=(), unknown=())
            after = _side(opened, kills=kill_controller.KILLS in inner.extra)
            return _compared(words, inner, opened, _without(cli, opened, without), after)
        finally:
            _close(inner)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _side(ctx: contexts.Context, *, kills: bool = False) -> _Side:
    """Rehearse the due work of a copy, and list the entities that are left.

    Args:
        kills: End dying models directly that would not end by themselves, as kill-controller does.
    """
    found = rehearsals.rehearse(ctx)
    if kills:
        for text in found.blocked:
            found.cannot_know(f"how far this gets before the model is ended directly: {text}")
        found.blocked.clear()
        copies.end_models(ctx)
    return _Side(rehearsal=found, inventory=stocks.stock(ctx))


def _compared(
    words: Sequence[str], inner: Cli, ctx: contexts.Context, before: _Side | None, after: _Side
) -> Plan:
    """Return the differences with and without the command; `before` is None for a new controller."""
    now = before.inventory if before is not None else {}
    changes = stocks.changes(ctx, now, after.inventory)
    blocked = after.rehearsal.blocked
    if before is None:
        changes.insert(0, _of_controller("add", ctx.controller.name))
    elif controller_removal.ENDS in inner.extra and not blocked:
        when = {"when": inner.extra[controller_removal.ENDS]}
        # entities of the controller itself are removed together with the controller
        changes = [change for change in changes if change.model]
        changes.append(_of_controller("remove", ctx.controller.name, when))
    return Plan(
        command=words,
        changes=changes,
        steps=_steps(before.rehearsal if before is not None else None, after.rehearsal),
        unknown=list(after.rehearsal.unknown),
        left=_left(inner),
        blocked=blocked,
    )


def _of_controller(action: str, name: str, fields: Mapping[str, str] | None = None) -> stocks.Change:
    return stocks.Change(action=action, kind="controller", name=name, model="", fields=fields or {})


def _left(inner: Cli) -> Sequence[str]:
    """Return what the model has and the deployed bundle does not have."""
    found = inner.extra.get(NOT_THERE, ())
    assert isinstance(found, list | tuple), "the key is that of bundles alone"
    return [str(line).strip().removeprefix("- ") for line in found]


def _without(cli: Cli, opened: contexts.Context, folder: Path) -> _Side | None:
    """Return the rehearsal without the command, or None when the command makes the controller."""
    ctx = copies.open_copy(folder, opened.controller.name, clock=cli.clock, environ=cli.env)
    if ctx is None:
        return None
    try:
        return _side(ctx)
    finally:
        ctx.close()


def _steps(
    before: rehearsals.Rehearsal | None, after: rehearsals.Rehearsal
) -> list[tuple[rehearsals.Foreseen, bool]]:
    """Return each operation, with True when it would run without the command too."""
    anyway = Counter(_same(step) for step in (before.steps if before is not None else ()))
    found = []
    for step in after.steps:
        key = _same(step)
        found.append((step, anyway[key] > 0))
        anyway[key] -= 1
    return found


def _same(step: rehearsals.Foreseen) -> tuple[str, ...]:
    """Return the key that two operations share when they count as the same."""
    return (step.model, step.machine, step.unit, step.title)


def _run(cli: Cli, words: Sequence[str], model: str, folder: Path, source: Path) -> Cli:
    """Run a command line on a copy of a data directory; return its `Cli`, with what it opened.

    Raises:
        PushjujuError: The command failed. The exit status is 1 also for wrong flags: 2 means changes.
    """
    env = {key: value for key, value in cli.env.items() if key != "JUJU_DATA"}
    env |= {"PUSHJUJU_DATA": str(folder), **({"JUJU_MODEL": model} if model else {})}
    stdin = cli.console.stdin if "-" in words else io.StringIO(_YES)
    console = Console(stdin=stdin, stdout=io.StringIO(), stderr=io.StringIO(), env=env)
    inner = Cli(console=console, output=Output(console), clock=cli.clock, program=cli.program, rehearsal=True)
    try:
        root = click.get_current_context().find_root().command  # the root keeps no state of this call
        with root.make_context(cli.program, ["--no-alias", *words], obj=inner) as context:
            root.invoke(context)
    except UsageError as error:
        _close(inner)
        raise PushjujuError(error.message, detail=error.detail, hint=error.hint) from error
    except Silent:
        _close(inner)
        raise PushjujuError(_said(inner).strip().replace(str(folder), str(source))) from None
    except PushjujuError as error:
        _close(inner)
        for part in ("message", "detail", "hint"):  # the copy is deleted
            setattr(error, part, getattr(error, part).replace(str(folder), str(source)))
        raise
    except BaseException:
        _close(inner)
        raise
    for line in _said(inner).splitlines():
        if line.startswith("WARNING ") and "following actions" not in line:
            cli.console.warn(line.removeprefix("WARNING "))
    return inner


def _said(inner: Cli) -> str:
    """Return what the planned command has printed beside its output."""
    said = inner.console.stderr
    assert isinstance(said, io.StringIO), "made by _run"
    return said.getvalue()


def _controller(inner: Cli) -> contexts.Context | None:
    return next((item for item in inner.extra.values() if isinstance(item, contexts.Context)), None)


def _close(inner: Cli) -> None:
    for service in inner.extra.values():
        close = getattr(service, "close", None)
        if close is not None:
            close()
