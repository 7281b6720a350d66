"""add-model, models, show-model, destroy-model. Layer: cli. Mirrors: juju cmd/juju/model, controller (3.6)"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from pushjuju.cli import drive, flags, session, values
from pushjuju.cli.command import Cli, command
from pushjuju.cli.formatters import models as formatters
from pushjuju.cli.formatters.times import friendly, rfc3339, with_texts
from pushjuju.cli.gnuflag import Kind
from pushjuju.core.errors import HookFailed, NotFound, UsageError
from pushjuju.services import clouds, documents, machines, models, removal
from pushjuju.services.context import Context
from pushjuju.state.records import Application, Cleanup, Model

_LOOK_AGAIN_S = 0.2
_IDLE_S = 3.0  # how long nobody may work on a dying model before that is told
_STILL = "The model goes on dying; '{program} update-status' continues it."


@command(
    "add-model",
    usage="<model name> [cloud|region|(cloud/region)]",
    summary="Adds a workload model.",
    at_least=(1, "model name is required"),
    at_most=2,
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        flags.text("owner", "Accepted and ignored: there is one user", void=True),
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
    credential: str,
    config: tuple[str, ...],
    no_switch: bool,
) -> None:
    """Create a model."""
    models.require_name(args[0])
    settings = values.model_settings(config)
    ctx = session.open_controller(cli, controller)
    own = ctx.controller.settings()
    defaults = own.get("config", {}).get("model-defaults", {})
    cloud = _cloud(ctx, args[1]) if len(args) > 1 else None
    model = models.add_model(
        ctx, args[0], cloud=cloud, credential=credential, config={**defaults, **settings}
    )
    if not no_switch:
        session.focus(ctx, model)
        ctx.datadir.set_current_controller(ctx.controller.name)
    place = f" on {model.cloud}/{model.region}"
    held = f" with credential '{credential}'" if credential else ""
    cli.console.info(f"Added '{model.name}' model{place}{held} for user '{model.owner}'")


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
        flags.text("user", "Accepted and ignored: there is one user", void=True),
        flags.switch("all", "Accepted and ignored: all models are shown", void=True),
        flags.switch("uuid", "Display UUID for models"),
        flags.switch("exact-time", "Use full timestamps"),
    ),
    see_also=("add-model", "show-model", "switch"),
)
def list_models(cli: Cli, _args: tuple[str, ...], *, controller: str, uuid: bool, exact_time: bool) -> None:
    """List the models of a controller."""
    ctx = session.open_controller(cli, controller)
    document = _with_times(cli, documents.models_document(ctx), exact=exact_time)
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

    shown: dict[str, Any] = with_texts(document, text)
    return shown


@command(
    "show-model",
    usage="[<model name>]",
    summary="Shows information about the current or specified model.",
    at_most=1,
    formats=("yaml", "json"),
    flags=flags.LOGIN,
    see_also=("models", "add-model"),
)
def show_model(cli: Cli, args: tuple[str, ...]) -> None:
    """Show a model."""
    opened = session.open_model(cli, args[0] if args else "")
    document = _with_times(cli, documents.show_model(opened.ctx, opened.model))
    cli.output.text(formatters.show_model(cli.output.form, document))


@command(
    "destroy-model",
    usage="[<controller name>:]<model name>",
    summary="Terminates all machines/containers and resources for a workload model.",
    at_least=(1, "no model specified"),
    at_most=1,
    flags=(
        *flags.LOGIN,
        *flags.NO_PROMPT,
        flags.duration("timeout", "Time for each step of a forced destruction; needs --force", short="t"),
        flags.switch("destroy-storage", "Destroy all storage instances in the model"),
        flags.switch(
            "release-storage", "Release all storage instances from management, without destroying them"
        ),
        flags.switch("force", "Force destroy model ignoring any errors"),
        flags.switch("no-wait", "Rush through destruction without waiting for each step to complete"),
    ),
    see_also=("models", "add-model"),
)
def destroy_model(
    cli: Cli,
    args: tuple[str, ...],
    *,
    no_prompt: bool,
    timeout: float | None,
    destroy_storage: bool,
    release_storage: bool,
    force: bool,
    no_wait: bool,
) -> None:
    """Destroy a model with all that is in it."""
    if destroy_storage and release_storage:
        raise UsageError("--destroy-storage and --release-storage cannot both be specified")
    if timeout is not None and not force:
        raise UsageError("--timeout can only be used with --force (dangerous)")
    if no_wait and not force:
        raise UsageError("--no-wait without --force not valid")
    opened = session.open_model(cli, args[0])
    if not no_prompt:
        _confirm(cli, opened)
    wait_s = 0.0 if no_wait else timeout if timeout is not None else removal.MAX_WAIT_S
    said = True if destroy_storage else False if release_storage else None
    _destroy(cli, opened, removal.Force(wait_s=wait_s) if force else None, destroy_storage=said)


def _confirm(cli: Cli, opened: session.Session) -> None:
    ctx, model = opened.ctx, opened.model
    with ctx.store.read() as tx:
        hosts = machines.list_machines(tx, model.uuid)
        listed = tx.list(Application, "application_list", model=model.uuid)
    cli.console.warn(
        f'This command will destroy the "{model.qualified}" model and affect the following resources. '
        "It cannot be stopped.\n\n"
        f" - {len(hosts)} machine(s) will be destroyed\n"
        f" - {len(listed)} application(s) will be removed\n"
    )
    cli.console.confirm_name(
        "To continue, enter the name of the model to be destroyed: ",
        name=model.name,
        what="model destruction",
    )


def _destroy(
    cli: Cli, opened: session.Session, force: removal.Force | None, *, destroy_storage: bool | None
) -> None:
    ctx, model = opened.ctx, opened.model
    cli.console.info("Destroying model")
    cli.on_interrupt = _STILL.format(program=cli.program)
    with ctx.store.write() as tx:
        found = models.get(tx, model.uuid)
        removal.destroy_model(tx, found, cli.clock.now(), force, destroy_storage=destroy_storage)
        waits = removal.blockers(tx, model.uuid)
        left = tx.list(Application, "application_list", model=model.uuid)
        hosts = machines.list_machines(tx, model.uuid)
    if session.current_model(ctx) == model.qualified:
        ctx.controller.set("current-model", None)
    if waits:
        counts = formatters.emptied([(len(hosts), "machine"), (len(left), "application")])
        cli.console.info(f"Waiting for model to be removed, {counts}...")
    _await_removal(cli, ctx, model, forced=force is not None)
    cli.console.info("Model destroyed.")


def _await_removal(cli: Cli, ctx: Context, model: Model, *, forced: bool) -> None:
    """Wait until a model is gone, as Juju's client does, whoever works on it.

    Raises:
        NotFound: It is at rest and still there; the detail says what waits for what.
    """
    idle_s = 0.0
    while True:
        _work_on_removal(cli, ctx, model, forced=forced)
        with ctx.store.read() as tx:
            if tx.find(Model, "model_by_uuid", uuid=model.uuid) is None:
                return
            reasons = removal.blockers(tx, model.uuid)
            ends = tx.list(Cleanup, "cleanup_list", model=model.uuid)
        working = models.being_worked(ctx, model.uuid) and (drive.waits(cli) or drive.in_background(ctx))
        idle_s = 0.0 if ends or working else idle_s + _LOOK_AGAIN_S
        if idle_s > _IDLE_S:
            text = f"model {model.qualified} is not removed yet"
            raise NotFound(text, detail="\n".join(reasons), hint=cli.on_interrupt)
        time.sleep(_LOOK_AGAIN_S)


def _work_on_removal(cli: Cli, ctx: Context, model: Model, *, forced: bool) -> None:
    if not drive.waits(cli):
        drive.background(cli, ctx)
        return
    try:
        drive.settle(cli, ctx, model.uuid)
    except HookFailed:
        if not forced:
            raise
