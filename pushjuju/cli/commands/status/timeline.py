"""timeline: shows what ran when on which unit, as text, picture or trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.hook.moments import moment
from pushjuju.cli.commands.hook.run_table import took_text
from pushjuju.cli.commands.status import watch_screen
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal import screen
from pushjuju.cli.terminal.paint import RED, paint
from pushjuju.cli.terminal.times import since_text
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable import output
from pushjuju.portable.names import is_unit
from pushjuju.services.pictures import timeline as pictures
from pushjuju.services.pictures import timeline_svg
from pushjuju.services.pictures.timeline import Row, Timeline
from pushjuju.services.views import hook_runs
from pushjuju.services.views.listings import run_documents

if TYPE_CHECKING:
    from pushjuju.services.entities.model.sessions import Session
    from pushjuju.services.views.hook_runs import HookRun

_FOLLOW_S = 0.5
_BLOCKS, _LETTERS = " ▁▂▃▄▅▆▇█", " .:-=+*%#"
_FAILED, _LEAST = "!", 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFlags:
    model: str = flags.MODEL[0]
    since: str = flags.text(
        "since", "Only runs since a duration (10m) or a time (2025-03-01, 2025-03-01T09:12)"
    )
    until: str = flags.text("until", "Only runs that began before a duration ago or a time")
    cause: str = flags.text("cause", "Only runs that followed this change (`cause` in audit --format json)")
    routine: bool = flags.switch("all", "Show update-status hooks too", dest="routine")
    follow: bool = flags.switch("follow", "Draw the table again twice a second, until Ctrl-C")
    utc: bool = flags.switch("utc", "Display timestamps in the UTC timezone")


@command(
    "timeline",
    usage="[<unit> ...]",
    summary="Shows what ran when on which unit, as text, as a picture or as a trace.",
    formats=("tabular", "svg", "json", "trace"),
    flags=flags.COLOUR,
    into=TimelineFlags,
    details="Without --since and --until the newest 500 runs are shown, else at most 5000. A time of more\n"
    "than 30 seconds in which nothing ran is cut. In the table the height of a block says how much of its\n"
    "time something ran, and `!` marks a failed run. Perfetto and chrome://tracing open the trace.",
    examples="    pushjuju timeline --since 10m\n    pushjuju timeline web/0 --format svg -o web.svg\n"
    "    pushjuju timeline --format trace -o trace.json\n",
    see_also=("hooks", "explain", "status"),
)
def timeline(cli: Cli, args: tuple[str, ...], asked: TimelineFlags) -> None:
    for name in args:
        if not is_unit(name):
            raise UsageError(f'invalid unit name "{name}"')
    if asked.follow and cli.output.form != "tabular":
        raise UsageError("--follow draws the table: it goes with --format tabular alone")
    opened = session.open_model(cli, asked.model)

    def once() -> tuple[str, str]:
        wanted, now = {"since": asked.since, "until": asked.until}, cli.clock.now()
        start, end = (moment(text, now, flag) if text else None for flag, text in wanted.items())
        runs = hook_runs.of_timeline(
            opened.ctx, opened.uuid, args, start, end, routine=asked.routine, cause=asked.cause
        )
        if not runs and cli.output.form in ("tabular", "svg"):
            return "", "No runs to display."
        return _text(cli, opened, runs, utc=asked.utc), ""

    if asked.follow:
        return watch_screen.watch(cli, once, _FOLLOW_S)
    text, note = once()
    if note:
        cli.console.info(note)
    else:
        cli.output.text(text)
    return None


def _text(cli: Cli, opened: Session, runs: Sequence[HookRun], *, utc: bool) -> str:
    """Return the runs in the chosen format."""
    if cli.output.form == "json":
        return cli.output.rendered([run_documents.of_run(run) for run in runs])
    machines = hook_runs.machines_of_units(opened.ctx, opened.uuid)
    contacts = hook_runs.contacts(opened.ctx, opened.uuid, runs) if cli.output.form == "svg" else ()
    found = pictures.of_runs(runs, machines, cli.clock.now(), contacts)
    return cli.output.rendered(found, _formatters(cli, opened.model.name, utc=utc))


def _shows_blocks(cli: Cli) -> bool:
    """Return True unless the stream or the locale has no UTF-8; Python takes LC_ALL=C for UTF-8."""
    locale = next((cli.env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if cli.env.get(name)), "utf-8")
    encoding = str(getattr(cli.console.stdout, "encoding", None) or "utf-8")
    return "utf" in locale.lower() and "utf" in encoding.lower()


def _formatters(cli: Cli, name: str, *, utc: bool) -> dict[str, Any]:
    look = Look(
        columns=screen.size(cli.console.stdout)[0],
        utc=utc,
        colour=cli.output.colour,
        letters=not _shows_blocks(cli),
    )
    return {
        "tabular": lambda found: table(found, look),
        "svg": lambda found: timeline_svg.draw(name, found),
        "trace": lambda found: output.format_json(pictures.trace(found)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How to format a timeline."""

    columns: int = 80  # the width of the text
    utc: bool = False
    colour: bool = False
    letters: bool = False  # whether to use ASCII alone


def table(found: Timeline, look: Look) -> str:
    head = max(len("Unit"), *(len(row.unit) for row in found.rows)) + 2
    room = max(look.columns - head - 1, _LEAST)
    first, last = since_text(found.start, utc=look.utc), since_text(found.end, utc=look.utc)
    lines = [f"{'Unit':<{head}}{first}{last:>{max(room - len(first), len(last) + 1)}}"]
    marks = {int((start + end) / 2 * room): seconds for start, end, seconds in found.axis.rests()}
    lines += [f"{row.unit:<{head}}{_cells(row, found, room, marks, look)}" for row in found.rows]
    if marks:
        told = ", ".join(took_text(seconds) for _, seconds in sorted(marks.items()))
        lines.append(f"\n{_rest(look)} nothing ran for {told}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _rest(look: Look) -> str:
    return "|" if look.letters else "┊"


def _cells(row: Row, found: Timeline, room: int, marks: Collection[int], look: Look) -> str:
    """Return the row's cells: how much of the cell's time something ran, `!` where a run failed."""
    busy, failed = [0.0] * room, set[int]()
    for bar in row.bars:
        start, end = found.axis.place(bar.start) * room, found.axis.place(bar.end) * room
        first, last = min(int(start), room - 1), min(int(end), room - 1)
        for cell in range(first, last + 1):
            share = min(end, cell + 1) - max(start, cell)
            busy[cell] += max(share, 0.01)
        if bar.failed:
            failed.add(first)
    blocks = _LETTERS if look.letters else _BLOCKS
    words = []
    for cell, share in enumerate(busy):
        if cell in failed:
            words.append(paint(_FAILED, RED) if look.colour else _FAILED)
        elif cell in marks:
            words.append(_rest(look))
        else:
            words.append(blocks[max(min(round(share * 8), 8), 1)] if share else " ")
    return "".join(map(_cell, words))


def _cell(word: str) -> str:
    colour = getattr(word, "colour", "")
    return f"\x1b[{colour}m{word}\x1b[0m" if colour else word
