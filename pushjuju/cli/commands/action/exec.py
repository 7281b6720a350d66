"""exec: run the commands on the remote targets specified. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from pushjuju.cli.commands.action import task_start
from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import FORMATS
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import session
from pushjuju.cli.work.waiting import Waiter
from pushjuju.core.errors import UsageError
from pushjuju.core.names import is_machine
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.action import operations

EXEC_WAIT_S = 300.0


def _check_targets(
    machines: Iterable[str], names: Iterable[str], units: Iterable[str], *, every: bool
) -> None:
    """Check which machines and units exec is to run on."""
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
    bad += [f"  {quote(name)} is not a valid unit name" for name in units if not task_start.is_receiver(name)]
    if bad:
        raise UsageError("\n".join(["The following exec targets are not valid:", *bad]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecFlags:
    model: str
    background: bool
    wait: float | None
    utc: bool
    every: bool = flags.switch("all", "Run the commands on all the machines", dest="every")
    parallel: bool = flags.switch(
        "parallel", "Run the commands in parallel without holding the lock", default=True
    )
    execution_group: str = flags.text(
        "execution-group", "Commands in the same execution group are run sequentially"
    )
    machine: tuple[str, ...] = flags.many("machine", "One or more machine ids", kind=Kind.COMMA_LIST)
    application: tuple[str, ...] = flags.many(
        "application", "One or more application names", kind=Kind.COMMA_LIST, short="a", aliases=("app",)
    )
    unit: tuple[str, ...] = flags.many("unit", "One or more unit ids", kind=Kind.COMMA_LIST, short="u")


def request_of(cli: Cli, args: tuple[str, ...], flags: ExecFlags) -> operations.CommandRequest:
    task_start.check_wait(cli, background=flags.background)
    _check_targets(flags.machine, flags.application, flags.unit, every=flags.every)
    return operations.CommandRequest(
        command=args[0] if len(args) == 1 else shlex.join(args),
        timeout_s=max(flags.wait or EXEC_WAIT_S, 0.0),
        units=flags.unit,
        applications=flags.application,
        machines=flags.machine,
        every_machine=flags.every,
        parallel=flags.parallel,
        execution_group=flags.execution_group,
    )


@command(
    "exec",
    usage="<commands>",
    summary="Run the commands on the remote targets specified.",
    at_least=(1, "no commands specified"),
    formats=FORMATS,
    flags=(
        *flags.IN_MODEL,
        *flags.TASK,
        flags.switch("operator", "Accepted and ignored: for Kubernetes only", void=True),
    ),
    details="One argument is shell text; several are quoted and joined. On units the commands have the\n"
    "hook tools; on machines they run as the user ubuntu. Waits five minutes unless --wait says\n"
    "otherwise, and ends commands that take longer.",
    examples="    pushjuju exec --unit web/0 'config-get title'\n"
    "    pushjuju exec --machine 0,1 -- uptime -p\n"
    "    pushjuju exec --application web --parallel=false 'systemctl restart web'\n",
    into=ExecFlags,
    see_also=("run", "ssh", "show-operation"),
)
def execute(cli: Cli, args: tuple[str, ...], flags: ExecFlags) -> None:
    request, seconds = request_of(cli, args, flags), flags.wait or EXEC_WAIT_S
    opened = session.open_model(cli, flags.model)
    queued = operations.enqueue_commands(opened.ctx, opened.uuid, request)
    if flags.background:
        return task_start.in_background(cli, opened, queued)
    say = cli.console.detail
    waiter = Waiter(cli, opened, queued.tasks, seconds, say=say, utc=flags.utc)
    task_start.start(say, queued)
    waiter.wait()
    return task_start.show_results(cli, opened, queued, formatters.exec_formatters(), utc=flags.utc)
