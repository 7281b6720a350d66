"""explain: says why an entity is in its state, what it waits for, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.terminal.times import since_text
from pushjuju.cli.work import hints, session
from pushjuju.portable.gotypes import Struct
from pushjuju.services.entities.machine import machine_work
from pushjuju.services.views import explain as service
from pushjuju.workers import deciding

if TYPE_CHECKING:
    from pushjuju.services.entities.model.sessions import Session


@command(
    "explain",
    usage="[<unit>|<application>|<machine>|<storage> ...]",
    summary="Says why entities are in their state, what they wait for, and how to go on.",
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, flags.switch("utc", "Display timestamps in the UTC timezone")),
    details="Without names: all units, machines and the model itself. With names also the next command to\n"
    "type, the last decision, the holder of the machine's lock, the process that works the\n"
    "machine, the holder of the leadership, and the time of the next work.",
    examples="    pushjuju explain\n    pushjuju explain web/0 web 3 data/0\n",
    see_also=("status", "hooks", "replay", "debug-log"),
)
def explain(cli: Cli, args: tuple[str, ...], *, model: str, utc: bool) -> None:
    opened = session.open_model(cli, model)
    program, wide = cli.program, bool(args)
    form = {"tabular": lambda listed: reasons(listed, program, wide=wide, colour=cli.output.colour)}
    cli.output.write(_entries(cli, opened, args, utc=utc), form)


def table(cli: Cli, opened: Session, names: tuple[str, ...], *, utc: bool) -> str:
    """Return what `explain` shows about some entities, as a table."""
    return reasons(_entries(cli, opened, names, utc=utc), cli.program, wide=True, colour=cli.output.colour)


def _entries(cli: Cli, opened: Session, names: tuple[str, ...], *, utc: bool) -> list[Struct]:
    at, entries = hints.model_flag(cli, opened.ctx, opened.model), []
    for found in deciding.explained(opened.ctx, opened.uuid, names):
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
    return entries


def reasons(
    entries: Sequence[Mapping[str, Any]],
    program: str = "pushjuju",
    *,
    wide: bool = False,
    colour: bool = False,
) -> str:
    """Return the output of `explain`.

    Args:
        entries: `subject`, `doing`, `reason`, `again` (text), `attempts`, and the keys of `explain.fields`.
        program: The name under which the user called pushjuju.
        wide: Whether to show, after the table, who works each entity and what to type next.
    """
    table = TabWriter("Subject", "Doing", "Again", "Failures", "Reason", colour=colour)
    for entry in entries:
        failures = str(entry.get("attempts") or "")
        table.row(entry["subject"], entry["doing"], entry.get("again", ""), failures, entry.get("reason", ""))
    if wide:
        return table.text() + "".join(_more(entry, program) for entry in entries)
    left = ", ".join(dict.fromkeys(entry["subject"] for entry in entries if entry.get("unattended")))
    return table.text() + (f"\n{left}: {machine_work.Hands().text(program)}\n" if left else "")


def _more(entry: Mapping[str, Any], program: str) -> str:
    """Return which process works on an entity, and what the user can do next; may be empty."""
    lines = []
    if entry.get("running"):
        lines.append(f"running since {entry['since']}: {entry['running']} (has the machine's lock)")
    elif entry.get("since"):
        lines.append(f"since {entry['since']}")
    if entry.get("held-by"):
        lines.append(f"worked by process {entry['held-by']}")
    if entry.get("attended-by"):
        lines.append(machine_work.Hands(waiting=entry["attended-by"]).text(program, entry.get("again", "")))
    if entry.get("unattended"):
        lines.append(machine_work.Hands().text(program))
    if entry.get("leader"):
        lines.append(f"leader: {entry['leader']}")
    lines += [f"next: {program} {text}" for text in entry.get("next", ())]
    return "".join((f"\n{entry['subject']}\n", *(f"  {line}\n" for line in lines))) if lines else ""
