"""The command bootstrap. Mirrors: juju cmd/juju/commands/bootstrap.go (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import making, scope, session
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.services.requests.controller import bootstrap as request
from pushjuju.services.requests.controller import new_controllers
from pushjuju.workers.provision import checkup


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapFlags:
    constraints: tuple[str, ...] = flags.many(
        "constraints", "Constraints of the controller model", kind=Kind.CONSTRAINTS, default=""
    )
    bootstrap_constraints: tuple[str, ...] = flags.many(
        "bootstrap-constraints",
        "Checked, then ignored: there is no controller machine",
        kind=Kind.CONSTRAINTS,
        default="",
    )
    credential: str = flags.text("credential", "Credential to use")
    config: tuple[str, ...] = flags.many(
        "config",
        "Configuration, key=value or a YAML file; repeatable",
        kind=Kind.KEY_VALUE_OR_FILE,
        default="",
    )
    model_default: tuple[str, ...] = flags.many(
        "model-default",
        "Default configuration of all models, same form",
        kind=Kind.KEY_VALUE_OR_FILE,
        default="",
    )
    storage_pool: tuple[str, ...] = flags.many(
        "storage-pool", "A storage pool of the controller model", kind=Kind.KEY_VALUE_OR_FILE, default=""
    )
    add_model: str = flags.text("add-model", "Also create this model")
    clouds: bool = flags.switch("clouds", "List the clouds and stop")
    regions: str = flags.text("regions", "List the regions of this cloud and stop")
    store: str = flags.text("store", "Keep the model in this database: postgresql://ROLE@HOST/DATABASE")
    insecure_store: bool = flags.switch("insecure-store", "Allow --store on the network without checked TLS")
    no_switch: bool = flags.switch("no-switch", "Do not switch to the new controller")


@command(
    "bootstrap",
    usage="[<cloud name>[/region] [<controller name>]]",
    summary="Creates a controller on a cloud.",
    at_most=2,
    flags=(
        *flags.LOGIN,
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
        flags.switch("force", "Accepted and ignored", void=True),
        flags.text("controller-charm-path", "Accepted and ignored", void=True),
        flags.text("controller-charm-channel", "Accepted and ignored", default="3.6/stable", void=True),
    ),
    details="A controller is a directory on this computer; no machine is started.\n"
    "Without arguments the cloud is `local`: machines on this computer.\n\n"
    "With --store the model is in a database of PostgreSQL 14 or newer, which several controller processes\n"
    "can work on. The database is empty; passwords are in ~/.pgpass or $PGPASSFILE, never in the address.",
    examples="    pushjuju bootstrap\n    pushjuju bootstrap manual lab --add-model shop\n",
    into=BootstrapFlags,
    see_also=("add-model", "controllers", "destroy-controller"),
)
def bootstrap(cli: Cli, args: tuple[str, ...], flags: BootstrapFlags) -> None:
    """Create a controller; with --add-model, also its first model."""
    if flags.clouds or flags.regions:
        return _list(cli, flags.regions)
    cloud = args[0] if args else making.FIRST_CLOUD
    options = _options(cli, flags)
    options.check(session.data_dir(cli))
    place = _reach(cli, cloud, flags.credential)
    name = making.make_controller(
        cli,
        place,
        args[1] if len(args) > 1 else None,
        config=options.controller_settings(in_plan=cli.rehearsal),
        switch=not flags.no_switch,
        credential=flags.credential,
        database=new_controllers.Database(url=flags.store, insecure=flags.insecure_store)
        if flags.store and not cli.rehearsal  # a plan makes its copy in a file
        else None,
    )
    cli.console.info(f'Creating Juju controller "{name}" on {place}')
    ctx = session.open_controller(cli, name)
    cli.console.info(f'Bootstrap complete, controller "{name}" is now available')
    if options.model:
        model = request.add_first_model(ctx, options)
        cli.console.info(f'Initial model "{model.name}" added')
    elif flags.constraints or flags.storage_pool:
        cli.console.info(
            "--constraints and --storage-pool are ignored: they are for the model of --add-model"
        )
    return None


def _options(cli: Cli, flags: BootstrapFlags) -> request.BootstrapOptions:
    config = values.model_settings(flags.config)
    defaults = values.model_settings(flags.model_default)
    constraints = values.constraints(flags.constraints, cli.console)
    values.constraints(
        flags.bootstrap_constraints, cli.console
    )  # only checked: there is no controller machine
    return request.BootstrapOptions(
        credential=flags.credential,
        config=config,
        defaults=defaults,
        model=flags.add_model,
        constraints=constraints,
        pool=_pool(flags.storage_pool) if flags.storage_pool else None,
    )


def _pool(texts: Sequence[str]) -> request.StoragePool:
    found = {key: str(value) for key, value in values.model_settings(texts).items()}
    for key in ("name", "type"):
        if not found.get(key):
            raise UsageError(f"missing storage pool {key}")
    return request.StoragePool(name=found.pop("name"), kind=found.pop("type"), attributes=found)


def _reach(cli: Cli, text: str, credential: str) -> str:
    """Return `cloud/region` after a check that the cloud answers and accepts the credential."""
    folder, host = session.data_dir(cli), scope.host(cli)
    found = request.place(folder, host, text, credential)
    answer = found.is_remote and checkup.reach(
        folder, host, found.cloud, region=found.region, credential=found.credential, environ=cli.env,
        warn=cli.console.warn,
    )  # fmt: skip
    if answer:
        who = f" as {answer.account}" if answer.account else ""
        cli.console.info(f"Cloud {found} answers and takes the credential{who}.")
        cli.console.info(answer.costs or "No machine is started now.")
    return str(found)


def _list(cli: Cli, cloud: str) -> None:
    folder, host = session.data_dir(cli), scope.host(cli)
    names = request.region_names(folder, host, cloud) if cloud else request.cloud_names(folder, host)
    cli.output.text("".join(f"{name}\n" for name in names))
