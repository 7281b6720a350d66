"""add-model, models, show-model. Mirrors: juju cmd/juju/model, controller (3.6)"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from pushjuju.cli.commands.model import model_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.terminal.times import friendly, rfc3339, with_texts
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.services.views import documents


@command(
    "add-model",
    usage="<model name> [cloud|region|(cloud/region)]",
    summary="Adds a workload model.",
    at_least=(1, "model name is required"),
    at_most=2,
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
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
    """Create a model."""
    models.require_name(args[0])
    settings = values.model_settings(config)
    ctx = session.open_controller(cli, controller)
    cloud = _cloud(ctx, args[1]) if len(args) > 1 else None
    check = _checked(cli, ctx, settings) if settings and not cli.rehearsal else None
    model = models.add_model(
        ctx, args[0], cloud=cloud, credential=credential, config=settings, owner=owner, check=check
    )
    if not no_switch:
        with session.moving(cli):
            session.focus(ctx, model)
            ctx.datadir.set_current_controller(ctx.controller.name)
    place = f" on {model.cloud}/{model.region}"
    held = f" with credential '{credential}'" if credential else ""
    cli.console.info(f"Added '{model.name}' model{place}{held} for user '{model.owner}'")


def _checked(cli: Cli, ctx: Context, settings: dict[str, Any]) -> models.Check:
    """Return what lets a cloud refuse settings of its own."""
    from pushjuju.workers.provision.checkup import check_settings

    return partial(check_settings, ctx, settings, warn=cli.console.warn)


def _cloud(ctx: Context, text: str) -> str:
    """Return `cloud/region` of the argument, which may be a region of the controller's cloud."""
    from pushjuju.plugins.manager import PluginHost

    name, slash, _ = text.partition("/")
    places = clouds.folders(ctx.datadir, ctx.controller)
    host = PluginHost(environ=ctx.environ)
    try:
        clouds.definition(places, name, host)
    except NotFound:
        own = str(ctx.controller.settings().get("cloud", ""))
        regions = clouds.definition(places, own, host).regions if own and not slash else ()
        if text.lower() not in {region.name.lower() for region in regions}:
            raise
        return f"{own}/{text}"
    return text


@command(
    "models",
    summary="Lists models a user can access on a controller.",
    aliases=("list-models",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        flags.text("user", "The user to list models for"),
        flags.switch("all", "Lists all models, also those of others", dest="every"),
        flags.switch("uuid", "Display UUID for models"),
        flags.switch("exact-time", "Use full timestamps"),
    ),
    examples="    pushjuju models\n"
    "    pushjuju models -c home --format json\n"
    "    pushjuju models --uuid --exact-time\n",
    see_also=("add-model", "show-model", "switch"),
)
def list_models(
    cli: Cli,
    _args: tuple[str, ...],
    *,
    controller: str,
    user: str,
    every: bool,
    uuid: bool,
    exact_time: bool,
) -> None:
    """List the models of a controller."""
    if user and not users.is_name(user.partition("@")[0]):
        raise UsageError(f'user "{user}" not valid')
    ctx = session.open_controller(cli, controller)
    listed = documents.models_document(ctx, user=user, every=every)
    document = _with_times(cli, listed, exact=exact_time)
    counts = {uuid: _counts(*numbers) for uuid, numbers in documents.model_counts(ctx).items()}
    forms = formatters.formatters(
        counts, controller=ctx.controller.name, user=ctx.user, uuid=uuid, colour=cli.output.colour
    )
    cli.output.write(document, forms)
    if not document["models"]:
        cli.console.info(
            f'\nThere are no models hosted on this controller.\nUse "{cli.program} add-model" to add one.'
        )


def _counts(machines: int, cores: int, units: int) -> formatters.Counts:
    """Return the counts as the table shows them: nothing known of cores and units when there are none."""
    return formatters.Counts(machines=machines, cores=cores or None, units=units or None)


def _with_times(cli: Cli, document: dict[str, Any], *, exact: bool = False) -> dict[str, Any]:
    """Return a document with its moments as texts: relative to now, or in full."""
    now = cli.clock.now()

    def text(moment: datetime) -> str:
        return rfc3339(moment) if exact else friendly(moment, now)

    _say_never(document)
    shown: dict[str, Any] = with_texts(document, text)
    return shown


def _say_never(document: dict[str, Any]) -> None:
    """Write what Juju writes for people who were never here."""
    for model in document.get("models", document.values()):
        for entry in (model, *model.get("users", {}).values()) if isinstance(model, dict) else ():
            if "last-connection" in entry and entry["last-connection"] is None:
                entry["last-connection"] = "never connected"


@command(
    "show-model",
    usage="[<model name>]",
    summary="Shows information about the current or specified model.",
    at_most=1,
    formats=("yaml", "json"),
    flags=flags.LOGIN,
    examples="    pushjuju show-model\n    pushjuju show-model home:test --format json\n",
    see_also=("models", "add-model"),
)
def show_model(cli: Cli, args: tuple[str, ...]) -> None:
    """Show a model."""
    opened = session.open_model(cli, args[0] if args else "")
    document = _with_times(cli, documents.show_model(opened.ctx, opened.model))
    cli.output.text(formatters.show_model(cli.output.form, document))
