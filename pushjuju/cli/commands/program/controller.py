"""controller: runs, lists and ends controller processes; moves the store; shares it with other hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.program.command_tree import root_group
from pushjuju.cli.commands.program.web_commands import WebCommands
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.terminal.progress import progress
from pushjuju.cli.terminal.table import TabWriter, heads
from pushjuju.cli.terminal.times import rfc3339
from pushjuju.cli.work import api as serve_api
from pushjuju.cli.work import metrics_file, session
from pushjuju.cli.work.serving_flags import ServingFlags
from pushjuju.core.errors import UsageError
from pushjuju.core.values import changed, dataclass
from pushjuju.services.requests.controller import controllers, moving, sharing
from pushjuju.services.requests.secret import keys
from pushjuju.services.views.listings import processes
from pushjuju.workers import counts, serving

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pushjuju.services.entities.basis.context import Context

DRAINED = 3  # exit status after `controller drain`, by which systemd knows not to start the process again


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerFlags(ServingFlags):
    until_idle: bool = flags.switch("until-idle", "run: end when nothing has been due for a while")
    api: str = flags.text("api", "run: serve the API at this address too, HOST[:PORT][,...]")
    to: str = flags.text("to", "move: postgresql://[ROLE@]HOST[:PORT]/DATABASE, or file")
    insecure_store: bool = flags.switch("insecure-store", "move, join: allow the network without TLS")
    pool: str = flags.text("pool", "run: work on the models of these pools too, NAME[,...]")
    metrics: str = flags.text("metrics", "run: serve metrics at this address, [HOST:]PORT, without TLS")
    metrics_file: str = flags.text("metrics-file", "run: write the metrics to this file, each 15 seconds")
    lanes: int = flags.number("lanes", "run: work on so many machines at the same time", default=100)
    name: str = flags.text("name", "join: the name of the controller on this host")
    key_file: str = flags.text("key-file", "join: the file with the controller key")
    forget_old: bool = flags.switch("forget-old", "renew-key: delete the old keys from the file")


_OWN_FLAGS: Mapping[str, tuple[str, ...]] = {
    "run": (
        "until_idle", "pool", "lanes", "metrics", "metrics_file", "api", "cert", "key", "log_format",
        "web_cli", "no_dashboard", "dashboard_hosts",
    ),
    "processes": ("format", "output"),
    "drain": (),
    "move": ("to", "insecure_store"),
    "key": (),
    "join": ("name", "key_file", "insecure_store"),
    "renew-key": ("forget_old",),
}  # fmt: skip
_USAGE = {"drain": " HOST", "key": " export [FILE]", "join": " ADDRESS [--key-file FILE]"}


@command(
    "controller",
    usage="run|processes|drain HOST|move --to ADDRESS|key export [FILE]|join ADDRESS|renew-key",
    summary="Runs a controller process: `controller run` works all that comes due, until it is stopped.",
    at_least=(1, "no subcommand specified: controller run|processes|drain|move|key|join|renew-key"),
    at_most=3,
    formats=("tabular", "yaml", "json"),
    flags=flags.CONTROLLER,
    into=ControllerFlags,
    details="For a service manager. Several processes, and other commands, may run at the same time. With\n"
    "--api, Juju's clients can connect: 127.0.0.1 accepts only this host; Juju's usual port is\n"
    "17070. --cert, --key, --web-cli and --dashboard-hosts are those of the command api. --metrics serves\n"
    "the metrics of controller and process to everybody who reaches the address; a port alone is one of\n"
    "127.0.0.1. --metrics-file replaces a file in one step, as `metrics -o` does, for node_exporter.\n\n"
    "A model of a pool (model-config controller-pool) is worked only by processes of this pool: those on\n"
    "a host of this name, and those with --pool. Models of no pool are worked by all.\n\n"
    "`controller processes` lists the processes that work for the controller. `controller drain` asks\n"
    "those on a host, or the one with this name, to give back their work and to end, with exit code 3.\n"
    "Hooks that run go on, on their machines.\n\n"
    "`controller move` moves the store into an empty database of PostgreSQL, or back into a file.\n"
    "Processes that work end with an error, and find the store in its new place when they start again.\n"
    "All rows are compared before the old store is given up; it stays as a copy. The same command\n"
    "completes a move that was interrupted.\n\n"
    "`controller key export` writes the controller key into a file, or prints it, and lets other hosts\n"
    "share a controller whose store is in PostgreSQL; `controller join` makes this host one of them.\n"
    "Keep the file safe: it opens the keys and credentials of the controller. Without --key-file, join\n"
    "takes the key that PUSHJUJU_CONTROLLER_KEY_FILE or a credential of systemd names, and keeps no copy.\n\n"
    "`controller renew-key` makes a new key and encrypts all secrets of the store with the new key. The\n"
    "old key stays in the file, for older copies of the store, unless --forget-old is given.",
    see_also=("api", "update-status"),
)
def controller(cli: Cli, args: tuple[str, ...], asked: ControllerFlags) -> None:
    word, *rest = args
    if word not in _OWN_FLAGS:
        raise UsageError(f'unknown subcommand "{word}" of controller: it has {", ".join(_OWN_FLAGS)}')
    foreign = {key for words in _OWN_FLAGS.values() for key in words}.difference(_OWN_FLAGS[word])
    if foreign & cli.given:
        raise UsageError(f"controller {word} does not take that flag")
    if not _fits(word, rest):
        raise UsageError(f"usage: controller {word}{_USAGE.get(word, '')}")
    _act(cli, word, asked, rest)


def _fits(word: str, rest: Sequence[str]) -> bool:
    """Return True when a subcommand takes these arguments."""
    if word == "key":
        return list(rest[:1]) == ["export"]
    return len(rest) == (word in ("drain", "join"))


def _act(cli: Cli, word: str, asked: ControllerFlags, names: Sequence[str]) -> None:
    if word == "run":
        _run(cli, asked)
    elif word == "processes":
        _processes(cli, asked.controller)
    elif word == "drain":
        _drain(cli, asked.controller, *names)
    elif word == "move":
        _move(cli, asked)
    elif word == "key":
        _export_key(cli, asked.controller, *names[1:])
    elif word == "join":
        _join(cli, asked, *names)
    else:
        _renew_key(cli, asked.controller, forget=asked.forget_old)


def _run(cli: Cli, asked: ControllerFlags) -> None:
    asked.check()
    for flag in ("api", "metrics", "metrics_file"):
        if flag in cli.given and not getattr(asked, flag):
            raise UsageError(f'--{flag.replace("_", "-")} needs a value, not ""')
    if asked.lanes < 1:
        raise UsageError("--lanes is at least 1")
    if (asked.cert or asked.key or asked.web_cli or asked.hosts or asked.no_dashboard) and not asked.api:
        raise UsageError(
            "--cert, --web-cli, --no-dashboard and --dashboard-hosts are for the API: say with --api where "
            "to serve"
        )
    asked.use_log_format(cli)
    pools = tuple(name for name in asked.pool.split(",") if name)
    ctx = changed(session.open_controller(cli, asked.controller), more_pools=pools, at_once=asked.lanes)
    cli.on_interrupt = "Stopped; the work goes on with the next command."
    end = "nothing is due any more" if asked.until_idle else "it is stopped (Ctrl-C or SIGTERM)"
    text = f"Working on what becomes due in controller {ctx.controller.name}, until {end}"
    with progress(cli.console, lines=True) as report:  # lines of the log, which the service manager keeps
        warn = cli.console.warn
        counted = counts.Counts() if asked.metrics or asked.metrics_file else None
        beside = [*_beside(cli, ctx, asked, counted), _told(cli, text)]
        until_idle = asked.until_idle
        try:
            serving.serve(ctx, tell=report, warn=warn, until_idle=until_idle, beside=beside, counts=counted)
        except serving.Drained:
            cli.console.info("Drained: a user has asked this process to end")
            raise Exited(DRAINED) from None


@asynccontextmanager
async def _told(cli: Cli, text: str) -> AsyncIterator[None]:
    """Say what begins, once nothing beside the work can refuse its flags any more."""
    cli.console.info(text)
    yield


def _beside(
    cli: Cli, ctx: Context, asked: ControllerFlags, counted: counts.Counts | None
) -> list[AbstractAsyncContextManager[object]]:
    """Return what runs beside the work: the API, and the metrics of the process."""
    beside: list[AbstractAsyncContextManager[object]] = []
    if asked.api:
        beside.append(serve_api.serving()(cli, ctx, asked.api, asked, WebCommands(root_group()).run).beside())
    if counted is not None and asked.metrics:
        beside.append(serve_api.exporting(cli, ctx, asked.metrics, counted))
    if counted is not None and asked.metrics_file:
        beside.append(
            metrics_file.kept(ctx, asked.metrics_file, lambda: counted.of_process(ctx), cli.console.warn)
        )
    return beside


def _renew_key(cli: Cli, controller: str, *, forget: bool) -> None:
    name, count = keys.renew(session.open_controller(cli, controller), forget=forget)
    cli.console.info(f"Sealed {count} records with the new key {name}")


def _processes(cli: Cli, controller: str) -> None:
    found = processes.documents(session.open_controller(cli, controller))
    if not found:
        cli.console.info("No process works for the controller; next: pushjuju controller run")
    cli.output.write(with_times(found), {"tabular": processes_table})


def with_times(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the document of `controller processes` with its times as texts."""
    times = ("started", "seen")
    return [{**item, **{name: item[name] and rfc3339(item[name]) for name in times}} for item in found]


def processes_table(listed: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of `controller processes`."""
    table = TabWriter()
    if not listed:
        return ""
    table.row(*heads("Process", "Version", "Pools", "State", "Keys", "Started", "Seen"))
    for item in listed:
        pools, times = ",".join(item["pools"]), (item["started"] or "", item["seen"])
        table.row(item["process"], item["version"], pools, item["state"], str(item["keys"]), *times)
    return table.text()


def _drain(cli: Cli, controller: str, name: str) -> None:
    for process in controllers.drain(session.open_controller(cli, controller), name):
        cli.console.info(f"Process {process} gives back its work and ends")


def _export_key(cli: Cli, controller: str, file: str = "") -> None:
    ctx = session.open_controller(cli, controller)
    text = sharing.export_key(ctx, Path(file) if file else None)
    if not file:
        cli.output.text(text)
        return
    cli.console.info(f"Other hosts can join controller {ctx.controller.name} with the key in {file}")


def _join(cli: Cli, asked: ControllerFlags, url: str) -> None:
    folder = session.data_dir(cli)
    key = Path(asked.key_file) if asked.key_file else None
    made = sharing.join(folder, url, key=key, name=asked.name, insecure=asked.insecure_store)
    folder.set_current_controller(made.name)
    cli.console.info(f'This host is now one of the hosts of controller "{made.name}"')
    cli.console.info("next: pushjuju controller run    works here what becomes due")


def _move(cli: Cli, asked: ControllerFlags) -> None:
    if not asked.to:
        raise UsageError("say where to: controller move --to postgresql://HOST/DATABASE, or --to file")
    folder = session.data_dir(cli)
    name = controllers.current(folder, asked.controller or None, cli.env)
    moved = moving.move(folder, name, asked.to, now=cli.clock.now(), insecure=asked.insecure_store)
    moving.note(session.open_controller(cli, name), moved)
    cli.console.info(f'The store of controller "{name}" is now {moved.place}')
    cli.console.info(f"The store as it was is kept: {moved.kept}")
