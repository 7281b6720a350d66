"""show-controller: shows detailed information of a controller.

Mirrors: juju cmd/juju/controller, cmd/juju/commands/switch.go (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.cli.commands.controller import controller_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.clouds import DEFAULT_REGION
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import controllers as service
from pushjuju.services.entities.model import models


@command(
    "show-controller",
    usage="[<controller name> ...]",
    summary="Shows detailed information of a controller.",
    formats=("yaml", "json"),
    flags=(*flags.LOGIN, flags.switch("show-password", "Show passwords: the local user has none")),
    examples="    pushjuju show-controller\n    pushjuju show-controller home --format json\n",
    see_also=("controllers",),
)
def show_controller(cli: Cli, args: tuple[str, ...], *, show_password: bool) -> None:
    """Show controllers."""
    if show_password:
        cli.console.warn(f"{DEFAULT_USER} has no password: a user who can read the data directory needs none")
    folder = session.data_dir(cli)
    names = args or (service.current(folder, None, cli.env),)
    document = {name: _details(session.open_controller(cli, name)) for name in names}
    cli.output.text(formatters.show_controller(cli.output.form, document))


def _details(ctx: Context) -> dict[str, Any]:
    settings = ctx.controller.settings()
    version = settings.get("agent-version", JUJU_VERSION)
    return {
        "details": {
            "controller-uuid": settings.get("uuid", ""),
            "api-endpoints": ["local"],
            "cloud": settings.get("cloud", ""),
            "region": settings.get("region", DEFAULT_REGION),
            "agent-version": version,
            "controller-model-version": version,
            "ca-cert": "",
        },
        "models": {model.qualified: _model(ctx, model.uuid) for model in models.list_models(ctx)},
        **({"current-model": session.current_model(ctx)} if session.current_model(ctx) else {}),
        "account": {"user": DEFAULT_USER, "access": "superuser"},
    }


def _model(ctx: Context, uuid: str) -> dict[str, Any]:
    with ctx.store.read() as tx:
        listed = machines.list_machines(tx, uuid)
        count = sum(len(machines.units_on(tx, uuid, machine.id)) for machine in listed)
    cores = sum(int(machine.hardware.get("cores") or 0) for machine in listed)
    found = {"machine-count": len(listed), "core-count": cores, "unit-count": count}
    return {"model-uuid": uuid, **{key: value for key, value in found.items() if value}}
