"""add-model: adds a workload model. Mirrors: juju cmd/juju/model, controller (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import session
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.model import add_model as request
from pushjuju.workers.provision import checkup


@command(
    "add-model",
    usage="<model name> [cloud|region|(cloud/region)]",
    summary="Adds a workload model.",
    at_least=(1, "model name is required"),
    at_most=2,
    flags=(
        *flags.AT_CONTROLLER,
        flags.text("owner", "The owner of the new model, if not the current user"),
        flags.text("credential", "Credential used to add the model"),
        flags.many(
            "config",
            "Configuration, key=value or a YAML file; repeatable",
            kind=Kind.KEY_VALUE_OR_FILE,
            default="",
        ),
        flags.switch("no-switch", "Do not switch to the newly created model"),
    ),
    examples="    pushjuju add-model shop\n"
    "    pushjuju add-model lab manual --config update-status-hook-interval=10m\n",
    see_also=("models", "destroy-model", "model-config"),
)
def add_model(
    cli: Cli,
    args: tuple[str, ...],
    *,
    controller: str,
    owner: str,
    credential: str,
    config: tuple[str, ...],
    no_switch: bool,
) -> None:
    settings = values.model_settings(config)
    options = request.AddModelOptions(
        name=args[0], cloud="".join(args[1:]), credential=credential, config=settings, owner=owner
    )
    ctx = session.open_controller(cli, controller)
    check = _checked(cli, ctx, settings) if settings and not cli.rehearsal else None
    model = request.add_model(ctx, options, check=check)
    if not no_switch:
        with session.moving(cli):
            sessions.focus(ctx, model)
            ctx.datadir.set_current_controller(ctx.controller.name)
    place = f" on {model.cloud}/{model.region}"
    held = f" with credential '{credential}'" if credential else ""
    cli.console.info(f"Added '{model.name}' model{place}{held} for user '{model.owner}'")


def _checked(cli: Cli, ctx: context.Context, settings: dict[str, object]) -> request.Check:
    """Return a function that lets the cloud refuse settings."""
    return partial(checkup.check_settings, ctx, settings, warn=cli.console.warn)
