"""The command show-status-log. Mirrors: juju cmd/juju/status/history.go (3.6)"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.paint import paint_status
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.terminal.times import rfc3339, since_text, wants_utc
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.names import is_machine
from pushjuju.portable.gotypes import Moment, Struct
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.views.listings import statuses

_BACKLOG = 20

# Type -> (kinds of history, the check of the name, Juju's word for the entity).
_ENTITIES: dict[str, tuple[Callable[[str], bool], str]] = {
    "unit": (is_unit, "unit"),
    "workload": (is_unit, "unit"),
    "juju-unit": (is_unit, "unit"),
    "machine": (is_machine, "machine"),
    "juju-machine": (is_machine, "machine"),
    "container": (is_machine, "machine"),
    "juju-container": (is_machine, "machine"),
    "application": (is_application, "application"),
    "saas": (is_application, "application"),
    "model": (lambda _text: True, "model"),
}


@command(
    "show-status-log",
    usage="<entity name>",
    summary="Output past statuses for the specified entity.",
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.IN_MODEL,
        flags.text(
            "type",
            f"Type of statuses to be displayed [{'|'.join(sorted(_ENTITIES))}]",
            default="unit",
            dest="kind",
        ),
        flags.number("n", "Returns the last N logs (cannot be combined with --days or --from-date)"),
        flags.number("days", "Returns the logs for the past <days> days"),
        flags.text(
            "from-date",
            "Returns logs for any date after the passed one, the expected date format is YYYY-MM-DD",
        ),
        flags.switch("utc", "Display time as UTC in RFC3339 format"),
    ),
    examples="    pushjuju show-status-log mysql/0\n"
    "    pushjuju show-status-log mysql/0 -n 50 --utc\n"
    "    pushjuju show-status-log mysql --type application\n"
    "    pushjuju show-status-log 0 --type machine\n"
    "    pushjuju show-status-log --type model\n",
    see_also=("status",),
)
def show_status_log(
    cli: Cli, args: tuple[str, ...], *, model: str, kind: str, n: int, days: int, from_date: str, utc: bool
) -> None:
    if kind not in _ENTITIES:
        raise UsageError(f"unexpected status type {quote(kind)}")
    if not args and kind != "model":
        raise UsageError("entity name is missing.")
    if sum(map(bool, (n, days, from_date))) > 1:
        raise UsageError("backlog size, backlog date and backlog days back cannot be specified together")
    if n < 0 or days < 0:
        raise UsageError("backlog size and backlog days back cannot be negative")
    fits, noun = _ENTITIES[kind]
    if args and not fits(args[0]):
        raise UsageError(f"{quote(args[0])} is not a valid name for a {noun}")
    since = _since(cli.clock.now(), days=days, from_date=from_date)
    opened = session.open_model(cli, model)
    name = args[0] if args and kind != "model" else opened.model.name
    limit = n or (sys.maxsize if since else _BACKLOG)
    entries = statuses.history_of(
        opened.ctx, opened.uuid, statuses.KINDS[kind], name, limit=limit, since=since
    )
    cli.output.write(entries, formatters(utc=wants_utc(cli.env, flag=utc), colour=cli.output.colour))


def _since(now: datetime, *, days: int, from_date: str) -> datetime | None:
    if days:
        return now - timedelta(days=days)
    if not from_date:
        return None
    try:
        return datetime.strptime(from_date, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f'parsing backlog date: "{from_date}" is no date of the form YYYY-MM-DD') from error


class Entry(Protocol):
    """One status of a history."""

    @property
    def kind(self) -> str:
        """The kind of the status: `workload`, `juju-unit`, ..."""
        ...

    @property
    def status(self) -> str: ...

    @property
    def message(self) -> str:
        """The message; may be empty."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """The status data; may be empty."""
        ...

    @property
    def since(self) -> datetime:
        """When the status was set."""
        ...


def formatters(*, utc: bool, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats history entries, oldest first."""
    return {
        "tabular": lambda entries: table(entries, utc=utc, colour=colour),
        "yaml": lambda entries: render("yaml", documents(entries)),
        "json": lambda entries: render("json", documents(entries)),
    }


def table(entries: Iterable[Entry], *, utc: bool, colour: bool = False) -> str:
    writer = TabWriter("Time", "Type", "Status", "Message", colour=colour)
    for entry in entries:
        writer.row(since_text(entry.since, utc=utc), entry.kind, paint_status(entry.status), entry.message)
    return writer.text()


def documents(entries: Iterable[Entry]) -> list[dict[str, object]]:
    """Return the entries in the form of yaml and json."""
    found: list[dict[str, object]] = []
    for entry in entries:
        fields = {
            "status": entry.status,
            "message": entry.message,
            "data": dict(entry.data),
            "since": Moment(rfc3339(entry.since)),
            "type": entry.kind,
        }
        found.append(Struct((key, value) for key, value in fields.items() if value))
    return found
