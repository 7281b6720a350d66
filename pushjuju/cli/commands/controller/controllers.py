"""controllers, show-controller, switch, unregister: what there is and where we are.

Mirrors: juju cmd/juju/controller, cmd/juju/commands/switch.go (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.cli.commands.controller import controller_table as formatters
from pushjuju.cli.commands.model.model_table import switched
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.work import session
from pushjuju.core.clouds import DEFAULT_REGION
from pushjuju.core.errors import NotFound
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import controllers as service
from pushjuju.services.entities.model import models
from pushjuju.services.views import documents
from pushjuju.store.datadir import DataDir


@command(
    "controllers",
    summary="Lists all controllers.",
    aliases=("list-controllers",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.LOGIN,
        flags.switch("refresh", "Ask each controller for fresh details first"),
        flags.switch("managed", "Show controllers managed by JAAS: refused, there is none", hidden=True),
    ),
    examples="    pushjuju controllers\n    pushjuju controllers --refresh --format json\n",
    see_also=("models", "show-controller", "switch"),
)
def controllers(cli: Cli, _args: tuple[str, ...], *, refresh: bool, managed: bool) -> None:
    """List the controllers."""
    if managed:
        raise refusal("controllers --managed", "there is no JAAS that manages controllers")
    folder = session.data_dir(cli)
    if not folder.controllers():
        raise service.no_controller(folder)
    document = documents.controllers_document(
        folder, DEFAULT_USER, lambda name, error: session.warn_of_controller(cli, name, error)
    )
    cli.output.write(document, formatters.formatters(refreshed=refresh, colour=cli.output.colour))


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
        cli.console.warn(f"{DEFAULT_USER} has no password: who may read the data directory needs none")
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


@command(
    "switch",
    usage="[<controller>|<model>|<controller>:|:<model>|<controller>:<model>|-]",
    details="`-` goes back to where you were before. A bare word is a controller, if one has\n"
    "that name, else a model of the current controller.",
    summary="Selects or identifies the current controller and model.",
    at_most=1,
    flags=flags.LOGIN,
    examples="    pushjuju switch\n"
    "    pushjuju switch test\n"
    "    pushjuju switch home:test\n"
    "    pushjuju switch home:\n"
    "    pushjuju switch -\n",
    see_also=("controllers", "models"),
)
def switch(cli: Cli, args: tuple[str, ...]) -> None:
    """Show or change the current controller and model."""
    folder = session.data_dir(cli)
    before = session.position(cli)
    if not args:
        if not before:
            raise service.no_controller(folder)
        return cli.output.text(f"{before}\n")
    controller, model = _target(cli, folder, _previous(folder) if args[0] == "-" else args[0])
    with session.moving(cli):
        if model is not None:
            ctx = session.open_controller(cli, controller)
            session.focus(ctx, models.resolve(ctx, model))
        folder.set_current_controller(controller)
    return cli.console.info(switched(before, session.position(cli)))


def _previous(folder: DataDir) -> str:
    """Return where we were before.

    Raises:
        NotFound: Nowhere else.
    """
    found = str(folder.main().get("previous") or "")
    if not found:
        raise NotFound("no previous model found: not found", hint="pushjuju models    lists the models")
    return found if ":" in found else f"{found}:"


def _target(cli: Cli, folder: DataDir, text: str) -> tuple[str, str | None]:
    """Return (controller, model to focus or None) of the argument; a bare word may be either.

    Raises:
        NotFound: Neither a controller nor a model.
    """
    controller, model = session.split_model(text)
    if ":" in text:
        chosen = controller or service.current(folder, None, cli.env)
        folder.controller(chosen)
        return chosen, model or None
    if text in folder.controllers():
        return text, None
    if not folder.current_controller():
        raise NotFound(f'"{text}" is not the name of a controller: not found')
    current = service.current(folder, None, cli.env)
    try:
        models.resolve(session.open_controller(cli, current), text)
    except NotFound:
        raise NotFound(
            f'"{text}" is not the name of a model or controller: not found',
            hint=f"{cli.program} models    lists the models",
        ) from None
    return current, text


@command(
    "unregister",
    usage="<controller name>",
    summary="Unregisters a Juju controller.",
    at_least=(1, "controller name must be specified"),
    at_most=1,
    flags=flags.NO_PROMPT,
    details="The controller's directory is set aside, with its store and keys, under the data directory in\n"
    "`unregistered`; machines and models stay as they are. Moved back, it is there again.",
    examples="    pushjuju unregister home\n",
    see_also=("destroy-controller", "kill-controller", "controllers"),
)
def unregister(cli: Cli, args: tuple[str, ...], *, no_prompt: bool) -> None:
    """Forget a controller, and touch nothing of it."""
    folder, name = session.data_dir(cli), args[0]
    folder.controller(name)
    if not no_prompt:
        cli.console.warn(
            f'This command will remove connection information for controller "{name}".\n'
            "The controller will not be destroyed but you must register it again\n"
            "if you want to access it.\n"
        )
        cli.console.confirm_name(
            "\nTo continue, enter the name of the controller to be unregistered: ",
            name=name,
            what="unregistering controller",
        )
    kept = service.unregister(folder, name)
    cli.console.detail(f"Its directory is kept: {kept}")
