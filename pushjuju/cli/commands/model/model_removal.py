"""Steps of the commands that destroy models: check flags, make models die, wait for the end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pushjuju.cli.commands.model.model_table import emptied
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive, foreground, hints
from pushjuju.core.errors import HookFailed, NotFound, UsageError
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.model import destroy_model
from pushjuju.workers import background

_LOOK_AGAIN_S = 0.2

_START_S = 10.0  # how long a background process may take to start

_IDLE_S = 3.0  # how long a dying model may stand still before the user is warned

STORAGE_FLAGS = (
    flags.switch("destroy-storage", "Destroy all storage instances"),
    flags.switch("release-storage", "Release all storage instances from management, without destroying them"),
)

NO_WAIT = flags.switch("no-wait", "Rush through destruction without waiting for each step to complete")


def force_of(flag: str, *, force: bool, no_wait: bool, timeout: float | None) -> removal.Force | None:
    """Return how to force a destruction, or None when it is not forced."""
    if timeout is not None and not force:
        raise UsageError(f"{flag} can only be used with --force (dangerous)")
    if timeout is not None and timeout < 0:
        raise UsageError(f"{flag} must not be negative")
    if no_wait and not force:
        raise UsageError("--no-wait without --force not valid")
    wait_s = 0.0 if no_wait else timeout if timeout is not None else removal.MAX_WAIT_S
    return removal.Force(wait_s=wait_s) if force else None


def storage_fate(*, destroy: bool, release: bool) -> bool | None:
    """Return True to destroy storage, False to release it, None when the model must have no storage."""
    if destroy and release:
        raise UsageError("--destroy-storage and --release-storage cannot both be specified")
    return True if destroy else False if release else None


def count_text(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}"


def begin_removal(
    ctx: context.Context,
    doomed: Sequence[sessions.Model],
    force: removal.Force | None,
    *,
    destroy_storage: bool | None,
) -> str:
    """Make all models dying, or no model if one is refused; return a text with what has to end first."""
    if not destroy_model.destroy_models(ctx, doomed, force, destroy_storage=destroy_storage):
        return ""
    hosts, applications = destroy_model.counts(ctx, doomed)
    return emptied([(hosts, "machine"), (applications, "application")])


def await_removal(
    cli: Cli, ctx: context.Context, model: sessions.Model, *, forced: bool, until: float | None = None
) -> None:
    """Wait until a model is removed, as Juju's client does, whichever process works on the removal.

    Args:
        forced: Whether to ignore failures of hooks.
        until: When to give up, on the monotonic clock; None to wait without limit.
    """
    idle_s = started = 0.0
    told = ""
    while True:
        if drive.waits(cli):
            _work_on_removal(cli, ctx, model, forced=forced)
        elif time.monotonic() - started > _START_S:
            drive.background(cli, ctx, model.uuid)
            started = time.monotonic()
        left = destroy_model.dying(ctx, model.uuid)
        if left is None:
            return
        if left.reasons and not told and (told := hints.deadline(ctx, model.uuid)):
            cli.console.info(f"{left.reasons[0]}; {told} at the latest")
        served = (
            time.monotonic() - started < _START_S or drive.waits(cli) or background.running(ctx.controller)
        )
        working = served and models.being_worked(ctx, model.uuid)
        idle_s = 0.0 if left.has_ends or working else idle_s + _LOOK_AGAIN_S
        if (nobody := foreground.unworked(ctx, model.uuid)) is not None:
            text, hint = nobody
            raise NotFound(f"model {model.qualified} is not removed yet: {text}", hint=hint)
        if idle_s > _IDLE_S or (until is not None and time.monotonic() > until):
            text = f"model {model.qualified} is not removed yet"
            raise NotFound(text, detail="\n".join(left.reasons), hint=cli.on_interrupt)
        time.sleep(_LOOK_AGAIN_S)


def _work_on_removal(cli: Cli, ctx: context.Context, model: sessions.Model, *, forced: bool) -> None:
    try:
        drive.settle(cli, ctx, model.uuid)
    except HookFailed:
        if not forced:
            raise
