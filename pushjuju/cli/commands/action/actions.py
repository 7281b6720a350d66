"""actions, show-action, run, exec, operations, show-operation, show-task, cancel-task.

Mirrors: juju cmd/juju/action (3.6)
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import drive, session
from pushjuju.cli.work.waiting import TimedOut, Waiter, failures, is_over
from pushjuju.core.errors import HookFailed, PushjujuError, Silent, UsageError
from pushjuju.core.names import is_machine, machine_tag, unit_tag
from pushjuju.core.tasks import Receiver, TaskStatus
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications
from pushjuju.services.views import tasks
from pushjuju.store.rows.records import Task

RUN_WAIT_S = 60.0
EXEC_WAIT_S = 300.0
_KEY = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_FORMATS = ("plain", "yaml", "json")
_STATUSES = (  # in the order in which Juju names them
    TaskStatus.PENDING,
    TaskStatus.RUNNING,
    TaskStatus.COMPLETED,
    TaskStatus.FAILED,
    TaskStatus.CANCELLED,
    TaskStatus.ABORTING,
    TaskStatus.ABORTED,
    TaskStatus.ERROR,
)


# --- actions, show-action ---------------------------------------------------------------------------------


def _specs(opened: session.Session, name: str) -> dict[str, Any]:
    with opened.ctx.store.read() as tx:
        return dict(actions.specs(tx, applications.get(tx, opened.uuid, name)))


def _application(args: tuple[str, ...]) -> str:
    if not is_application(args[0]):
        raise UsageError(f"invalid application name {quote(args[0])}")
    return args[0]


@command(
    "actions",
    aliases=("list-actions",),
    usage="<application>",
    summary="List actions defined for an application.",
    at_least=(1, "no application name specified"),
    at_most=1,
    formats=("default", "tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, flags.switch("schema", "Display the full action schema")),
    examples="    pushjuju actions web\n    pushjuju actions web --schema\n",
    see_also=("run", "show-action"),
)
def list_actions(cli: Cli, args: tuple[str, ...], *, model: str, schema: bool) -> None:
    """List the actions of an application."""
    name = _application(args)
    if schema and cli.output.form == "tabular":
        raise UsageError("full schema not compatible with tabular output")
    found = _specs(session.open_model(cli, model), name)
    if cli.output.form == "default":
        cli.output.form = "yaml" if schema else "tabular"
    if not found and cli.output.form == "tabular":
        return cli.console.info(f"No actions defined for {name}.")
    if schema:
        return cli.output.write({key: dict(spec.schema) for key, spec in found.items()})
    descriptions = {key: spec.description for key, spec in found.items()}
    return cli.output.write(descriptions, {"tabular": formatters.actions_table})


@command(
    "show-action",
    usage="<application> <action>",
    summary="Shows detailed information about an action.",
    at_least=(1, "no application name specified"),
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju show-action web greet\n",
    see_also=("actions", "run"),
)
def show_action(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show an action with its parameters."""
    name = _application(args)
    if len(args) < 2:
        raise UsageError("no action name specified")
    spec = _specs(session.open_model(cli, model), name).get(args[1])
    if spec is None:
        cli.console.info(f"unknown action {quote(args[1])}")
        raise Silent
    cli.output.text(formatters.action_text(spec.schema))


# --- run --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    units: tuple[str, ...]
    action: str
    pairs: tuple[tuple[tuple[str, ...], str], ...]


def _is_receiver(text: str) -> bool:
    return is_unit(text) or (text.endswith(actions.LEADER) and is_application(text.removesuffix("/leader")))


def _asked(args: tuple[str, ...]) -> _Asked:
    """Read units, action and parameters from the command line.

    Raises:
        UsageError: Something is missing or malformed; the message is Juju's.
    """
    units: list[str] = []
    rest = list(args)
    while rest and _is_receiver(rest[0]):
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


def _parameters(cli: Cli, asked: _Asked, path: str, *, as_text: bool) -> dict[str, Any]:
    """Merge the parameters of a file and of the command line; the latter win."""
    from pushjuju.charms.format.yamlsafe import load

    found: dict[str, Any] = {}
    if path:
        found = values.yaml_map(values.read_file(path, cli.console.stdin), path)
    for keys, text in asked.pairs:
        node = found
        for key in keys[:-1]:
            if not isinstance(node.get(key), dict):
                node[key] = {}
            node = node[key]
        node[keys[-1]] = text if as_text else load(text)
    return found


@command(
    "run",
    usage="<unit> [<unit> ...] <action> [<key>=<value> [<key>[.<key> ...]=<value>]]",
    summary="Run an action on a specified unit.",
    formats=_FORMATS,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        *flags.TASK,
        FlagSpec(name="params", kind=Kind.PATH, default="", help="Path to yaml-formatted params file"),
        flags.switch("string-args", "Use raw string values of command arguments"),
    ),
    details="A unit may be `<application>/leader`. Values are read as YAML unless --string-args is given;\n"
    "they win over those of the --params file. Waits one minute unless --wait says otherwise.",
    examples="    pushjuju run web/leader greet name=Kim\n"
    "    pushjuju run web/0 web/1 backup --params backup.yaml --wait 10m\n"
    "    pushjuju run web/0 show-page --background\n",
    see_also=("actions", "show-operation", "show-task", "cancel-task"),
)
def run(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    background: bool,
    wait: float | None,
    utc: bool,
    params: str,
    string_args: bool,
) -> None:
    """Run an action and print what it gives."""
    _check_wait(cli, background=background)
    asked = _asked(args)
    parameters = _parameters(cli, asked, params, as_text=string_args)
    opened = session.open_model(cli, model)
    request = actions.ActionRequest(action=asked.action, receivers=asked.units, parameters=parameters)
    queued = actions.enqueue(opened.ctx, opened.uuid, request)
    if background:
        return _in_background(cli, opened, queued)
    seconds = wait or RUN_WAIT_S
    waiter = Waiter(cli, opened, queued.tasks, seconds, say=cli.console.info, utc=utc)
    _started(cli.console.info, queued)
    waiter.wait()
    return _results(cli, opened, queued, formatters.run_formatters(), utc=utc)


def _check_wait(cli: Cli, *, background: bool) -> None:
    if background and "wait" in cli.given:
        raise UsageError("cannot specify both --wait and --background")


def _receiver_tag(task: Task) -> str:
    return machine_tag(task.receiver) if task.kind == Receiver.MACHINE else unit_tag(task.receiver)


def _count(queued: actions.Enqueued) -> str:
    number = len(queued.tasks)
    return f"{number} task{'s' if number > 1 else ''}"


def _refused(cli: Cli, queued: actions.Enqueued) -> None:
    """Say which receivers did not take it."""
    if queued.errors:
        head = (
            "Some actions could not be scheduled:"
            if queued.tasks
            else f"Operation {queued.operation} failed to schedule any tasks:"
        )
        cli.console.info("\n".join([head, *queued.errors]))
    for reason in queued.errors if cli.rehearsal else ():
        cli.console.warn(reason)  # what a plan hands on


def _started(say: Any, queued: actions.Enqueued) -> None:
    if queued.tasks:
        lines = [f"  - task {task.id} on {_receiver_tag(task)}" for task in queued.tasks]
        say("\n".join([f"Running operation {queued.operation} with {_count(queued)}", *lines, "\n"]))


def _in_background(cli: Cli, opened: session.Session, queued: actions.Enqueued) -> None:
    _refused(cli, queued)
    if not queued.tasks:
        return
    drive.background(cli, opened.ctx)
    say, number = cli.console.info, queued.operation
    if len(queued.tasks) == 1:
        say(f"Scheduled operation {number} with task {queued.tasks[0].id}")
    else:
        lines = [f"  - task {task.id} on {_receiver_tag(task)}" for task in queued.tasks]
        say("\n".join([f"Scheduled operation {number} with {_count(queued)}", *lines]))
        if cli.output.form == "plain":
            cli.output.form = "yaml"
        cli.output.write({task.receiver: {"id": str(task.id)} for task in queued.tasks})
    one = str(queued.tasks[0].id) if len(queued.tasks) == 1 else "<id>"
    say(f"Check operation status with '{cli.program} show-operation {number}'")
    say(f"Check task status with '{cli.program} show-task {one}'")


def _results(
    cli: Cli, opened: session.Session, queued: actions.Enqueued, forms: Mapping[str, Any], *, utc: bool
) -> None:
    """Print the results of tasks that are over.

    Raises:
        HookFailed: A script ended badly.
    """
    _refused(cli, queued)
    if not queued.tasks:
        return
    found = {task.receiver: tasks.show_task(opened.ctx, opened.uuid, task.id) for task in queued.tasks}
    shown = {name: formatters.task_texts(task, utc=utc) for name, task in found.items()}
    cli.output.write(shown, forms)
    if problem := failures(list(found.values())):
        raise HookFailed(problem)


# --- exec -------------------------------------------------------------------------------------------------


def _check_targets(
    machines: Iterable[str], names: Iterable[str], units: Iterable[str], *, every: bool
) -> None:
    """Check what exec is aimed at.

    Raises:
        UsageError: Nothing, too much, or names that are none; the messages are Juju's.
    """
    given = (("machines", machines), ("applications", names), ("units", units))
    if every:
        for noun, found in given:
            if found:
                raise UsageError(f"You cannot specify --all and individual {noun}")
    elif not any(found for _, found in given):
        raise UsageError(
            "You must specify a target, either through --all, --machine, --application or --unit"
        )
    bad = [f"  {quote(name)} is not a valid machine id" for name in machines if not is_machine(name)]
    bad += [f"  {quote(name)} is not a valid application name" for name in names if not is_application(name)]
    bad += [f"  {quote(name)} is not a valid unit name" for name in units if not _is_receiver(name)]
    if bad:
        raise UsageError("\n".join(["The following exec targets are not valid:", *bad]))


@command(
    "exec",
    usage="<commands>",
    summary="Run the commands on the remote targets specified.",
    at_least=(1, "no commands specified"),
    formats=_FORMATS,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        *flags.TASK,
        flags.switch("all", "Run the commands on all the machines", dest="every"),
        flags.switch("operator", "Accepted and ignored: for Kubernetes only", void=True),
        flags.switch("parallel", "Run the commands in parallel without holding the lock", default=True),
        flags.text("execution-group", "Commands in the same execution group are run sequentially"),
        flags.many("machine", "One or more machine ids", kind=Kind.COMMA_LIST),
        flags.many(
            "application", "One or more application names", kind=Kind.COMMA_LIST, short="a", aliases=("app",)
        ),
        flags.many("unit", "One or more unit ids", kind=Kind.COMMA_LIST, short="u"),
    ),
    details="One argument is shell text; several are quoted and joined. On units the commands have the\n"
    "hook tools; on machines they run as the user ubuntu. Waits five minutes unless --wait says\n"
    "otherwise, and ends commands that take longer.",
    examples="    pushjuju exec --unit web/0 'config-get title'\n"
    "    pushjuju exec --machine 0,1 -- uptime -p\n"
    "    pushjuju exec --application web --parallel=false 'systemctl restart web'\n",
    see_also=("run", "ssh", "show-operation"),
)
def execute(cli: Cli, args: tuple[str, ...], *, model: str, **given: Any) -> None:
    """Run shell commands and print what they say."""
    _check_wait(cli, background=given["background"])
    _check_targets(given["machine"], given["application"], given["unit"], every=given["every"])
    seconds = given["wait"] or EXEC_WAIT_S
    request = actions.CommandRequest(
        command=args[0] if len(args) == 1 else shlex.join(args),
        timeout_s=max(seconds, 0.0),
        units=given["unit"],
        applications=given["application"],
        machines=given["machine"],
        every_machine=given["every"],
        parallel=given["parallel"],
        execution_group=given["execution_group"],
    )
    opened = session.open_model(cli, model)
    queued = actions.enqueue_commands(opened.ctx, opened.uuid, request)
    if given["background"]:
        return _in_background(cli, opened, queued)
    say = cli.console.detail
    waiter = Waiter(cli, opened, queued.tasks, seconds, say=say, utc=given["utc"])
    _started(say, queued)
    waiter.wait()
    return _results(cli, opened, queued, formatters.exec_formatters(), utc=given["utc"])


# --- looking ----------------------------------------------------------------------------------------------


def _number(text: str, noun: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:  # the store has no greater numbers
        raise UsageError(f"{noun} ID {quote(text)} not valid")
    return int(text)


@command(
    "operations",
    aliases=("list-operations",),
    summary="Lists pending, running, or completed operations for specified application, units, or machines.",
    at_most=0,
    formats=_FORMATS,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("utc", "Show times in UTC"),
        flags.many(
            "applications", "Comma separated list of applications", kind=Kind.COMMA_LIST, aliases=("apps",)
        ),
        flags.many("units", "Comma separated list of units", kind=Kind.COMMA_LIST),
        flags.many("machines", "Comma separated list of machines", kind=Kind.COMMA_LIST),
        flags.many("actions", "Comma separated list of actions names", kind=Kind.COMMA_LIST, dest="names"),
        flags.many("status", "Comma separated list of operation statuses", kind=Kind.COMMA_LIST),
        flags.number("limit", "The maximum number of operations to return; 0 means 50", kind=Kind.UINT),
        flags.number("offset", "Return operations from offset onwards", kind=Kind.UINT),
    ),
    examples="    pushjuju operations\n    pushjuju operations --units web/0 --status running,pending\n",
    see_also=("run", "show-operation", "show-task"),
)
def operations(
    cli: Cli, _args: tuple[str, ...], *, model: str, utc: bool, limit: int, offset: int, **wanted: Any
) -> None:
    """List operations."""
    _check_filter(wanted)
    opened = session.open_model(cli, model)
    chosen = tasks.Filter(
        applications=wanted["applications"],
        units=wanted["units"],
        machines=wanted["machines"],
        actions=wanted["names"],
        statuses=wanted["status"],
    )
    size = limit or tasks.DEFAULT_LIMIT
    listing = tasks.operations(opened.ctx, opened.uuid, chosen, limit=size, offset=offset)
    if not listing.operations:
        return cli.console.info("no matching operations")
    if cli.output.form == "plain":
        return cli.output.text(
            _page(listing, offset, size) + formatters.operations_table(listing.operations, utc=utc)
        )
    shown = {str(key): formatters.operation_texts(item, utc=utc) for key, item in listing.operations.items()}
    return cli.output.write(shown)


def _check_filter(wanted: Mapping[str, Sequence[str]]) -> None:
    """Refuse what can match nothing.

    Raises:
        UsageError: A name or a status that is none; all of them are told.
    """
    faults = [
        f"invalid {noun} {quote(name)}"
        for noun, names, fits in (
            ("application name", wanted["applications"], is_application),
            ("unit name", wanted["units"], is_unit),
            ("machine id", wanted["machines"], is_machine),
        )
        for name in names
        if not fits(name)
    ]
    faults += [
        f"{quote(name)} is not a valid task status, want one of [{' '.join(_STATUSES)}]"
        for name in wanted["status"]
        if name not in _STATUSES
    ]
    if faults:
        raise UsageError("\n".join(faults))


def _page(listing: tasks.Listing, offset: int, size: int) -> str:
    """Return what stands above a part of the operations."""
    if not listing.more and not offset:
        return ""
    text = f"Displaying operation results {offset + 1} to {offset + len(listing.operations)}.\n"
    if listing.more:
        again = f"--offset={offset + size} --limit={size}"
        text += f"Run the command again with {again} to see the next batch.\n\n"
    return text


_WATCH = (
    flags.duration("wait", "Maximum wait time for completion", default="-1s"),
    flags.switch("watch", "Wait indefinitely for results"),
    flags.switch("utc", "Show times in UTC"),
)


def _follow(
    cli: Cli,
    opened: session.Session,
    waited: Iterable[Task],
    seconds: float,
    *,
    watch: bool,
    utc: bool,
    late: str,
    number: int,
) -> None:
    """Wait as asked: with `--wait 0s` for ever, with a negative time not at all.

    Args:
        cli: The call.
        opened: The model.
        waited: The tasks.
        seconds: `--wait`.
        watch: `--watch`: for ever.
        utc: Show times in UTC.
        late: Juju's message when the time runs out.
        number: What was asked for: the task or the operation.

    Raises:
        TimedOut: They are not over in time; they go on.

    Mirrors: juju cmd/juju/action/showtask.go, showoperation.go (3.6)
    """
    if not watch and seconds < 0:
        return
    left = [task for task in waited if not is_over(task.status)]
    try:
        Waiter(cli, opened, left, seconds if seconds > 0 else -1.0, say=_only_log(cli), utc=utc).wait()
    except TimedOut as error:
        hint = f"{cli.program} {cli.word} {number}    shows how far it is; it goes on"
        raise TimedOut(late, detail=error.message, hint=hint) from error


def _only_log(cli: Cli) -> Any:
    def say(text: str) -> None:
        if not text.startswith("Waiting for task"):
            cli.console.info(text)

    return say


def _check_watch(cli: Cli, *, watch: bool) -> None:
    if watch and "wait" in cli.given:
        raise UsageError("specify either --watch or --wait but not both")


@command(
    "show-operation",
    usage="<operation-id>",
    summary="Show results of an operation.",
    at_least=(1, "no operation ID specified"),
    at_most=1,
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, *_WATCH),
    examples="    pushjuju show-operation 1\n    pushjuju show-operation 1 --wait 2m\n",
    see_also=("run", "operations", "show-task"),
)
def show_operation(
    cli: Cli, args: tuple[str, ...], *, model: str, wait: float, watch: bool, utc: bool
) -> None:
    """Show an operation with its tasks."""
    _check_watch(cli, watch=watch)
    number = _number(args[0], "operation")
    opened = session.open_model(cli, model)
    found = tasks.show_operation(opened.ctx, opened.uuid, number)
    with opened.ctx.store.read() as tx:
        waited = [actions.get_task(tx, opened.uuid, int(key)) for key in found.get("tasks", {})]
    _follow(cli, opened, waited, wait, watch=watch, utc=utc, late="timeout reached", number=number)
    found = tasks.show_operation(opened.ctx, opened.uuid, number)
    cli.output.write(formatters.operation_texts(found, utc=utc))


@command(
    "show-task",
    usage="<task ID>",
    summary="Show results of a task by ID.",
    at_least=(1, "no task ID specified"),
    at_most=1,
    formats=_FORMATS,
    flags=(*flags.MODEL, *flags.LOGIN, *_WATCH),
    examples="    pushjuju show-task 2\n    pushjuju show-task 2 --watch\n",
    see_also=("run", "cancel-task", "show-operation"),
)
def show_task(cli: Cli, args: tuple[str, ...], *, model: str, wait: float, watch: bool, utc: bool) -> None:
    """Show a task with its results."""
    _check_watch(cli, watch=watch)
    number = _number(args[0], "task")
    opened = session.open_model(cli, model)
    with opened.ctx.store.read() as tx:
        waited = actions.get_task(tx, opened.uuid, number)
    late = "maximum wait time reached"
    _follow(cli, opened, [waited], wait, watch=watch, utc=utc, late=late, number=number)
    shown = formatters.task_texts(tasks.show_task(opened.ctx, opened.uuid, number), utc=utc)
    if cli.output.form == "plain":
        return cli.output.text(formatters.plain_task(shown))
    return cli.output.write(shown)


@command(
    "cancel-task",
    usage="(<task-id>|<task-id-prefix>) [...]",
    summary="Cancel pending or running tasks.",
    at_least=(1, "no task ID specified"),
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju cancel-task 2 3\n",
    see_also=("run", "show-task"),
)
def cancel_task(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Cancel tasks that wait, abort those that run."""
    numbers = [_number(text, "task") for text in args]
    opened = session.open_model(cli, model)
    found = actions.cancel(opened.ctx, opened.uuid, numbers)
    try:
        if any(not is_over(task.status) for task in found):
            drive.settle(cli, opened.ctx, opened.uuid, touched=())
    except PushjujuError as error:
        cli.console.warn(error.message)
    with opened.ctx.store.read() as tx:
        found = [actions.get_task(tx, opened.uuid, number) for number in numbers]
    cli.output.write({"actions": [_cancelled(task) for task in found]})


def _cancelled(task: Task) -> dict[str, Any]:
    document = {"id": str(task.id), "action": task.action, task.kind: task.receiver, "status": task.status}
    if task.completed:
        from pushjuju.core.clock import from_iso

        document["completed at"] = formatters.moment_text(from_iso(task.completed), utc=False)
    return document
