"""config, trust, resolved, bind, set-application-base.

Mirrors: juju cmd/juju/application (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.entities.application import applications, bindings, units


@command(
    "config",
    usage="<application name> [--reset <key[,key]>] [<attribute-key>][=<value>] ...]",
    summary="Gets, sets, or resets configuration for a deployed application.",
    at_least=(1, "no application name specified"),
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, *flags.CONFIG, *flags.NO_WAIT),
    examples="    pushjuju config web\n    pushjuju config web port\n"
    "    pushjuju config web port=8080 motd=@motd.txt\n"
    "    pushjuju config web --reset port,motd\n",
    see_also=("deploy", "model-config"),
)
def config(
    cli: Cli, args: tuple[str, ...], *, model: str, file: str, reset: tuple[str, ...], no_wait: bool
) -> None:
    """Get, set or reset the settings of an application."""
    name = values.application_name(args)
    asked = config_arguments.parse(args[1:], file=file, reset=reset)
    given = values.from_file(asked.values)
    content = values.read_file(asked.file, cli.console.stdin) if asked.file else None
    opened = session.open_model(cli, model)
    if asked.change:
        session.require_change(opened)
        applications.set_config(opened.ctx, opened.uuid, name, values=given, file=content, reset=asked.reset)
        return drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)
    document = applications.config(opened.ctx, opened.uuid, name)
    if not asked.key:
        return cli.output.write(formatters.application(document))
    for section in ("settings", "application-config"):
        if asked.key in document.get(section, {}):
            return cli.output.text(formatters.bare_value(document[section][asked.key].get("value", "")))
    raise NotFound(f'key "{asked.key}" not found in "{name}" application config or charm settings.')


@command(
    "bind",
    usage="<application> [<default-space>] [<endpoint-name>=<space> ...]",
    summary="Change bindings for a deployed application.",
    at_least=(1, "no application specified"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Allow endpoints to be bound to spaces that some units have no address in"),
        *flags.NO_WAIT,
    ),
    details="Endpoints that are in the old default space follow the default to the new one.",
    examples="    pushjuju bind web internal\n    pushjuju bind web internal db=backend\n",
    see_also=("spaces", "show-space", "deploy"),
)
def bind(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    """Bind endpoints to spaces."""
    name = values.application_name(args)
    asked = bindings.parse(" ".join(args[1:]))
    opened = session.open_model(cli, model)
    for change in bindings.bind(opened.ctx, opened.uuid, name, asked, force=force):
        cli.console.info(change)
    drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)


@command(
    "trust",
    usage="<application name>",
    summary="Sets the trust status of a deployed application to true.",
    at_least=(1, "no application name specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("remove", "Remove trusted access from a trusted application"),
        flags.text("scope", "Accepted and ignored: for Kubernetes only", void=True),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju trust mysql\n    pushjuju trust mysql --remove\n",
    see_also=("config",),
)
def trust(cli: Cli, args: tuple[str, ...], *, model: str, remove: bool, no_wait: bool) -> None:
    """Let an application read the cloud's credential, or not any more."""
    name = values.application_name(args)
    opened = session.open_model(cli, model)
    applications.set_trust(opened.ctx, opened.uuid, name, trusted=not remove)
    drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)


@command(
    "resolved",
    usage="[<unit> ...]",
    summary="Marks unit errors resolved and re-executes failed hooks.",
    aliases=("resolve",),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("no-retry", "Do not re-execute failed hooks on the unit"),
        flags.switch("all", "Marks all units in error as resolved", dest="every"),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju resolved mysql/0\n"
    "    pushjuju resolved mysql/0 mysql/1 --no-retry\n"
    "    pushjuju resolved --all\n",
    see_also=("status", "debug-log"),
)
def resolved(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    no_retry: bool,
    every: bool,
    no_wait: bool,
) -> None:
    """Let units in error go on."""
    if args and every:
        raise UsageError("specifying unit names(s) with --all not supported")
    if not (args or every):
        raise UsageError("no unit specified")
    for name in args:
        if not is_unit(name):
            raise UsageError(f'unit name "{name}" not valid')
    opened = session.open_model(cli, model)
    if every:
        touched = units.resolve_all(opened.ctx, opened.uuid, retry=not no_retry)
    else:
        units.resolve(opened.ctx, opened.uuid, list(args), retry=not no_retry)
        touched = list(args)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)


@command(
    "set-application-base",
    usage="<application> <base>",
    summary="Set an application's base.",
    at_least=(2, "no base specified"),
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN),
    details="Units added from now on get the base; those that are there keep theirs. The charm must name it.",
    examples="    pushjuju set-application-base web ubuntu@24.04\n",
    see_also=("status", "refresh", "upgrade-machine"),
)
def set_application_base(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Change the base of future units."""
    name = values.application_name(args)
    base = Base.parse(args[1]) if "@" in args[1] else Base.from_series(args[1].lower())
    opened = session.open_model(cli, model)
    applications.set_base(opened.ctx, opened.uuid, name, base)
