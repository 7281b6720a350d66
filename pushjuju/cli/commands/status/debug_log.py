"""The command debug-log. Mirrors: juju cmd/juju/status/history.go, cmd/juju/commands/debuglog.go (3.6)"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.terminal import jsonlog, log_lines
from pushjuju.cli.terminal.paint import colours_on
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.suggest import closest
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.views.listings import log_selection

_FOLLOW_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Which part of the log to show: the backlog, at most `limit` lines, and new lines."""

    backlog: int | None
    limit: int
    follow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugLogFlags:
    model: str
    include: tuple[str, ...] = flags.many("include", "Only show log messages for these entities", short="i")
    exclude: tuple[str, ...] = flags.many("exclude", "Do not show log messages for these entities", short="x")
    include_module: tuple[str, ...] = flags.many(
        "include-module", "Only show log messages for these logging modules"
    )
    exclude_module: tuple[str, ...] = flags.many(
        "exclude-module", "Do not show log messages for these logging modules"
    )
    include_label: tuple[str, ...] = flags.many(
        "include-label", "Only show log messages for these logging labels"
    )
    exclude_label: tuple[str, ...] = flags.many(
        "exclude-label", "Do not show log messages for these logging labels"
    )
    level: str = flags.text(
        "level", f"Log level to show, one of [{', '.join(log_selection.CHOICES)}]", short="l"
    )
    lines: int = flags.number(
        "lines",
        "Show this many of the most recent lines, and continue to append",
        kind=Kind.UINT,
        default=10,
        short="n",
    )
    limit: int = flags.number(
        "limit", "Exit once this many of the most recent log lines are shown", kind=Kind.UINT
    )
    replay: bool = flags.switch(
        "replay", "Show the entire log for the model, and continue to append new ones"
    )
    no_tail: bool = flags.switch("no-tail", "Show existing log messages and then exit")
    tail: bool = flags.switch("tail", "Show existing log messages and continue to append new ones")
    color: bool = flags.switch("color", "Force use of ANSI color codes")
    utc: bool = flags.switch("utc", "Show times in UTC")
    location: bool = flags.switch("location", "Show filename and line numbers")
    date: bool = flags.switch("date", "Show dates as well as times")
    ms: bool = flags.switch("ms", "Show times to millisecond precision")
    format: str = flags.text(
        "format", "Write lines as text, or as JSON objects", choices=("text", "json"), default="text"
    )
    retry: bool = flags.switch("retry", "Accepted: the log is on this computer")


@command(
    "debug-log",
    summary="Displays log messages for a model.",
    at_most=0,
    flags=(*flags.IN_MODEL, flags.duration("retry-delay", "Accepted and ignored", default="1s", void=True)),
    details="With `--format json`, each line is an object with the fields of the controller process's lines\n"
    "(`controller run --log-format json`).",
    examples="    pushjuju debug-log --replay --no-tail\n"
    "    pushjuju debug-log --include web/0 --level WARNING\n",
    into=DebugLogFlags,
    see_also=("status", "show-status-log"),
)
def debug_log(cli: Cli, _args: tuple[str, ...], flags: DebugLogFlags) -> None:
    amount = amount_of(cli, flags)
    selection = selection_of(flags)
    opened = session.open_model(cli, flags.model)
    shown = written(cli, flags, opened.uuid)
    _tell_unknown(cli, opened, (*selection.include, *selection.exclude))
    cli.on_interrupt = "Following ended."
    left = amount.limit or sys.maxsize
    for page in _pages(opened, selection, amount):
        cli.output.text("".join(map(shown, page[:left])))
        left -= len(page)
        if left <= 0:
            return
    if amount.follow:
        cli.console.info(f"model {opened.identifier} is gone")


def written(cli: Cli, flags: DebugLogFlags, model: str) -> Callable[[log_selection.Record], str]:
    """Return a function that returns a record of a model as the flags want its line, with newline."""
    if flags.format == "json":
        return lambda record: jsonlog.record_line(record, model)
    look = _look(cli, flags)
    return lambda record: f"{log_lines.line(record, look)}\n"


def _look(cli: Cli, flags: DebugLogFlags) -> log_lines.Look:
    return log_lines.Look(
        date=flags.date,
        milliseconds=flags.ms,
        utc=flags.utc,
        location=flags.location,
        colour=colours_on(cli.env, terminal=cli.console.stdout.isatty(), force=flags.color),
    )


def _tell_unknown(cli: Cli, opened: sessions.Session, names: Sequence[str]) -> None:
    """Warn of names that no entity has; Juju prints nothing for an unknown name, and gives no reason.

    An unknown name is no error: removed entities may be in the log, and entities may be added later.
    """
    tags = {name: log_selection.exact_tag(name) for name in names if "*" not in name}
    for name, known in logs.unknown(opened.ctx.store, opened.uuid, tags).items():
        near = closest(name, known)
        meant = f'; did you mean "{near}"?' if near else ""
        cli.console.warn(f"there is no {quote(name)} in model {quote(opened.model.name)} or its log{meant}")


def selection_of(flags: DebugLogFlags) -> log_selection.Selection:
    level = flags.level.upper()
    if level and level not in log_selection.CHOICES:
        listed = ", ".join(quote(word) for word in log_selection.CHOICES)
        raise UsageError(f"level value {quote(flags.level)} is not one of {listed}")
    return log_selection.Selection(
        level=level,
        include=flags.include,
        exclude=flags.exclude,
        include_module=flags.include_module,
        exclude_module=flags.exclude_module,
        include_label=flags.include_label,
        exclude_label=flags.exclude_label,
    )


def amount_of(cli: Cli, flags: DebugLogFlags) -> Amount:
    """Return which part of the log to show."""
    if flags.tail and flags.no_tail:
        raise UsageError("setting --tail and --no-tail not valid")
    if flags.no_tail and flags.retry:
        raise UsageError("setting --no-tail and --retry not valid")
    follow = flags.tail or (cli.console.stdout.isatty() and not flags.no_tail)
    if flags.replay:
        return Amount(backlog=None, limit=flags.limit, follow=follow)
    if "limit" in cli.given:
        # --limit N shows the newest N lines (Juju's client: at most 10); 0 is the whole log, unless following
        backlog = flags.limit or (flags.lines if follow else None)
        return Amount(backlog=backlog, limit=flags.limit, follow=follow)
    return Amount(backlog=flags.lines, limit=0, follow=follow)


def _pages(
    opened: sessions.Session, selection: log_selection.Selection, amount: Amount
) -> Iterator[Sequence[log_selection.Record]]:
    """Yield pages of the backlog, oldest first, then pages of new lines."""
    store, model, shown = opened.ctx.store, opened.uuid, selection.predicate()
    among = logs.Among(levels=selection.levels(), entities=selection.tags())
    last = logs.newest(store, model) if amount.backlog is not None else 0
    if amount.backlog is not None:
        found = islice(filter(shown, logs.newest_first(store, model, among)), amount.backlog)
        yield list(found)[::-1]
    seen: tuple[int, int] | None = None
    while amount.follow or seen is None:
        version = store.version()
        if version == seen:
            time.sleep(_FOLLOW_S)
            continue
        seen = version
        if amount.backlog is not None and not amount.follow:
            return
        for page in logs.pages_after(store, model, last, among):
            last = page[-1].id
            yield [record for record in page if shown(record)]
        if not models.exists(opened.ctx, model):
            return
