"""Writes information, warnings, errors and questions to stderr.

stdout is for data alone: nothing here writes to stdout. Mirrors: juju/cmd cmd.go Context (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TextIO

from pushjuju.cli.terminal.paint import RED, YELLOW, colours_on, escape, harmless, paint
from pushjuju.core.errors import Aborted, PushjujuError

if TYPE_CHECKING:
    from pushjuju.cli.terminal.jsonlog import JsonLog
    from pushjuju.cli.terminal.screen import Painter


class Console:
    """The streams of a command, and everything that a command writes except its data."""

    def __init__(self, *, stdin: TextIO, stdout: TextIO, stderr: TextIO, env: Mapping[str, str]) -> None:
        self.stdin = stdin  # answers to questions, and the content for `--file -`
        self.stdout = stdout  # data only
        self.stderr = stderr  # everything else
        self.env = env
        self.quiet = False  # `--quiet`: no informational lines
        self.verbose = False  # `--verbose`: also print the lines of `detail`
        # returns a text whose lines have the priority of a severity, for the journal of systemd; or None
        self.mark: Callable[[str, str], str] | None = None
        self.log: JsonLog | None = None  # writes lines as JSON in place of text, or None
        # draws live progress at the bottom of the terminal; other text appears above the progress
        self.painter: Painter | None = None

    def info(self, text: str) -> None:
        """Print an informational line, except with `--quiet`."""
        if not self.quiet:
            self._line(text)

    def detail(self, text: str) -> None:
        """Print a line, only with `--verbose`."""
        if self.verbose:
            self._line(text, "DEBUG")

    def warn(self, text: str) -> None:
        """Print a warning, also with `--quiet`."""
        self._line(text, "WARN", f"{self._paint('WARNING', YELLOW)} ")

    def error(self, failure: PushjujuError) -> None:
        """Print an error as Juju does, then its detail and its hint, if it has any."""
        self._line(failure.message, "ERROR", f"{self._paint('ERROR', RED)} ")
        for text in (failure.detail, failure.hint):
            if text:
                self._line(text, "ERROR")

    def confirm(self, question: str, *, what: str) -> None:
        """Ask a yes-or-no question; the end of the input means no.

        Args:
            question: The text in front of the answer.
            what: The name of the action in the error when the user declines (`unit removal`).
        """
        if self._ask(question).lower() not in ("y", "yes"):
            raise Aborted(f"{what}: aborted")

    def confirm_name(self, question: str, *, name: str, what: str) -> None:
        """Ask the user to type the name of the entity that the command removes."""
        if self._ask(question) != name:
            raise Aborted(f"{what}: aborted")

    def _ask(self, question: str) -> str:
        with self.above_progress():
            self.stderr.write(question)
            self.stderr.flush()
            return self.stdin.readline().strip()

    def downloading(self, what: str) -> Download:
        """Return a context manager that shows a download; call its value with present and total bytes."""
        return Download(self.stderr, what, quiet=self.quiet)

    def above_progress(self) -> AbstractContextManager[None]:
        """Return a context manager; inside its block the terminal may be written to."""
        return nullcontext() if self.painter is None else self.painter.aside()

    def _line(self, text: str, severity: str = "INFO", mark: str = "") -> None:
        if self.log is not None:
            self.log.write(severity, text)
            return
        text = mark + text
        if self.stderr.isatty():
            text = harmless(text)
        if self.mark is not None:
            text = self.mark(text, severity)
        with self.above_progress():
            self.stderr.write(text if text.endswith("\n") else f"{text}\n")
            self.stderr.flush()

    def _paint(self, text: str, colour: str) -> str:
        on = colours_on(self.env, terminal=self.stderr.isatty())
        return escape(paint(text, colour)) if on else text


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
