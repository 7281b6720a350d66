"""hooks: shows which hooks ran: when, how long, with which result and changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pushjuju.cli.commands.hook import moments, run_table
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.entities.model import sessions
from pushjuju.services.views import hook_runs
from pushjuju.services.views.listings import run_documents

_FOLLOW_S = 0.3

_LIMIT = 50

_LONGEST_H = 1  # `--follow` does not wait for the end of hooks that began before this


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
            "limit", "Only this many of the newest runs; 0 for all runs", kind=Kind.UINT, default=_LIMIT
        ),
        flags.text("since", "Only runs since a duration (2h30m) or a time (2025-03-01, 2025-03-01T09:12)"),
        flags.switch("follow", "Go on and show runs when they end; json is then one document per line"),
        flags.switch("utc", "Display timestamps in the UTC timezone"),
        *flags.COLOUR,
    ),
    details="Runs are kept for a day (model-config max-operation-age); failed runs, and the newest 50\n"
    "of each unit, are kept as long as the history of statuses (max-status-history-age).\n"
    "Changes name relation keys, ports and keys of the charm's state, never values. `replay` takes the\n"
    "id of a run, or the start of the id.",
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
    for name in args:
        if not is_unit(name):
            raise UsageError(f'invalid unit name "{name}"')
    start = moments.moment(since, cli.clock.now()) if since else None
    opened = session.open_model(cli, model)
    wanted = hook_runs.Wanted(units=args, hooks=tuple(hook), failed=failed, since=start, most=limit)
    if follow:
        _follow(cli, opened, wanted, utc=utc)
        return
    runs = hook_runs.history(opened.ctx, opened.uuid, wanted)
    if not runs and cli.output.form == "tabular":
        cli.console.info("No hook runs to display.")
        return
    look = run_table.Look(utc=utc, colour=cli.output.colour)
    table = {"tabular": lambda _document: run_table.runs_table(runs, look)}
    cli.output.write([run_documents.of_run(run) for run in runs], table)


def _follow(cli: Cli, opened: sessions.Session, wanted: hook_runs.Wanted, *, utc: bool) -> None:
    """Show runs when they end, until Ctrl-C."""
    look = run_table.Look(utc=utc, colour=cli.output.colour)
    cli.on_interrupt = "Following ended."
    seen = set[str]()
    backlog = hook_runs.history(opened.ctx, opened.uuid, wanted)
    # leave out runs that ended before the runs to show; runs still under way are shown when they end
    wanted = replace(wanted, most=0, since=wanted.since or cli.clock.now() - timedelta(hours=_LONGEST_H))
    older = hook_runs.history(opened.ctx, opened.uuid, wanted)
    seen.update(run.operation for run in older if run.committed and run not in backlog)
    while True:
        fresh = [run for run in backlog if run.committed and run.operation not in seen]
        for run in fresh:
            cli.output.text(run_table.run_text(run, cli.output.form, look))
        seen.update(run.operation for run in fresh)
        time.sleep(_FOLLOW_S)
        backlog = hook_runs.history(opened.ctx, opened.uuid, wanted)
