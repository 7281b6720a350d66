"""bootstrap: a controller is a directory, made in place.

Mirrors: juju cmd/juju/commands/bootstrap.go (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import making, session
from pushjuju.core.clouds import DEFAULT_REGION
from pushjuju.core.errors import UsageError
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import constraints, controller_config, model_config, new_models
from pushjuju.services.entities.storage import storage_pools
from pushjuju.store.rows.model import Model
from pushjuju.workers.provision.checkup import reach


@command(
    "bootstrap",
    usage="[<cloud name>[/region] [<controller name>]]",
    summary="Creates a controller on a cloud.",
    at_most=2,
    flags=(
        *flags.LOGIN,
        flags.many("constraints", "Constraints of the controller model", kind=Kind.CONSTRAINTS, default=""),
        flags.many(
            "bootstrap-constraints",
            "Checked, and of no use: there is no controller machine",
            kind=Kind.CONSTRAINTS,
            default="",
        ),
        flags.text("bootstrap-series", "Accepted and ignored (deprecated)", void=True),
        flags.text("bootstrap-base", "Accepted and ignored: there is no controller machine", void=True),
        flags.text("bootstrap-image", "Accepted and ignored: there is no controller machine", void=True),
        flags.switch("build-agent", "Accepted and ignored: there are no agents", void=True),
        flags.text("db-snap", "Accepted and ignored", void=True),
        flags.text("db-snap-asserts", "Accepted and ignored", void=True),
        flags.text("metadata-source", "Accepted and ignored", void=True),
        flags.text("to", "Accepted and ignored: there is no controller machine", void=True),
        flags.switch("keep-broken", "Accepted and ignored", void=True),
        flags.switch("auto-upgrade", "Accepted and ignored", void=True),
        flags.text("agent-version", "Accepted and ignored: there are no agents", void=True),
        flags.text("credential", "Credential to use"),
        flags.many(
            "config",
            "Configuration, key=value or a YAML file; repeatable",
            kind=Kind.KEY_VALUE_OR_FILE,
            default="",
        ),
        flags.many(
            "model-default",
            "Default configuration of all models, same form",
            kind=Kind.KEY_VALUE_OR_FILE,
            default="",
        ),
        flags.many(
            "storage-pool", "A storage pool of the controller model", kind=Kind.KEY_VALUE_OR_FILE, default=""
        ),
        flags.text("add-model", "Also create this model"),
        flags.switch("clouds", "List the clouds and stop"),
        flags.text("regions", "List the regions of this cloud and stop"),
        flags.switch("no-switch", "Do not switch to the new controller"),
        flags.switch("force", "Accepted and ignored", void=True),
        flags.text("controller-charm-path", "Accepted and ignored", void=True),
        flags.text("controller-charm-channel", "Accepted and ignored", default="3.6/stable", void=True),
    ),
    details="A controller is a directory on this computer; no machine is started.\n"
    "Without arguments the cloud is `local`: machines on this computer.",
    examples="    pushjuju bootstrap\n    pushjuju bootstrap manual lab --add-model shop\n",
    see_also=("add-model", "controllers", "destroy-controller"),
)
def bootstrap(cli: Cli, args: tuple[str, ...], **options: Any) -> None:
    """Create a controller, and its first model when asked."""
    if options["clouds"] or options["regions"]:
        return _list(cli, options["regions"])
    cloud = args[0] if args else making.FIRST_CLOUD
    config = values.model_settings(options["config"])
    defaults = values.model_settings(options["model_default"])
    _check(cli, options, {**config, **defaults})
    if options["add_model"]:
        new_models.require_name(options["add_model"])
    place = _reach(cli, cloud, options["credential"])
    name = making.make_controller(
        cli,
        place,
        args[1] if len(args) > 1 else None,
        config={**config, "model-defaults": defaults},
        switch=not options["no_switch"],
        credential=options["credential"],
    )
    cli.console.info(f'Creating Juju controller "{name}" on {place}')
    ctx = session.open_controller(cli, name)
    cli.console.info(f'Bootstrap complete, controller "{name}" is now available')
    if options["add_model"]:
        settings = {**defaults, **model_keys(config)}
        model = _first_model(cli, ctx, options["add_model"], options["credential"], settings)
        _furnish(cli, ctx, model, options)
    elif options["constraints"] or options["storage_pool"]:
        cli.console.info(
            "--constraints and --storage-pool are ignored: they are for the model of --add-model"
        )
    return None


def _furnish(cli: Cli, ctx: Context, model: Model, options: dict[str, Any]) -> None:
    """Give the first model its constraints and its storage pool; in Juju the controller's model has them."""
    if options["constraints"]:
        constraints.set_model(ctx, model.uuid, values.constraints(options["constraints"], cli.console))
    if options["storage_pool"]:
        name, kind, attributes = _pool(options["storage_pool"])
        storage_pools.create(ctx, model.uuid, name, kind, attributes)


def _pool(texts: Sequence[str]) -> tuple[str, str, dict[str, str]]:
    """Return name, provider and attributes of `--storage-pool`.

    Raises:
        UsageError: Name or type is missing; the message is Juju's.
    """
    found = {key: str(value) for key, value in values.model_settings(texts).items()}
    for key in ("name", "type"):
        if not found.get(key):
            raise UsageError(f"missing storage pool {key}")
    return found.pop("name"), found.pop("type"), found


def _reach(cli: Cli, text: str, credential: str) -> str:
    """Return `cloud/region` of a cloud that answers and takes the credential, and say what it would cost.

    Raises:
        NotFound: No such cloud, region or credential.
        NotValid: The cloud needs a credential, and the user has no credential for it, or several.
        ProviderError: The cloud does not answer, or refuses the credential.
    """
    name, options = clouds.split(text)
    folder = session.data_dir(cli)
    places = clouds.folders(folder)
    name = clouds.first_name(places, name)
    host = PluginHost(environ=cli.env, warn=cli.console.warn)
    cloud = clouds.definition(places, name, host)
    region = clouds.choose_region(places, cloud, options)
    chosen = clouds.choose_credential(places, name, credential)
    if cloud.type not in clouds.BUILT_IN.values():
        found = reach(
            folder, host, cloud, region=region, credential=chosen, environ=cli.env, warn=cli.console.warn
        )
        if found:
            who = f" as {found.account}" if found.account else ""
            cli.console.info(f"Cloud {name}/{region} answers and takes the credential{who}.")
            cli.console.info(found.costs or "No machine is started now.")
    return f"{name}/{region}"


def _check(cli: Cli, options: dict[str, Any], config: dict[str, Any]) -> None:
    """Refuse what could only fail half-way, and name what has no meaning here."""
    values.constraints(options["constraints"], cli.console)
    values.constraints(options["bootstrap_constraints"], cli.console)
    if options["storage_pool"]:
        _pool(options["storage_pool"])
    model_config.parse_values(model_keys(config))
    controller_config.parse_values(config)


def model_keys(config: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a bootstrap configuration that belong to models."""
    return {
        key: value for key, value in config.items() if key in {*model_config.ATTRIBUTES, model_config.SERIES}
    }


def _first_model(cli: Cli, ctx: Context, name: str, credential: str, config: dict[str, Any]) -> Model:
    model = new_models.add_model(ctx, name, credential=credential, config=config)
    session.focus(ctx, model)
    cli.console.info(f'Initial model "{name}" added')
    return model


def _list(cli: Cli, cloud: str) -> None:
    folder = session.data_dir(cli)
    if not cloud:
        public = clouds.public_clouds(PluginHost(environ=cli.env, warn=cli.console.warn))
        listed = sorted({*public, *clouds.BUILT_IN, *folder.clouds()})
        return cli.output.text("".join(f"{name}\n" for name in listed))
    host = PluginHost(environ=cli.env, warn=cli.console.warn)
    places = clouds.folders(folder)
    found = clouds.definition(places, clouds.first_name(places, cloud), host)
    regions = [region.name for region in found.regions] or [DEFAULT_REGION]
    return cli.output.text("".join(f"{name}\n" for name in regions))
