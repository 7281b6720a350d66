"""Find which parts of a charm's archive a machine already has in another archive. Only reads files.

Archives are written with sorted names and fixed times, so the bytes of an unchanged file are the same in old
and new archive. A machine builds the new archive from parts of the old archive and parts that are sent, and
checks the hash of the new archive, as of any archive.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from pushjuju.core.values import dataclass

_WORTH = 512  # bytes; a message that copies less costs more than sending the bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A range of bytes of the new file; `source` is its offset in the old file, -1 when missing there."""

    at: int
    length: int
    source: int = -1


def pieces(new: Path, old: Path | None) -> list[Piece]:
    """Return the new file as pieces in order; a single piece when the files have nothing in common."""
    size = new.stat().st_size
    whole = [Piece(at=0, length=size)] if size else []
    if old is None:
        return whole
    try:
        found = list(_merged(_compared(new, old, size)))
    except (OSError, zipfile.BadZipFile, ValueError):
        return whole
    return found if any(piece.source >= 0 for piece in found) else whole


def behind(found: Sequence[Piece], offset: int) -> Iterator[Piece]:
    """Yield the pieces, or parts of them, that begin at or after an offset."""
    for piece in found:
        skipped = max(0, offset - piece.at)
        if skipped < piece.length:
            source = piece.source + skipped if piece.source >= 0 else -1
            yield Piece(at=piece.at + skipped, length=piece.length - skipped, source=source)


def _compared(new: Path, old: Path, size: int) -> Iterator[Piece]:
    known = dict(_entries(old))
    end = 0
    with new.open("rb") as mine, old.open("rb") as theirs:
        for name, (start, length) in _entries(new):
            if start > end:
                yield Piece(at=end, length=start - end)
            other = known.get(name)
            same = other is not None and other[1] == length and length >= _WORTH
            if same and other is not None and _equal(mine, start, theirs, other[0], length):
                yield Piece(at=start, length=length, source=other[0])
            else:
                yield Piece(at=start, length=length)
            end = start + length
    if size > end:
        yield Piece(at=end, length=size - end)


def _entries(path: Path) -> list[tuple[str, tuple[int, int]]]:
    """Return for each entry its name, and the offset and length including its header, in the file's order."""
    with zipfile.ZipFile(path) as file:
        listed = sorted(file.infolist(), key=lambda item: item.header_offset)
        starts = [item.header_offset for item in listed]
        ends = [*starts[1:], file.start_dir]
    return [
        (item.filename, (start, end - start)) for item, start, end in zip(listed, starts, ends, strict=True)
    ]


def _equal(one: BinaryIO, at: int, other: BinaryIO, there: int, length: int) -> bool:
    one.seek(at)
    other.seek(there)
    while length > 0:
        count = min(length, 1 << 20)
        if one.read(count) != other.read(count):
            return False
        length -= count
    return True


def _merged(found: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces; join neighbours that are neighbours in both files."""
    last: Piece | None = None
    for piece in found:
        if last is None:
            last = piece
        elif (piece.source < 0) == (last.source < 0) and (
            piece.source < 0 or piece.source == last.source + last.length
        ):
            last = Piece(at=last.at, length=last.length + piece.length, source=last.source)
        else:
            yield last
            last = piece
    if last is not None:
        yield last
