"""Writes a command's data to stdout or a file, as `--format` and `--output` say.

A command passes a plain document and, for formats of its own, functions that turn the document into text.
Mirrors: juju/cmd output.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pushjuju.cli.terminal import tinted
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.paint import colours_on, harmless
from pushjuju.portable import output

Formatter = Callable[[Any], str]
MACHINE_FORMATS = ("yaml", "json")


class Output:
    """Where the data of a command goes, and in which format.

    Attributes:
        form: The chosen format.
        written: Whether the command has written data.
    """

    def __init__(
        self,
        console: Console,
        *,
        form: str = "",
        path: str = "",
        explicit: bool = False,
        colour: bool | None = None,
        tints: bool = False,
    ) -> None:
        """Prepare the output of one command.

        Args:
            console: The console with stdout and the environment.
            form: The value of `--format`, or its default.
            path: The value of `--output`; empty for stdout.
            explicit: Whether `--format` was written on the command line.
            colour: True for `--color`, False for `--no-color`, None for neither.
            tints: Whether yaml and json get colours too: for commands that have `--no-color`.
        """
        self._console = console
        self._path = path
        self._explicit = explicit
        self._colour = colour
        self._tints = tints
        self.form = form
        self.written = False

    @property
    def colour(self) -> bool:
        """Whether the output has colours."""
        terminal = not self._path and self._console.stdout.isatty()
        force, never = self._colour is True, self._colour is False
        return colours_on(self._console.env, terminal=terminal, force=force, never=never)

    def write(self, document: Any, formatters: Mapping[str, Formatter] | None = None) -> None:
        """Write a document in the chosen format.

        Args:
            document: Plain dicts, lists, texts and numbers; for None nothing is written.
            formatters: Format name -> function that returns the text, for formats other than yaml, json and
                smart, or instead of these. The text ends with a newline unless it is empty.
        """
        self.text("" if document is None else self.rendered(document, formatters))

    def rendered(self, document: Any, formatters: Mapping[str, Formatter] | None = None) -> str:
        """Return the text that `write` writes."""
        own = (formatters or {}).get(self.form)
        return self._tinted(own(document) if own else render(self.form, document))

    def _tinted(self, text: str) -> str:
        """Return yaml or json with colours, for commands that colour these on a terminal."""
        if not (self._tints and self.form in MACHINE_FORMATS and self.colour):
            return text

        return tinted.yaml_tinted(text) if self.form == "yaml" else tinted.json_tinted(text)

    def text(self, text: str) -> None:
        """Write a text that is already formatted."""
        self.written = True
        if self._path:
            write_file(Path(self._path).expanduser(), text)
        else:
            with self._console.above_progress():
                self._console.stdout.write(harmless(text) if self._console.stdout.isatty() else text)
                self._console.stdout.flush()

    def failed(self) -> None:
        """Write an empty document when the command failed before it wrote data: scripts parse stdout."""
        if self._explicit and not self.written and self.form in MACHINE_FORMATS:
            self._console.stdout.write("{}\n")
            self._console.stdout.flush()


def write_file(path: Path, text: str) -> None:
    """Write a text to a file that the user named."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def render(form: str, document: Any) -> str:
    """Return a document as json, yaml or smart.

    The keys of plain dicts are sorted, as Go sorts its maps; a `Struct` keeps its order.

    Raises:
        KeyError: The format is none of these three.
    """
    general: dict[str, Callable[[Any], str]] = {
        "json": output.format_json,
        "yaml": output.format_yaml,
        "smart": output.format_smart,
    }
    return general[form](document)
