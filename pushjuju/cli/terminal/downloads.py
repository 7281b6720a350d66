"""The progress line of a download."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO


class Download:
    """A line on a terminal that shows how much of a file has come; the end of the block removes the line."""

    def __init__(self, stream: TextIO, what: str, *, quiet: bool) -> None:
        self._stream = stream
        self._what = what
        self._shown = -1
        self._on = stream.isatty() and not quiet

    def __enter__(self) -> Callable[[int, int], None]:
        return self.tell

    def tell(self, here: int, whole: int) -> None:
        """Show how many bytes have come, of how many."""
        percent = here * 100 // whole if whole else 0
        if self._on and percent != self._shown:
            self._shown = percent
            self._stream.write(f"\r{self._what}: {percent:3d}% of {whole / 1e6:.1f} MB")
            self._stream.flush()

    def __exit__(self, *_error: object) -> None:
        if self._shown >= 0:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
