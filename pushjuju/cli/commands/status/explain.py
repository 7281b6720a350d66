"""explain: says why an entity is in its state, what it waits for, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.commands.status.reason_table import reasons
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.times import since_text
from pushjuju.cli.work import hints, session
from pushjuju.portable.gotypes import Struct
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
    """Show the last decisions and the due work of the queue."""
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
