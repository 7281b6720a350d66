"""Commands that change the units and relations of a model on another computer.

Each records a change and returns. The command of this computer has checked the arguments before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax import values
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import removals
from pushjuju.client import charms
from pushjuju.client.tasks import tag_of
from pushjuju.core.firewall import split
from pushjuju.services.views import removal_plan

if TYPE_CHECKING:
    from pushjuju.client.connection import Connection
    from pushjuju.services.lifecycle.removal import Force


def add_unit(call: Call) -> None:
    with call.target.opened() as (connection, _):
        params = {
            "application": call.args[0],
            "num-units": call.flags.num_units,
            "placement": charms.places(values.placements(call.flags.to), connection.model),
            "attach-storage": [tag_of("storage", item) for item in call.flags.attach_storage],
        }
        added = connection.call("Application", "AddUnits", params).get("units") or ()
    call.cli.console.detail(f"added {', '.join(added)}")


def remove_unit(call: Call) -> None:
    forced = removals.force(force=call.flags.force, no_wait=call.flags.no_wait)
    with call.target.opened() as (connection, _):
        remove = partial(_destroy_units, connection, forced, call.flags.destroy_storage)
        plan = removals.Plan.of(call.args, partial(remove, dry_run=True), failed="removing unit {} failed")
        _carry_out(call.cli, connection, plan, remove, what="unit removal", flags=call.flags)


def _destroy_units(
    connection: Connection, forced: Force | None, destroy_storage: bool, names: list[str], *, dry_run: bool
) -> list[str]:
    """Remove units, or only ask what this would do; return the lines of the plan."""
    units = [
        {"unit-tag": tag_of("unit", name), **_options(forced, destroy_storage, dry_run)} for name in names
    ]
    results = connection.each("Application", "DestroyUnit", {"units": units})
    lines: list[str] = []
    for name, item in zip(names, results, strict=True):
        lines += [f"will remove unit {name}", *_storage_lines(item["info"])]
    return lines


def remove_application(call: Call) -> None:
    forced = removals.force(force=call.flags.force, no_wait=call.flags.no_wait)
    with call.target.opened() as (connection, _):
        remove = partial(_destroy_applications, connection, forced, call.flags.destroy_storage)
        plan = removals.Plan.of(
            call.args, partial(remove, dry_run=True), failed="removing application {} failed"
        )
        what = "application removal"
        _carry_out(call.cli, connection, plan, remove, what=what, flags=call.flags)


def _destroy_applications(
    connection: Connection, forced: Force | None, destroy_storage: bool, names: list[str], *, dry_run: bool
) -> list[str]:
    """Remove applications, or only ask what this would do; return the lines of the plan."""
    applications = [
        {"application-tag": f"application-{name}", **_options(forced, destroy_storage, dry_run)}
        for name in names
    ]
    results = connection.each("Application", "DestroyApplication", {"applications": applications})
    lines: list[str] = []
    for name, item in zip(names, results, strict=True):
        lines.append(f"will remove application {name}")
        lines += [
            f"- will remove unit {_unit(unit['tag'])}" for unit in item["info"].get("destroyed-units") or ()
        ]
        lines += _storage_lines(item["info"])
    return lines


def remove_machine(call: Call) -> None:
    forced = removals.force(force=call.flags.force, no_wait=call.flags.no_wait)
    ids = [values.machine_id(arg) for arg in call.args]
    with call.target.opened() as (connection, _):
        remove = partial(_destroy_machines, connection, forced, call.flags.keep_instance)
        plan = removals.Plan.of(ids, partial(remove, dry_run=True), failed="removing machine failed")
        _carry_out(call.cli, connection, plan, remove, what="machine removal", flags=call.flags)


def _destroy_machines(
    connection: Connection, forced: Force | None, keep: bool, ids: list[str], *, dry_run: bool
) -> list[str]:
    """Remove machines, or only ask what this would do; return the lines of the plan."""
    params = {
        "machine-tags": [tag_of("machine", name) for name in ids],
        "keep": keep,
        "dry-run": dry_run,
        **_forced(forced),
    }
    lines: list[str] = []
    for name, item in zip(
        ids, connection.each("MachineManager", "DestroyMachineWithParams", params), strict=True
    ):
        lines.append(f"will remove machine {name}")
        lines += [
            f"- will remove unit {_unit(unit['tag'])}" for unit in item["info"].get("destroyed-units") or ()
        ]
    return lines


def add_machine(call: Call) -> None:
    """Add machines that the cloud makes."""
    flags = call.flags
    place = values.machine_placement(call.args[0] if call.args else "")
    base = values.base(flags.base, flags.series, call.cli.console)
    with call.target.opened() as (connection, _):
        item = {
            "base": {"name": base.os, "channel": base.channel} if base else {},
            "constraints": dict(values.constraints(flags.constraints, call.cli.console)),
            "placement": charms.places([place], connection.model)[0] if place else None,
            "disks": [charms.directive(disk) for disk in values.disks(flags.disks)],
        }
        made = connection.call("MachineManager", "AddMachines", {"params": [item] * flags.n})["machines"]
        for found in made:
            connection.require(found)
            kind = "container" if "/" in found["machine"] else "machine"
            call.cli.console.info(f"created {kind} {found['machine']}")


def _carry_out(
    cli: Cli,
    connection: Connection,
    plan: removals.Plan,
    remove: Callable[..., list[str]],
    *,
    what: str,
    flags: Any,
) -> None:
    """Ask the user if the model wants this, then remove the entities of the plan."""
    plan.check(cli)
    asks = not flags.no_prompt and _asks_first(connection)
    told = removals.ask(cli, plan, what=what, asks=asks, dry_run=flags.dry_run)
    if flags.dry_run:
        return

    def act(names: list[str]) -> None:
        remove(names, dry_run=False)

    plan.carry_out(act)
    if not told:
        removals.tell(cli, plan.text())


def _asks_first(connection: Connection) -> bool:
    config = connection.call("ModelConfig", "ModelGet").get("config") or {}
    return removal_plan.requires_prompts(str((config.get("mode") or {}).get("value") or ""))


def _options(forced: Force | None, destroy_storage: bool, dry_run: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"destroy-storage": destroy_storage, "dry-run": dry_run, **_forced(forced)}
    return found


def _forced(forced: Force | None) -> dict[str, Any]:
    return {"force": True, "max-wait": int(forced.wait_s * 1e9)} if forced else {"force": False}


def _storage_lines(info: Mapping[str, Any]) -> list[str]:
    return [
        f"- will {verb} storage {_unit(item['tag'])}"
        for verb, key in (("remove", "destroyed-storage"), ("detach", "detached-storage"))
        for item in info.get(key) or ()
    ]


def _unit(tag: str) -> str:
    """Return `web/0` of `unit-web-0`; the same for storage."""
    name, _, number = tag.partition("-")[2].rpartition("-")
    return f"{name}/{number}"


def integrate(call: Call) -> None:
    """Relate two applications of the model."""
    with call.target.opened() as (connection, _):
        params = {"endpoints": list(call.args), "via-cidrs": split(call.flags.via)}
        connection.call("Application", "AddRelation", params)


def remove_relation(call: Call) -> None:
    """Remove a relation, by its endpoints or its id."""
    forced = _forced(removals.force(force=call.flags.force, no_wait=call.flags.no_wait))
    named: dict[str, Any] = (
        {"relation-id": int(call.args[0])} if len(call.args) == 1 else {"endpoints": list(call.args)}
    )
    with call.target.opened() as (connection, _):
        connection.call("Application", "DestroyRelation", {**named, **forced})


def expose(call: Call) -> None:
    """Open an application's ports for other networks."""
    allowed = {"expose-to-spaces": split(call.flags.to_spaces), "expose-to-cidrs": split(call.flags.to_cidrs)}
    names = split(call.flags.endpoints) or ([""] if any(allowed.values()) else [])
    params = {"application": call.args[0], "exposed-endpoints": dict.fromkeys(names, allowed)}
    with call.target.opened() as (connection, _):
        connection.call("Application", "Expose", params)


def unexpose(call: Call) -> None:
    """Close an application's ports for other networks."""
    params = {"application": call.args[0], "exposed-endpoints": split(call.flags.endpoints)}
    with call.target.opened() as (connection, _):
        connection.call("Application", "Unexpose", params)


def resolved(call: Call) -> None:
    """Mark units in error as resolved."""
    entities = [{"tag": tag_of("unit", name)} for name in call.args]
    params = {"tags": {"entities": entities}, "retry": not call.flags.no_retry, "all": call.flags.every}
    with call.target.opened() as (connection, _):
        connection.each("Application", "ResolveUnitErrors", params)
