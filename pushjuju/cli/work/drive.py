"""After a change: works on the model until it is at rest, or starts a background process for this.

The workers do the work; this module starts them, shows their progress and reports failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.cli.work import foreground
from pushjuju.services.entities.model import pools
from pushjuju.workers import background as process

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.basis.context import Context

_NO_WAIT = ("0", "false", "no")


def waits(cli: Cli, *, no_wait: bool = False) -> bool:
    """Return True when this command works on the model itself: not with `--no-wait` or `PUSHJUJU_WAIT=0`."""
    return not no_wait and not cli.rehearsal and cli.env.get("PUSHJUJU_WAIT", "").lower() not in _NO_WAIT


def settle(
    cli: Cli,
    ctx: Context,
    model: str,
    *,
    touched: Sequence[str] | None = None,
    no_wait: bool = False,
    routine: bool = False,
) -> None:
    """Work on a model until it is at rest and show progress, or start a background process for the work.

    Args:
        touched: Applications, units or machines of this command: the command fails only when work on these,
            or on their machines, fails. EVERY_MACHINE stands for all machines. By default any failure counts.
        no_wait: True to start a background process and return.
        routine: True when the command waits for update-status hooks too; else slow ones go on in the
        background.

    Raises:
        HookFailed: A hook failed on one of `touched`, or the work on one of their machines failed.
    """

    def leave() -> None:
        background(cli, ctx, model)

    if (nobody := foreground.unworked(ctx, model)) is not None:
        cli.console.warn("\nnext: ".join(nobody))
    elif not waits(cli, no_wait=no_wait):
        leave()
    else:
        foreground.settle(cli, ctx, model, touched=touched, routine=routine, leave=leave)


def background(cli: Cli, ctx: Context, model: str = "") -> None:
    """Start the background process of a controller, unless one runs.

    Args:
        model: The only model with new work; when other processes do its work, none is started.
    """
    attended = model and ctx.store.engine.locks_models and pools.is_attended(ctx, model)
    if cli.rehearsal or attended:
        return
    process.ensure(ctx.controller, str(ctx.datadir.root), cli.env)
