"""update-status, controller run, doctor: the work itself. pushjuju's own, no Juju model."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import PushjujuError, Silent, UsageError
from pushjuju.portable.names import is_unit


@command(
    "update-status",
    usage="[<unit> ...]",
    summary="Runs update-status on the units, and all other work that is due.",
    flags=(*flags.MODEL,),
    details="For cron. Works every model of the controller unless -m or units are given.\n"
    "It may run beside any other command.",
    examples="    pushjuju update-status\n    pushjuju update-status mysql/0 wordpress/1\n",
    see_also=("controller", "status"),
)
def update_status(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Make update-status due and work all that is due."""
    from pushjuju.services.entities.model import models
    from pushjuju.services.requests import update_status

    for name in args:
        if not is_unit(name):
            raise UsageError(f'invalid unit name "{name}"')
    if model or args:
        opened = session.open_model(cli, model)
        ctx, uuids = opened.ctx, [opened.uuid]
    else:
        ctx = session.open_controller(cli)
        uuids = [found.uuid for found in models.list_models(ctx)]
    for uuid in uuids:
        update_status.make_due(ctx, uuid, list(args))
    failures: list[PushjujuError] = []
    for uuid in uuids:
        try:
            drive.settle(cli, ctx, uuid, touched=list(args) or None, routine=True)
        except PushjujuError as error:  # the other models are worked too
            failures.append(error)
    if failures:
        raise failures[0]


@command(
    "controller",
    usage="run|renew-key",
    summary="Runs a controller process: `controller run` works all that comes due, until it is stopped.",
    at_least=(1, "no subcommand specified: controller run|renew-key"),
    at_most=1,
    flags=(
        *flags.CONTROLLER,
        flags.switch("until-idle", "run: end when nothing was due for a while"),
        flags.switch("forget-old", "renew-key: take the old keys out of the file"),
    ),
    details="For a service manager. Several may run beside each other and beside commands.\n\n"
    "`controller renew-key` makes a new key for the secrets in the store and seals all of them with it.\n"
    "The old key stays in the file, for copies of the store from before, unless --forget-old is given.",
    see_also=("update-status",),
)
def controller(
    cli: Cli, args: tuple[str, ...], *, controller: str, until_idle: bool, forget_old: bool
) -> None:
    """Work the queue of a controller, or renew its key."""
    if args[0] not in ("run", "renew-key"):
        raise UsageError(f'unknown subcommand "{args[0]}" of controller: it has `run` and `renew-key`')
    if (forget_old and args[0] == "run") or (until_idle and args[0] != "run"):
        raise UsageError(f"controller {args[0]} does not take that flag")
    if args[0] == "renew-key":
        _renew_key(cli, controller, forget=forget_old)
    else:
        _run(cli, controller, until_idle=until_idle)


def _run(cli: Cli, controller: str, *, until_idle: bool) -> None:
    import asyncio

    from pushjuju.cli.terminal.progress import progress
    from pushjuju.workers import background

    ctx = session.open_controller(cli, controller)
    cli.on_interrupt = "Stopped; the work goes on with the next command."
    end = "nothing is due any more" if until_idle else "it is stopped (Ctrl-C or SIGTERM)"
    cli.console.info(f"Working all that comes due in controller {ctx.controller.name}, until {end}")
    with progress(cli.console, lines=True) as report:  # the log of a service
        asyncio.run(background.serve(ctx, tell=report, warn=cli.console.warn, until_idle=until_idle))


def _renew_key(cli: Cli, controller: str, *, forget: bool) -> None:
    from pushjuju.services.entities.secret import secret_keys

    name, count = secret_keys.renew(session.open_controller(cli, controller), forget=forget)
    cli.console.info(f"Sealed {count} records with the new key {name}")


@command(
    "doctor",
    usage="[<cloud> ...]",
    summary="Says what this computer has and lacks for a cloud, and how to mend it.",
    flags=(
        flags.switch("install", "Install the packages that are missing"),
        flags.switch("schedule", "Add a line to your crontab that runs update-status every five minutes"),
    ),
    formats=("tabular", "yaml", "json"),
    details="It also says whether something runs `update-status` regularly. No command needs that:\n"
    "each works what is due.",
    examples="    pushjuju doctor local\n    pushjuju doctor --schedule\n",
    see_also=("plugins", "update-status"),
)
def doctor(cli: Cli, args: tuple[str, ...], *, install: bool, schedule: bool) -> None:
    """Look at what the clouds need."""
    import asyncio

    from pushjuju.cli.commands.program.listings import findings
    from pushjuju.workers import schedule as regular
    from pushjuju.workers.provision import checkup

    folder = session.data_dir(cli)
    if schedule:
        regular.schedule(folder)
    found: list[dict[str, Any]] = []
    for cloud in args or (session.FIRST_CLOUD,):
        look = checkup.examine(folder, cloud, environ=cli.env, warn=cli.console.warn, install=install)
        found += asyncio.run(look)
    found += regular.look(folder, cli.env)
    cli.output.write(found, {"tabular": lambda entries: findings(entries, colour=cli.output.colour)})
    if any(entry["level"] == "error" for entry in found):
        raise Silent


@command(
    "explain",
    usage="[<unit>|<application>|<machine>|<storage> ...]",
    summary="Says why things are as they are, what they wait for, and how to go on.",
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, flags.switch("utc", "Display timestamps in the UTC timezone")),
    details="Without names: all units, machines and the model itself. With names also what to type next:\n"
    "the last decision and who made it, what holds the machine's lock, which process works it,\n"
    "who has the lease of the leadership, and when it is looked at again.",
    examples="    pushjuju explain\n    pushjuju explain web/0 web 3 data/0\n",
    see_also=("status", "hooks", "replay", "debug-log"),
)
def explain(cli: Cli, args: tuple[str, ...], *, model: str, utc: bool) -> None:
    """Tell the last decisions and what waits in the queue."""
    from pushjuju.cli.commands.program.listings import reasons
    from pushjuju.cli.terminal.times import since_text
    from pushjuju.cli.work import hints
    from pushjuju.portable.gotypes import Struct
    from pushjuju.services.views import explain as service
    from pushjuju.uniter.wanted import wanted

    opened = session.open_model(cli, model)
    at, entries = hints.model_flag(cli, opened.ctx, opened.model), []
    for found in service.explain(opened.ctx, opened.uuid, wanted, list(args)):
        fields = {
            "subject": found.subject,
            "doing": found.doing,
            "reason": found.reason,
            "again": since_text(found.due, utc=utc) if found.due else "",
            "attempts": found.attempts,
            "since": since_text(found.since, utc=utc) if found.since else "",
            **service.fields(found),
        }
        fields["next"] = [hints.in_model(line, at) for line in found.next]
        entries.append(Struct((key, value) for key, value in fields.items() if value or key == "doing"))
    program, wide = cli.program, bool(args)
    table = {"tabular": lambda listed: reasons(listed, program, wide=wide, colour=cli.output.colour)}
    cli.output.write(entries, table)
