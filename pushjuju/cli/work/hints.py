"""Suggests the next commands after a failure: commands that help in the state of that moment."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.times import clock_text
from pushjuju.cli.work import session
from pushjuju.core.status import Life
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import forced_ends
from pushjuju.services.views import next_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.entities.model.sessions import Model


def model_flag(cli: Cli, ctx: Context, model: Model) -> str:
    """Return the flag that names a model in a command; empty for the current model."""
    name = f"{ctx.controller.name}:{model.qualified}"
    return "" if session.position(cli) == name else f" -m {name}"


def in_model(line: str, at: str) -> str:
    """Return a line of hints with the flag that names the model."""
    word, space, rest = line.partition(" ")
    return f"{word}{at}{space}{rest}"


def after_failure(cli: Cli, ctx: Context, model: str, *, unit: str = "", machine: str = "") -> str:
    """Return the commands that help after a failure, one a line.

    Args:
        unit: The unit in error, or the unit that was set aside; empty for none.
        machine: The machine that could not be started or used; empty for none.
    """
    found = models.find(ctx, model)
    if found is None:  # another process has ended the machine meanwhile
        return ""
    at = model_flag(cli, ctx, found)
    lines = _of_unit(ctx, model, unit, at) if unit else _of_machine(ctx, found, machine, at)
    return "\n".join(f"{cli.program} {line}" for line in lines)


def deadline(ctx: Context, model: str, subject: str = "") -> str:
    """Return when a forced removal takes effect at the latest: `machine 0 goes at 13:36:28Z`.

    Args:
        subject: `machine 0` or `web/0`; empty for all forced removals of the model.
    """
    ends = forced_ends.forced_ends(ctx, model)
    mine = [end for end in ends if subject in ("", forced_ends.forced_subject(end.kind, end.entity))]
    if not mine:
        return ""
    last = mine[-1]
    what = subject or forced_ends.forced_subject(last.kind, last.entity)
    return f"{what} goes at {clock_text(last.due, utc=False)}"


def to_new_charm(cli: Cli, ctx: Context, model: str, name: str, place: tuple[str, ...]) -> str:
    """Return the command that gives units in error the charm of `place`; empty when all have it."""
    found = models.find(ctx, model)
    if found is None or not next_steps.lacks_new_charm(ctx, model, name):
        return ""
    words = shlex.join([name, *place, "--force-units"])
    at = model_flag(cli, ctx, found)
    return f"{cli.program} refresh{at} {words}    gives units in error the new charm as well"


def _of_unit(ctx: Context, model: str, name: str, at: str) -> Iterable[str]:
    """Yield the commands for a unit in error; a dying unit can also be removed without its hooks."""
    unit = next_steps.unit(ctx, model, name)
    yield f"debug-log{at} --replay --include {name}    shows its log"
    if not unit.waits:
        yield from _again(ctx, model, unit.machine, at)
        return
    yield f"resolved{at} {name}    tries the hook again"
    if not unit.is_dying:
        return
    yield f"resolved{at} {name} --no-retry    goes on without the hook"
    if due := [item for item in (name, unit.ended_by) if item and deadline(ctx, model, item)]:
        yield f"explain{at} {due[0]}    tells when it goes without its hooks"
    elif owner := unit.dying_application:
        yield f"remove-application{at} {owner} --force    ends it without its hooks, when they fail"
    elif ends := unit.ended_by:
        yield f"remove-unit{at} {ends} --force    ends it without its hooks, when they fail"


def _of_machine(ctx: Context, model: Model, machine: str, at: str) -> Iterable[str]:
    found = next_steps.machine(ctx, model, machine)
    if found.suspended:
        credential = f"{model.cloud} {model.credential.rpartition('/')[2]}"
        yield f"update-credential {credential}    lets the machines be tried again"
    elif found.given_up:
        yield f"retry-provisioning{at} {machine}    tries it again"
    elif found.is_dying:
        yield from _of_dying(ctx, model, found.containers or [machine], at)
    else:
        yield from _again(ctx, model.uuid, machine, at)
    if model.life != Life.ALIVE:
        yield _of_model(ctx, model)


def _of_model(ctx: Context, model: Model) -> str:
    """Return how to continue the removal of a model, which is not the current model any more."""
    name = f"{ctx.controller.name}:{model.qualified}"
    if end := deadline(ctx, model.uuid):
        return f"explain -m {name}    {end}"
    return f"destroy-model {name} --force    ends it, whatever is left"


def _of_dying(ctx: Context, model: Model, stuck: Sequence[str], at: str) -> Iterable[str]:
    """Yield how dying machines end: by themselves, or by a forced removal."""
    ends = [deadline(ctx, model.uuid, f"machine {name}") for name in stuck]
    told = "; ".join(text for text in ends if text) or "tells what it waits for, and who works on it"
    yield f"explain{at} {' '.join(stuck)}    {told}"
    left = [name for name, end in zip(stuck, ends, strict=True) if not end]
    if left and model.life == Life.ALIVE:
        yield f"remove-machine{at} {' '.join(left)} --force    puts it out of the model, whatever is left"


def _again(ctx: Context, model: str, machine: str, at: str) -> Iterable[str]:
    """Yield when a process tries the failed work again, or which command the user must run for that."""
    what = f"explain{at}{' ' if machine else ''}{machine}    tells what is known"
    waiting = next_steps.waiting_process(ctx)
    if not waiting:
        yield f"update-status{at}    tries it again; nobody is working on it"
        yield what
        return
    due = next_steps.next_try(ctx, model, machine)
    when = f" at {clock_text(due, utc=False)}" if due else ""
    yield f"{what}; process {waiting} tries it again{when}"
