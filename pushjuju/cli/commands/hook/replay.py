"""replay: decides again from the facts of an earlier decision, and shows the difference."""

from __future__ import annotations

import json
from pathlib import Path

from pushjuju.cli.commands.hook import replay_table as shown
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.services.views import decisions
from pushjuju.workers import deciding

DIFFERS = 2  # exit status of a decision that would be another one today


@command(
    "replay",
    usage="<operation> | <unit>",
    summary="Decides once more what was decided, from what was seen then, and tells the difference.",
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        FlagSpec(
            name="file",
            kind=Kind.PATH,
            default="",
            help="Take the record from a file that `replay --format json` wrote; - for stdin",
        ),
        *flags.COLOUR,
    ),
    details="Nothing is changed and no machine is asked. Every operation that `hooks` tells of can be\n"
    "replayed, whether it ran well or failed, and each unit's last decision.\n"
    "The answer shows what each part of the resolver said, in its order.\n\n"
    "Exit status: 0 when today's resolver decides the same, 2 when it decides otherwise, 1 on errors.\n"
    "With --format json the record is in the answer: it can be sent along with a report and be\n"
    "replayed elsewhere with --file. It names units, relations and hashes of settings, no values.",
    examples="    pushjuju replay web/0\n    pushjuju replay 3f2a\n    pushjuju replay --file report.json\n",
    see_also=("explain", "hooks"),
)
def replay(cli: Cli, args: tuple[str, ...], *, model: str, file: str) -> None:
    """Decide again."""
    if bool(args) == bool(file):
        raise UsageError(
            "no operation or unit specified" if not args else "give an operation or --file, not both"
        )
    if file:
        found = _from_file(cli, file)
    else:
        opened = session.open_model(cli, model)
        found = decisions.find(opened.ctx, opened.uuid, args[0])
    again = deciding.replayed(found.record)
    document = shown.document(found, again)
    table = {"tabular": lambda written: shown.text(written, colour=cli.output.colour)}
    cli.output.write(document, table)
    if again.differences:
        raise Exited(DIFFERS)


def _from_file(cli: Cli, path: str) -> decisions.Decided:
    """Read a record that another user sent."""
    try:
        text = (
            cli.console.stdin.read() if path == "-" else Path(path).expanduser().read_text(encoding="utf-8")
        )
        read = json.loads(text)
        record = read.get("record", read)
    except FileNotFoundError:
        raise NotFound(f"file {path} not found") from None
    except (ValueError, AttributeError, RecursionError) as error:
        raise NotValid(f"{path} is no record of a decision: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("remote"), dict):
        raise NotValid(f"{path} is no record of a decision")
    return decisions.Decided(subject=path, unit=str(record["remote"].get("unit", "")), record=record)
