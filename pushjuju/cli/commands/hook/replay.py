"""replay: repeats an earlier decision from its recorded facts, and shows the difference."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.terminal.paint import GREEN, RED, paint
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.services.views import decisions
from pushjuju.workers import deciding

DIFFERS = 2  # exit status when today's decision differs


@command(
    "replay",
    usage="<operation> | <unit>",
    summary="Repeats an earlier decision from its recorded facts, and shows the difference.",
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
    details="Nothing is changed and no machine is contacted. Every operation that `hooks` lists can be\n"
    "replayed, and the last decision of each unit. The output lists the result of each part of the\n"
    "resolver, in the order in which they ran.\n\n"
    "Exit status: 0 when today's resolver decides the same, 2 when it decides otherwise, 1 on errors.\n"
    "With --format json the output contains the record: another user can replay it with --file.\n"
    "The record names units, relations and hashes of settings, no values.",
    examples="    pushjuju replay web/0\n    pushjuju replay 3f2a\n    pushjuju replay --file report.json\n",
    see_also=("explain", "hooks"),
)
def replay(cli: Cli, args: tuple[str, ...], *, model: str, file: str) -> None:
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
    document = deciding.document(found, again)
    table = {"tabular": lambda written: text(written, colour=cli.output.colour)}
    cli.output.write(document, table)
    if again.differences:
        raise Exited(DIFFERS)


def _from_file(cli: Cli, path: str) -> decisions.Decided:
    try:
        read = json.loads(values.read_file(path, cli.console.stdin))
        record = read.get("record", read)
    except (ValueError, AttributeError, RecursionError) as error:
        raise NotValid(f"{path} is no record of a decision: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("remote"), dict):
        raise NotValid(f"{path} is no record of a decision")
    return decisions.Decided(subject=path, unit=str(record["remote"].get("unit", "")), record=record)


def text(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the text of a repeated decision."""
    table = TabWriter(colour=colour)
    about = " ".join(filter(None, (document.get("unit", ""), document.get("hook", ""))))
    table.row("Decision of", about or document["subject"])
    for title, key in (("Recorded", "recorded"), ("Now", "now")):
        decision = document[key]
        table.row(
            title, f"{decision['doing']}: {decision.get('reason', '')} ({decision.get('resolver', '')})"
        )
    same = paint("the same", GREEN) if document["same"] else paint("otherwise", RED)
    table.row("Result", same)
    return table.text() + _listed("Differences", document.get("differences", ())) + _said(document, colour)


def _listed(title: str, lines: Sequence[str]) -> str:
    return "".join((f"\n{title}:\n", *(f"  {line}\n" for line in lines))) if lines else ""


def _said(document: Mapping[str, Any], colour: bool) -> str:
    table = TabWriter("Resolver", "Says", colour=colour)
    for item in document["resolvers"]:
        table.row(item["resolver"], item["says"])
    return f"\n{table.text()}"
