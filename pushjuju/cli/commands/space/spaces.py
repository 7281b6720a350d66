"""Network spaces and subnets: spaces, show-space, add-space, ...

Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pushjuju.cli.commands.space import space_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid, PushjujuError, UsageError
from pushjuju.core.names import is_space
from pushjuju.portable.quote import quote
from pushjuju.services.entities.machine import spaces as service
from pushjuju.services.views import space_documents

_BAD = "invalid arguments specified: "
_SAFE = (
    "WARNING! This command will remove the space. Safe removal possible. No constraints, bindings or "
    "controller config found with dependency on the given space."
)
_UNSAFE = "WARNING! This command will remove the space with the following existing boundaries:\n\n{}\n\n"


def _space_name(text: str) -> str:
    if not is_space(text):
        raise UsageError(f"{_BAD}{quote(text)} is not a valid space name")
    return text


def _name_and_cidrs(args: Sequence[str], *, optional: bool) -> tuple[str, list[str]]:
    """Read `NAME CIDR...`.

    Raises:
        UsageError: A name or CIDR that is none, or twice the same; the messages are Juju's.
    """
    if not args:
        raise UsageError(f"{_BAD}space name is required")
    found: list[str] = []
    name = _space_name(args[0])
    for text in args[1:]:
        cidr = _cidr(text)
        if cidr in found:
            same = f"duplicate subnet {quote(cidr)} specified"
            raise UsageError(
                _BAD + (same if cidr == text else f"subnet {quote(text)} overlaps with {quote(cidr)}")
            )
        found.append(cidr)
    if not found and not optional:
        raise UsageError(f"{_BAD}CIDRs required but not provided")
    return name, sorted(found)


def _cidr(text: str) -> str:
    try:
        if "/" not in text:
            raise ValueError
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise UsageError(f"{_BAD}{quote(text)} is not a valid CIDR") from None


@contextmanager
def _failing_to(what: str) -> Iterator[None]:
    """Say in an error what could not be done."""
    try:
        yield
    except PushjujuError as error:
        raise type(error)(f"{what}: {error.message}", detail=error.detail, hint=error.hint) from None


@command(
    "spaces",
    summary="List known spaces, including associated subnets.",
    aliases=("list-spaces",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, flags.switch("short", "only display spaces.")),
    examples="    pushjuju spaces\n    pushjuju spaces --short\n",
    see_also=("add-space", "reload-spaces"),
)
def spaces(cli: Cli, _args: tuple[str, ...], *, model: str, short: bool) -> None:
    """List spaces."""
    opened = session.open_model(cli, model)
    found = space_documents.listing(opened.ctx, opened.uuid)
    if short:
        names = [space["name"] for space in found]
        cli.output.write({"spaces": names}, {"tabular": lambda _: formatters.names(names)})
    else:
        cli.output.write({"spaces": found}, {"tabular": lambda _: formatters.table(found)})


@command(
    "show-space",
    usage="<name>",
    summary="Shows information about the network space.",
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju show-space alpha\n",
    see_also=("add-space", "spaces", "remove-space"),
)
def show_space(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show a space with its subnets, applications and machines."""
    if len(args) != 1:
        raise UsageError(f"expected exactly 1 space name, got {len(args)} arguments")
    opened = session.open_model(cli, model)
    with _failing_to(f"cannot retrieve space {quote(args[0])}"):
        cli.output.write(space_documents.show(opened.ctx, opened.uuid, args[0]))


@command(
    "subnets",
    summary="List subnets known to Juju.",
    aliases=("list-subnets",),
    at_most=0,
    formats=("yaml", "json"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("space", "Filter results by space name"),
        flags.text("zone", "Filter results by zone name"),
    ),
    examples="    pushjuju subnets\n    pushjuju subnets --space alpha\n",
    see_also=("spaces", "reload-spaces"),
)
def subnets(cli: Cli, _args: tuple[str, ...], *, model: str, space: str, zone: str) -> None:
    """List subnets; none of them is in a zone, as far as machines can tell."""
    if space and not is_space(space):
        raise UsageError(f"{quote(space)} is not a valid space name")
    opened = session.open_model(cli, model)
    with _failing_to("cannot list subnets"):
        found = space_documents.subnets(opened.ctx, opened.uuid, space=space)
    if not found or zone:
        nothing = (
            "No subnets found matching requested criteria." if space or zone else "No subnets to display."
        )
        cli.console.info(nothing)
        return
    cli.output.write({"subnets": found})


@command(
    "add-space",
    usage="<name> [<CIDR1> <CIDR2> ...]",
    summary="Add a new network space.",
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    details="The subnets are those that machines of the model have addresses in.",
    examples="    pushjuju add-space db 10.0.0.0/24\n",
    see_also=("spaces", "subnets", "move-to-space"),
)
def add_space(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Make a space."""
    name, cidrs = _name_and_cidrs(args, optional=True)
    opened = session.open_model(cli, model)
    with _failing_to(f"cannot add space {quote(name)}"):
        service.add(opened.ctx, opened.uuid, name, cidrs)
    cli.console.info(
        f"added space {quote(name)} with " + (f"subnets {', '.join(cidrs)}" if cidrs else "no subnets")
    )
    drive.settle(cli, opened.ctx, opened.uuid, touched=_everybody(opened), no_wait=no_wait)


def _everybody(opened: session.Session) -> list[str]:
    """Return all applications: any of them may have an address that went to another space."""
    with opened.ctx.store.read() as tx:
        return [row["name"] for row in tx.rows("application_list", model=opened.uuid)]


@command(
    "move-to-space",
    usage="<name> <CIDR1> [ <CIDR2> ...]",
    summary="Update a network space's CIDR.",
    formats=("human", "tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        flags.switch("force", "Although applications are bound to the space that their machines leave"),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju move-to-space db 172.31.1.0/28 172.31.16.0/20\n",
    see_also=("add-space", "spaces", "show-space"),
)
def move_to_space(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    """Move subnets to a space."""
    name, cidrs = _name_and_cidrs(args, optional=False)
    opened = session.open_model(cli, model)
    with _failing_to(f"cannot update space {quote(name)}"):
        moved = service.move(opened.ctx, opened.uuid, name, cidrs, force=force)
    document = [{"from": item.old, "to": item.new, "cidr": item.cidr} for item in moved]
    shown = {"human": formatters.moved_lines, "tabular": formatters.moved_table}
    cli.output.write([formatters.moved(item) for item in document], shown)
    drive.settle(cli, opened.ctx, opened.uuid, touched=_everybody(opened), no_wait=no_wait)


@command(
    "rename-space",
    usage="<old-name> <new-name>",
    summary="Rename a network space.",
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN, flags.text("rename", "the new name, in place of the second argument")),
    examples="    pushjuju rename-space db sql\n",
    see_also=("spaces", "show-space"),
)
def rename_space(cli: Cli, args: tuple[str, ...], *, model: str, rename: str) -> None:
    """Give a space another name."""
    words = [*args, *([rename] if rename else [])]
    if len(words) < 2:
        raise UsageError(f"{_BAD}{'new' if args else 'old'}-name is required")
    if len(words) > 2:
        raise UsageError(f"{_BAD}the new name is given twice")
    old, new = map(_space_name, words)
    if old == new:
        raise UsageError(f"{_BAD}old-name and new-name are the same")
    opened = session.open_model(cli, model)
    with _failing_to(f"cannot rename space {quote(old)}"):
        service.rename(opened.ctx, opened.uuid, old, new)
    cli.console.info(f"renamed space {quote(old)} to {quote(new)}")


@command(
    "remove-space",
    usage="<name>",
    summary="Remove a network space.",
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Also where bindings or constraints name it"),
        flags.switch("yes", "Do not prompt for confirmation", short="y"),
    ),
    details="Its subnets go to space alpha, and so do bindings that are forced away.",
    examples="    pushjuju remove-space db\n    pushjuju remove-space db --force --yes\n",
    see_also=("add-space", "spaces", "show-space"),
)
def remove_space(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, yes: bool) -> None:
    """Remove a space."""
    if not args:
        raise UsageError(f"{_BAD}space name is required")
    name = _space_name(args[0])
    opened = session.open_model(cli, model)
    failing = f"cannot remove space {quote(name)}"
    if force and not yes:
        with _failing_to(failing), opened.ctx.store.read() as tx:
            space = service.require_removable(tx, opened.uuid, name)
            lines = service.uses(tx, opened.uuid, space).lines(name)
        _confirm(cli, "\n".join(lines))
    with _failing_to(failing):
        left = service.remove(opened.ctx, opened.uuid, name, force=force).lines(name)
    if left:
        boundaries = "\n".join(left)
        raise NotValid(f"Cannot remove space {quote(name)}\n\n{boundaries}\n\nUse --force to remove space\n")
    cli.console.info(f"removed space {quote(name)}")
    drive.settle(cli, opened.ctx, opened.uuid, touched=_everybody(opened))


def _confirm(cli: Cli, boundaries: str) -> None:
    warning = _UNSAFE.format(boundaries) if boundaries else _SAFE
    cli.console.confirm(f"{warning}\n\nContinue [y/N]? ", what="space removal")


@command(
    "reload-spaces",
    summary="Reloads spaces and subnets from substrate.",
    at_most=0,
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    details="Every machine is asked for its addresses; subnets of space alpha that none has are forgotten.",
    see_also=("spaces", "add-space", "subnets"),
)
def reload_spaces(cli: Cli, _args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Ask all machines for their addresses."""
    opened = session.open_model(cli, model)
    touched = service.reload(opened.ctx, opened.uuid)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
