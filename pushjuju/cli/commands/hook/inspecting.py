"""show-relation, hooks, replay: pushjuju's own looks behind the model. No Juju model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from pushjuju.services.entities.application import decisions
    from pushjuju.services.views.hook_runs import Wanted

_FOLLOW_S = 0.3
_LIMIT = 50
_LONGEST_H = 1  # hooks that began earlier are not waited for
DIFFERS = 2  # exit status of a decision that would be another one today


# --- show-relation ----------------------------------------------------------------------------------------


@command(
    "show-relation",
    usage="<relation id> | <application>[:<endpoint>] [<application>[:<endpoint>]]",
    summary="Shows a relation with the data of both sides beside each other.",
    at_least=(1, "no relation specified"),
    at_most=2,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.COLOUR),
    details="A peer relation is named by its one side. `status --relations` tells the ids.\n"
    "Units that left keep their data until the relation is gone; they are shown as `left`.",
    examples="    pushjuju show-relation wordpress mysql\n    pushjuju show-relation 4 --format json\n",
    see_also=("show-unit", "integrate", "status"),
)
def show_relation(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show one relation."""
    from pushjuju.cli.commands.hook import inspected
    from pushjuju.services.requests import integrate
    from pushjuju.services.views import relation_view

    if not (len(args) == 1 and integrate.is_id(args[0])):
        for arg in args:
            if not is_application(arg.partition(":")[0]):
                raise UsageError(f"relation ID or application {quote(arg)} not valid")
    opened = session.open_model(cli, model)
    found = relation_view.show(opened.ctx, opened.uuid, args)
    table = {"tabular": lambda document: inspected.relation_table(document, colour=cli.output.colour)}
    cli.output.write(inspected.relation_document(found), table)


# --- hooks ------------------------------------------------------------------------------------------------


@command(
    "hooks",
    usage="[<unit> ...]",
    summary="Shows which hooks ran: when, how long, how they ended, what they changed.",
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        flags.many("hook", "Only runs of this hook; repeat it for several"),
        flags.switch("failed", "Only runs that failed"),
        flags.number(
            "limit", "Only the newest so many; 0 for all that is kept", kind=Kind.UINT, default=_LIMIT
        ),
        flags.text(
            "since", "Only what ran since: a duration (2h30m) or a time (2025-03-01, 2025-03-01T09:12)"
        ),
        flags.switch("follow", "Go on and show runs as they end; json then is one document for each line"),
        flags.switch("utc", "Display timestamps in the UTC timezone"),
        *flags.COLOUR,
    ),
    details="Runs are kept as long as the history of statuses: model-config max-status-history-age.\n"
    "Changes name relation keys, ports and keys of the charm's state, never values. A run's id\n"
    "is what `replay` takes; the start of it is enough.",
    examples="    pushjuju hooks web/0 --since 1h\n    pushjuju hooks --failed --limit 5\n"
    "    pushjuju hooks --follow --hook config-changed\n",
    see_also=("explain", "replay", "debug-log", "show-status-log"),
)
def hooks(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    hook: Sequence[str],
    failed: bool,
    limit: int,
    since: str,
    follow: bool,
    utc: bool,
) -> None:
    """Show the history of hook runs."""
    from pushjuju.cli.commands.hook import inspected
    from pushjuju.services.views import hook_runs

    for name in args:
        if not is_unit(name):
            raise UsageError(f'invalid unit name "{name}"')
    start = _moment(since, cli.clock.now()) if since else None
    opened = session.open_model(cli, model)
    wanted = hook_runs.Wanted(units=args, hooks=tuple(hook), failed=failed, since=start, most=limit)
    if follow:
        _follow(cli, opened, wanted, utc=utc)
        return
    runs = hook_runs.history(opened.ctx, opened.uuid, wanted)
    if not runs and cli.output.form == "tabular":
        cli.console.info("No hook runs to display.")
        return
    look = inspected.Look(utc=utc, colour=cli.output.colour)
    table = {"tabular": lambda _document: inspected.runs_table(runs, look)}
    cli.output.write([inspected.run_document(run) for run in runs], table)


def _follow(cli: Cli, opened: session.Session, wanted: Wanted, *, utc: bool) -> None:
    """Show runs as they end, until the reader has enough."""
    from dataclasses import replace

    from pushjuju.cli.commands.hook import inspected
    from pushjuju.services.views import hook_runs

    look = inspected.Look(utc=utc, colour=cli.output.colour)
    cli.on_interrupt = "Following ended."
    seen = set[str]()
    backlog = hook_runs.history(opened.ctx, opened.uuid, wanted)
    # What was there before the backlog's limit is not shown; what still runs is shown when it ends.
    wanted = replace(wanted, most=0, since=wanted.since or cli.clock.now() - timedelta(hours=_LONGEST_H))
    older = hook_runs.history(opened.ctx, opened.uuid, wanted)
    seen.update(run.operation for run in older if run.committed and run not in backlog)
    while True:
        fresh = [run for run in backlog if run.committed and run.operation not in seen]
        for run in fresh:
            cli.output.text(inspected.run_text(run, cli.output.form, look))
        seen.update(run.operation for run in fresh)
        time.sleep(_FOLLOW_S)
        backlog = hook_runs.history(opened.ctx, opened.uuid, wanted)


def _moment(text: str, now: datetime) -> datetime:
    """Read `--since`: a duration back from now, or a time; local unless it has a zone.

    Raises:
        UsageError: It is neither.
    """
    from pushjuju.portable.durations import parse_duration

    try:
        return now - timedelta(seconds=abs(parse_duration(text)))
    except (ValueError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        wanted = "a duration like 2h30m or a time like 2025-03-01T09:12"
        raise UsageError(f"invalid value {quote(text)} for option --since: {wanted} expected") from error


# --- replay -----------------------------------------------------------------------------------------------


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
    from pushjuju.cli.commands.hook import replay_table as shown
    from pushjuju.services.entities.application import decisions
    from pushjuju.uniter.replay import replayed

    if bool(args) == bool(file):
        raise UsageError(
            "no operation or unit specified" if not args else "give an operation or --file, not both"
        )
    if file:
        found = _from_file(cli, file)
    else:
        opened = session.open_model(cli, model)
        found = decisions.find(opened.ctx, opened.uuid, args[0])
    again = replayed(found.record)
    document = shown.document(found, again)
    table = {"tabular": lambda written: shown.text(written, colour=cli.output.colour)}
    cli.output.write(document, table)
    if again.differences:
        raise Exited(DIFFERS)


def _from_file(cli: Cli, path: str) -> decisions.Decided:
    """Read a record that somebody sent.

    Raises:
        NotValid: It is none.
    """
    import json
    from pathlib import Path

    from pushjuju.services.entities.application import decisions

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
