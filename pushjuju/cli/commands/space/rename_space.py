"""rename-space: rename a network space. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.space.space_words import BAD, failing_to, space_name
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.requests.machine import spaces


@command(
    "rename-space",
    usage="<old-name> <new-name>",
    summary="Rename a network space.",
    at_most=2,
    flags=(*flags.IN_MODEL, flags.text("rename", "The new name, instead of the second argument")),
    examples="    pushjuju rename-space db sql\n",
    see_also=("spaces", "show-space"),
)
def rename_space(cli: Cli, args: tuple[str, ...], *, model: str, rename: str) -> None:
    words = [*args, *([rename] if rename else [])]
    if len(words) < 2:
        raise UsageError(f"{BAD}{'new' if args else 'old'}-name is required")
    if len(words) > 2:
        raise UsageError(f"{BAD}the new name is given twice")
    old, new = map(space_name, words)
    if old == new:
        raise UsageError(f"{BAD}old-name and new-name are the same")
    opened = session.open_model(cli, model)
    with failing_to(f"cannot rename space {quote(old)}"):
        spaces.rename(opened.ctx, opened.uuid, old, new)
    cli.console.info(f"renamed space {quote(old)} to {quote(new)}")
