"""debug-log: displays log messages for a model.

Mirrors: juju cmd/juju/status/history.go, cmd/juju/commands/debuglog.go (3.6)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.terminal import log_lines
from pushjuju.cli.terminal.paint import colours_on
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.names import machine_tag, unit_tag
from pushjuju.core.suggest import closest
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import logs
from pushjuju.store.rows.records import Model, Unit

_FOLLOW_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Amount:
    """Which part of the log is shown: the backlog, at most `limit` lines, and what follows."""

    backlog: int | None
    limit: int
    follow: bool


@command(
    "debug-log",
    summary="Displays log messages for a model.",
    at_most=0,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.many("include", "Only show log messages for these entities", short="i"),
        flags.many("exclude", "Do not show log messages for these entities", short="x"),
        flags.many("include-module", "Only show log messages for these logging modules"),
        flags.many("exclude-module", "Do not show log messages for these logging modules"),
        flags.many("include-label", "Only show log messages for these logging labels"),
        flags.many("exclude-label", "Do not show log messages for these logging labels"),
        flags.text("level", f"Log level to show, one of [{', '.join(log_lines.CHOICES)}]", short="l"),
        flags.number(
            "lines",
            "Show this many of the most recent lines, and continue to append",
            kind=Kind.UINT,
            default=10,
            short="n",
        ),
        flags.number("limit", "Exit once this many of the most recent log lines are shown", kind=Kind.UINT),
        flags.switch("replay", "Show the entire log for the model, and continue to append new ones"),
        flags.switch("no-tail", "Show existing log messages and then exit"),
        flags.switch("tail", "Show existing log messages and continue to append new ones"),
        flags.switch("color", "Force use of ANSI color codes"),
        flags.switch("utc", "Show times in UTC"),
        flags.switch("location", "Show filename and line numbers"),
        flags.switch("date", "Show dates as well as times"),
        flags.switch("ms", "Show times to millisecond precision"),
        flags.switch("retry", "Accepted: the log is on this computer"),
        flags.duration("retry-delay", "Accepted and ignored", default="1s", void=True),
    ),
    examples="    pushjuju debug-log --replay --no-tail\n"
    "    pushjuju debug-log --include web/0 --level WARNING\n",
    see_also=("status", "show-status-log"),
)
def debug_log(cli: Cli, _args: tuple[str, ...], *, model: str, **options: Any) -> None:
    """Show the log of a model, and follow it."""
    amount = _amount(cli, options)
    selection = _selection(options)
    terminal = cli.console.stdout.isatty()
    look = log_lines.Look(
        date=options["date"],
        milliseconds=options["ms"],
        utc=options["utc"],
        location=options["location"],
        colour=colours_on(cli.env, terminal=terminal, force=options["color"]),
    )
    opened = session.open_model(cli, model)
    _tell_unknown(cli, opened, (*selection.include, *selection.exclude))
    cli.on_interrupt = "Following ended."
    left = amount.limit or sys.maxsize
    for page in _pages(opened, selection, amount):
        cli.output.text("".join(f"{log_lines.line(record, look)}\n" for record in page[:left]))
        left -= len(page)
        if left <= 0:
            return
    if amount.follow:
        cli.console.info(f"model {opened.identifier} is gone")


def _tell_unknown(cli: Cli, opened: session.Session, names: Sequence[str]) -> None:
    """Say which names belong to nothing: Juju shows no line of them, and does not say why.

    Removed entities may still be in the log, and new entities may come while the log is followed.
    """
    with opened.ctx.store.read() as tx:
        units = [unit.name for unit in tx.list(Unit, "unit_list", model=opened.uuid)]
        hosts = [str(row["id"]) for row in tx.rows("machine_list", model=opened.uuid)]
        known = {*units, *hosts, *(row["name"] for row in tx.rows("application_list", model=opened.uuid))}
        tags = {*map(unit_tag, units), *map(machine_tag, hosts)}
        unknown = [
            name
            for name in names
            if "*" not in name
            and not {name, log_lines.exact_tag(name)} & (known | tags)
            and not logs.has(tx, opened.uuid, log_lines.exact_tag(name) or f"unit-{name}-*")
        ]
    for name in unknown:
        near = closest(name, sorted(known))
        meant = f'; did you mean "{near}"?' if near else ""
        cli.console.warn(f"there is no {quote(name)} in model {quote(opened.model.name)} or its log{meant}")


def _selection(options: dict[str, Any]) -> log_lines.Selection:
    level = options["level"].upper()
    if level and level not in log_lines.CHOICES:
        listed = ", ".join(quote(word) for word in log_lines.CHOICES)
        raise UsageError(f"level value {quote(options['level'])} is not one of {listed}")
    kinds = ("include", "exclude", "include_module", "exclude_module", "include_label", "exclude_label")
    return log_lines.Selection(level=level, **{kind: options[kind] for kind in kinds})


def _amount(cli: Cli, options: dict[str, Any]) -> _Amount:
    """Decide how much is shown.

    Raises:
        UsageError: Flags that exclude each other.
    """
    if options["tail"] and options["no_tail"]:
        raise UsageError("setting --tail and --no-tail not valid")
    if options["no_tail"] and options["retry"]:
        raise UsageError("setting --no-tail and --retry not valid")
    follow = options["tail"] or (cli.console.stdout.isatty() and not options["no_tail"])
    if options["replay"]:
        return _Amount(backlog=None, limit=options["limit"], follow=follow)
    if "limit" in cli.given:
        # The newest N lines, where Juju's client stops at its ten; without following 0 means the whole log.
        backlog = options["limit"] or (options["lines"] if follow else None)
        return _Amount(backlog=backlog, limit=options["limit"], follow=follow)
    return _Amount(backlog=options["lines"], limit=0, follow=follow)


def _pages(
    opened: session.Session, selection: log_lines.Selection, amount: _Amount
) -> Iterator[Sequence[log_lines.Record]]:
    """Yield the backlog, oldest first, then what comes while following; a page as soon as it is read."""
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
        with store.read() as tx:
            if tx.find(Model, "model_by_uuid", uuid=model) is None:
                return
