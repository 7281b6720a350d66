"""Formats a timeline as text: a row for each unit, with blocks for the times in which something ran. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pushjuju.cli.commands.hook.run_table import took_text
from pushjuju.cli.terminal.paint import RED, paint
from pushjuju.cli.terminal.times import since_text
from pushjuju.services.pictures.timeline import Row, Timeline

_BLOCKS, _LETTERS = " ▁▂▃▄▅▆▇█", " .:-=+*%#"
_FAILED, _LEAST = "!", 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How to format a timeline.

    Attributes:
        columns: The width of the text.
        letters: Whether to use ASCII alone.
    """

    columns: int = 80
    utc: bool = False
    colour: bool = False
    letters: bool = False


def table(found: Timeline, look: Look) -> str:
    """Return a timeline as text."""
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
    return "".join(map(_text, words))


def _text(word: str) -> str:
    colour = getattr(word, "colour", "")
    return f"\x1b[{colour}m{word}\x1b[0m" if colour else word
