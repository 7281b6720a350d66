"""The command operations. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import FORMATS
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.model.tasks import TaskStatus
from pushjuju.core.names import is_machine
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.views import tasks

_STATUSES = (  # in Juju's order
    TaskStatus.PENDING,
    TaskStatus.RUNNING,
    TaskStatus.COMPLETED,
    TaskStatus.FAILED,
    TaskStatus.CANCELLED,
    TaskStatus.ABORTING,
    TaskStatus.ABORTED,
    TaskStatus.ERROR,
)


@command(
    "operations",
    aliases=("list-operations",),
    summary="Lists pending, running, or completed operations for specified application, units, or machines.",
    at_most=0,
    formats=FORMATS,
    flags=(
        *flags.IN_MODEL,
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
    """Refuse a filter that matches nothing."""
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
    """Return the line above a page of operations."""
    if not listing.more and not offset:
        return ""
    text = f"Displaying operation results {offset + 1} to {offset + len(listing.operations)}.\n"
    if listing.more:
        again = f"--offset={offset + size} --limit={size}"
        text += f"Run the command again with {again} to see the next batch.\n\n"
    return text
