"""audit: shows who changed what in a controller; `audit verify` checks that no line was changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.cli.commands.hook import moments
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.terminal.times import since_text
from pushjuju.cli.work import session
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.gotypes import Struct
from pushjuju.services.views.listings import audit_lines

_LIMIT = 50
_BROKEN = 1  # exit status of `verify` when a line was changed or is missing
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFlags:
    controller: str = flags.CONTROLLER[0]
    user: str = flags.text("user", "Only changes by this user")
    model: str = flags.text("model", "Only changes of this model", short="m")
    entity: str = flags.text("entity", "Only changes of this application with its units, or other entity")
    cause: str = flags.text("cause", "Only changes of the command or call with this `cause`, as runs have it")
    since: str = flags.text("since", "Only changes since a duration (2h30m) or a time (2025-03-01T09:12)")
    until: str = flags.text("until", "Only changes until a duration before now, or a time")
    limit: int = flags.number(
        "limit", "Only this many of the newest changes; 0 for all", kind=Kind.UINT, default=_LIMIT
    )
    utc: bool = flags.switch("utc", "Display timestamps in the UTC timezone")


@command(
    "audit",
    usage="[verify [HASH]]",
    summary="Shows who changed what in a controller, when, and through which door.",
    at_most=2,
    formats=("tabular", "yaml", "json"),
    into=AuditFlags,
    details="Each change by a command, the API, the dashboard or cron has a line, which its transaction\n"
    "writes. A line names what has changed, and has no values. The user of a command is believed\n"
    "(`verified` is false), and the login name stands beside it; a user of the API has logged in.\n\n"
    "Each line has the hash of the line before. `audit verify` exits with 1 when a line was changed or\n"
    "is missing. It prints the newest hash: keep a copy elsewhere, and give it to a later check, which then\n"
    "also sees when the end was cut or the whole log written anew.\n\n"
    "Lines are kept for a year (controller-config audit-log-max-age); auditing-enabled=false ends them.",
    examples="    pushjuju audit --since 24h\n    pushjuju audit --user kim --model web --format json\n"
    "    pushjuju audit --entity mysql\n    pushjuju audit verify\n",
    see_also=("controller-config", "hooks", "timeline"),
)
def audit(cli: Cli, args: tuple[str, ...], asked: AuditFlags) -> None:
    if args and args[0] != "verify":
        raise UsageError(f'unknown subcommand "{args[0]}" of audit: it has `verify`')
    if args:
        _verify(cli, asked, *args[1:])
    else:
        _list(cli, asked)


def _list(cli: Cli, asked: AuditFlags) -> None:
    now = cli.clock.now()
    wanted = audit_lines.Wanted(
        user=asked.user,
        model=asked.model,
        entity=asked.entity,
        cause=asked.cause,
        since=moments.moment(asked.since, now) if asked.since else None,
        until=moments.moment(asked.until, now, "until") if asked.until else None,
        most=asked.limit,
    )
    found = audit_lines.lines(session.open_controller(cli, asked.controller), wanted)
    if not found and cli.output.form == "tabular":
        cli.console.info("No changes to display.")
    cli.output.write(found, {"tabular": lambda lines: table(lines, utc=asked.utc)})


def _verify(cli: Cli, asked: AuditFlags, kept: str = "") -> None:
    found = audit_lines.verify(session.open_controller(cli, asked.controller), kept)
    cli.output.write(verified(found), {"tabular": lambda _document: verdict(found)})
    if found.problems:
        raise Exited(_BROKEN)


def table(lines: Iterable[Mapping[str, Any]], *, utc: bool) -> str:
    made = TabWriter("Time", "User", "From", "Model", "Command", "Changed")
    for line in lines:
        command = " ".join((line["command"], *line.get("arguments", ())))
        when = since_text(from_iso(line["time"]), utc=utc)
        made.row(when, line["user"], _from(line), line.get("model", ""), command, _changed(line))
    return made.text()


def _from(line: Mapping[str, Any]) -> str:
    """Return the door of a line, with the login name or the address behind it."""
    who, door = line.get("login") or line.get("host", ""), line["door"] or "pushjuju"
    return f"{door} {who}".strip()


def _changed(line: Mapping[str, Any]) -> str:
    names = list(line.get("changed", ()))
    if pruned := line.get("pruned"):
        return f"lines up to {pruned['number']} deleted"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    ended = audit_lines.failed(line)
    return "; ".join(text for text in (", ".join(names[:_MOST_NAMES]) + more, ended) if text)


def verified(found: audit_lines.Verified) -> Struct:
    """Return the result of a check as a document."""
    document = Struct(lines=found.lines, last=found.last, hash=found.hash, intact=not found.problems)
    if found.problems:
        document["problems"] = list(found.problems)
    return document


def verdict(found: audit_lines.Verified) -> str:
    """Return the result of a check as text."""
    if found.problems:
        return "".join(f"{problem}\n" for problem in found.problems)
    if not found.lines:
        return "The audit log has no lines.\n"
    return f"{found.lines} lines are intact; the newest is {found.last}, {found.hash}\n"
