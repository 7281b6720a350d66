"""remove-space: remove a network space. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.commands.space.space_words import BAD, failing_to, space_name
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.requests.machine import spaces
from pushjuju.services.views.listings import applications

_SAFE = (
    "WARNING! This command will remove the space. Safe removal possible. No constraints, bindings or "
    "controller config found with dependency on the given space."
)

_UNSAFE = "WARNING! This command will remove the space with the following existing boundaries:\n\n{}\n\n"


@command(
    "remove-space",
    usage="<name>",
    summary="Remove a network space.",
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Remove even if bindings or constraints name the space"),
        flags.switch("yes", "Do not prompt for confirmation", short="y"),
    ),
    details="The subnets move to space alpha; with --force bindings do, too.",
    examples="    pushjuju remove-space db\n    pushjuju remove-space db --force --yes\n",
    see_also=("add-space", "spaces", "show-space"),
)
def remove_space(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, yes: bool) -> None:
    if not args:
        raise UsageError(f"{BAD}space name is required")
    name = space_name(args[0])
    opened = session.open_model(cli, model)
    failing = f"cannot remove space {quote(name)}"
    if force and not yes:
        with failing_to(failing):
            lines = spaces.plan_removal(opened.ctx, opened.uuid, name).lines(name)
        confirm(cli, lines)
    with failing_to(failing):
        left = spaces.remove(opened.ctx, opened.uuid, name, force=force).lines(name)
    tell(cli, name, left)
    drive.settle(cli, opened.ctx, opened.uuid, touched=applications.names(opened.ctx, opened.uuid))


def tell(cli: Cli, name: str, left: Sequence[str]) -> None:
    """Print that a space was removed, or the lines in `left` about what prevents the removal."""
    if left:
        boundaries = "\n".join(left)
        raise NotValid(f"Cannot remove space {quote(name)}\n\n{boundaries}\n\nUse --force to remove space\n")
    cli.console.info(f"removed space {quote(name)}")


def confirm(cli: Cli, lines: Sequence[str]) -> None:
    """Ask before a space is removed that entities use; `lines` name the uses."""
    warning = _UNSAFE.format("\n".join(lines)) if lines else _SAFE
    cli.console.confirm(f"{warning}\n\nContinue [y/N]? ", what="space removal")
