"""After a change: work until all is at rest, or leave it to a background process.

The work itself is the workers'; here it is started, shown and judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.cli.work import foreground
from pushjuju.workers import background as process

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.basis.context import Context

_NO_WAIT = ("0", "false", "no")


def waits(cli: Cli, *, no_wait: bool = False) -> bool:
    """Return True when this call works in the foreground: not with `--no-wait` or `PUSHJUJU_WAIT=0`."""
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
    """Work a model until it is at rest, showing progress; or start a background process for it.

    Args:
        touched: Applications, units or machines that this command is about: only their failures, and those of
            the machines that they are on, make the command fail. EVERY_MACHINE stands for all machines; by
            default any failure counts.
        no_wait: Record only.
        routine: The command asked for update-status. Else slow hooks of that are left to the background.

    Raises:
        HookFailed: Something that was touched is in error.
    """
    if not waits(cli, no_wait=no_wait):
        background(cli, ctx)
        return

    def leave() -> None:
        background(cli, ctx)

    foreground.settle(cli, ctx, model, touched=touched, routine=routine, leave=leave)


def background(cli: Cli, ctx: Context) -> None:
    """Start the background process of a controller unless it runs."""
    if cli.rehearsal:
        return
    process.ensure(ctx.controller, str(ctx.datadir.root), cli.env)
