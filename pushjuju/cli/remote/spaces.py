"""remove-space and move-to-space on a model of another computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.commands.space import move_to_space as move_command
from pushjuju.cli.commands.space import remove_space as remove_command
from pushjuju.cli.commands.space.space_words import failing_to, name_and_cidrs
from pushjuju.cli.remote.call import Call
from pushjuju.core.errors import NotFound
from pushjuju.portable.quote import quote
from pushjuju.services.entities.machine.spaces import Uses

if TYPE_CHECKING:
    from pushjuju.client.connection import Connection


def remove_space(call: Call) -> None:
    """Remove a space; with --force and without --yes, ask first."""
    name = call.args[0]
    with call.target.opened() as (connection, _), failing_to(f"cannot remove space {quote(name)}"):
        if call.flags.force and not call.flags.yes:
            uses = _removal(connection, name, force=True, dry_run=True)
            remove_command.confirm(call.cli, uses.lines(name))
        left = _removal(connection, name, force=call.flags.force, dry_run=False)
    remove_command.tell(call.cli, name, left.lines(name))


def _removal(connection: Connection, name: str, *, force: bool, dry_run: bool) -> Uses:
    """Remove a space; return what prevents the removal, or with `dry_run` what uses the space."""
    item = {"space": {"tag": f"space-{name}"}, "force": force, "dry-run": dry_run}
    (found,) = connection.each("Spaces", "RemoveSpace", {"space-param": [item]})
    kinds = (found.get(key) or () for key in ("constraints", "bindings"))
    constraints, bindings = (
        [entity["tag"].removeprefix("application-") for entity in kind] for kind in kinds
    )
    return Uses(constraints=constraints, bindings=bindings)


def move_to_space(call: Call) -> None:
    name, cidrs = name_and_cidrs(call.args, optional=False)
    with call.target.opened() as (connection, _), failing_to(f"cannot update space {quote(name)}"):
        item = {
            "space-tag": f"space-{name}",
            "subnets": [_subnet(connection, cidr) for cidr in cidrs],
            "force": call.flags.force,
        }
        (found,) = connection.each("Spaces", "MoveSubnets", {"args": [item]})
    move_command.tell(
        call.cli,
        [
            {"from": moved["old-space"].removeprefix("space-"), "to": name, "cidr": moved["cidr"]}
            for moved in found["moved-subnets"]
        ],
    )


def _subnet(connection: Connection, cidr: str) -> str:
    (found,) = connection.each("Subnets", "SubnetsByCIDR", {"cidrs": [cidr]})
    if not found.get("subnets"):
        raise NotFound(f"subnet {quote(cidr)} not found", hint="pushjuju subnets")
    return f"subnet-{found['subnets'][0]['id']}"
