"""run: run an action on a specified unit. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.charms.format import yamlsafe
from pushjuju.cli.commands.action import task_start
from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import FORMATS
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import session
from pushjuju.cli.work.waiting import Waiter
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.quote import quote
from pushjuju.services.requests.action import operations

RUN_WAIT_S = 60.0

_KEY = regex(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    units: tuple[str, ...]
    action: str
    pairs: tuple[tuple[tuple[str, ...], str], ...]


def _asked(args: tuple[str, ...]) -> _Asked:
    """Parse units, action and parameters from the command line."""
    units: list[str] = []
    rest = list(args)
    while rest and task_start.is_receiver(rest[0]):
        units.append(rest.pop(0))
    if rest and not _KEY.fullmatch(rest[0]):
        raise UsageError(f"invalid unit or action name {quote(rest[0])}")
    if not units:
        raise UsageError("no unit specified")
    if not rest:
        raise UsageError("no action specified")
    if len({unit.partition("/")[0] for unit in units}) > 1:
        raise UsageError("all units must be of the same application")
    return _Asked(units=tuple(units), action=rest[0], pairs=tuple(_pair(text) for text in rest[1:]))


def _pair(text: str) -> tuple[tuple[str, ...], str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"argument {quote(text)} must be of the form key.key.key...=value")
    keys = tuple(name.split("."))
    for key in keys:
        if not _KEY.fullmatch(key):
            raise UsageError(
                f"key {quote(key)} must start and end with lowercase alphanumeric, "
                "and contain only lowercase alphanumeric and hyphens"
            )
    return keys, value


def _parameters(cli: Cli, options: _Asked, path: str, *, as_text: bool) -> dict[str, object]:
    """Return the parameters of a file and of the command line; those of the command line win."""
    found: dict[str, Any] = {}
    if path:
        found = values.yaml_map(values.read_file(path, cli.console.stdin), path)
    for keys, text in options.pairs:
        node = found
        for key in keys[:-1]:
            if not isinstance(node.get(key), dict):
                node[key] = {}
            node = node[key]
        node[keys[-1]] = text if as_text else yamlsafe.load(text)
    return found


def request_of(cli: Cli, args: tuple[str, ...], flags: RunFlags) -> operations.ActionRequest:
    """Return the request of the command line; the file of `--params` is read."""
    options = _asked(args)
    parameters = _parameters(cli, options, flags.params, as_text=flags.string_args)
    return operations.ActionRequest(action=options.action, receivers=options.units, parameters=parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    model: str
    background: bool
    wait: float | None
    utc: bool
    params: str
    string_args: bool = flags.switch("string-args", "Use raw string values of command arguments")


@command(
    "run",
    usage="<unit> [<unit> ...] <action> [<key>=<value> [<key>[.<key> ...]=<value>]]",
    summary="Run an action on a specified unit.",
    formats=FORMATS,
    flags=(
        *flags.IN_MODEL,
        *flags.TASK,
        FlagSpec(name="params", kind=Kind.PATH, default="", help="Path to yaml-formatted params file"),
    ),
    details="A unit may be `<application>/leader`. Values are read as YAML unless --string-args is given;\n"
    "they win over those of the --params file. Waits one minute unless --wait says otherwise.",
    examples="    pushjuju run web/leader greet name=Kim\n"
    "    pushjuju run web/0 web/1 backup --params backup.yaml --wait 10m\n"
    "    pushjuju run web/0 show-page --background\n",
    into=RunFlags,
    see_also=("actions", "show-operation", "show-task", "cancel-task"),
)
def run(cli: Cli, args: tuple[str, ...], flags: RunFlags) -> None:
    task_start.check_wait(cli, background=flags.background)
    _asked(args)  # a wrong word is refused before the model is opened
    opened = session.open_model(cli, flags.model)
    request = request_of(cli, args, flags)
    queued = operations.enqueue(opened.ctx, opened.uuid, request)
    if flags.background:
        return task_start.in_background(cli, opened, queued)
    seconds = flags.wait or RUN_WAIT_S
    waiter = Waiter(cli, opened, queued.tasks, seconds, say=cli.console.info, utc=flags.utc)
    task_start.start(cli.console.info, queued)
    waiter.wait()
    return task_start.show_results(cli, opened, queued, formatters.run_formatters(), utc=flags.utc)
