"""Writes a command's data to stdout or a file, as `--format` and `--output` say.

A command passes a plain document and, for formats of its own, functions that turn the document into text.
Mirrors: juju/cmd output.go, juju cmd/output/output.go, juju/ansiterm colours (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.paint import (
    BOLD_CYAN,
    BRIGHT_MAGENTA,
    CYAN,
    GRAY,
    MAGENTA,
    colours_on,
    escape,
    harmless,
    paint,
)
from pushjuju.core.values import regex
from pushjuju.portable import output

Formatter = Callable[[Any], str]
MACHINE_FORMATS = ("yaml", "json")
_LINE = regex(
    r"(?P<lead>\s*(?:- )*)(?P<key>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s:'\"][^:]*)(?P<colon>:)(?P<rest> .*|)"
)
_ITEM = regex(r"(?P<lead>\s*(?:- )+)(?P<rest>.*)")
_PLAIN = regex(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null|~")
_ADDRESS = regex(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:/\d+)?")
_TOKEN = regex(r'"(?:[^"\\]|\\.)*"(?P<key>:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')


class Output:
    """Where the data of a command goes, and in which format."""

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
        self.written = False  # whether the command has written data

    @property
    def colour(self) -> bool:
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

        return yaml_tinted(text) if self.form == "yaml" else json_tinted(text)

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
    """
    general: dict[str, Callable[[Any], str]] = {
        "json": output.format_json,
        "yaml": output.format_yaml,
        "smart": output.format_smart,
    }
    return general[form](document)


def _tint(text: str, colour: str) -> str:
    return escape(paint(text, colour))


def _value(text: str) -> str:
    bare = text.strip("\"'")
    if _PLAIN.fullmatch(text):
        return _tint(text, MAGENTA)
    return _tint(text, CYAN) if _ADDRESS.fullmatch(bare) else text


def yaml_tinted(text: str) -> str:
    """Return a YAML document with keys, numbers, addresses and multi-line texts coloured."""
    out, block = [], -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if block >= 0 and (indent > block or not line):
            out.append(_tint(line, GRAY) if line else line)
            continue
        block = -1
        if line.endswith(("|", "|-", "|+", "|2", "|2-")):
            block = indent
        out.append(_yaml_line(line))
    return "".join(f"{line}\n" for line in out)


def _yaml_line(line: str) -> str:
    found = _LINE.fullmatch(line)
    if found:
        key, colon = _tint(found["key"], BOLD_CYAN), _tint(found["colon"], BRIGHT_MAGENTA)
        rest = f" {_value(found['rest'][1:])}" if found["rest"] else ""
        return f"{found['lead']}{key}{colon}{rest}"
    item = _ITEM.fullmatch(line)
    return f"{item['lead']}{_value(item['rest'])}" if item else line


def json_tinted(text: str) -> str:
    """Return a JSON document with keys, numbers and addresses coloured."""
    return _TOKEN.sub(_json_token, text)


def _json_token(found: re.Match[str]) -> str:
    token = found[0]
    if found["key"]:
        return _tint(token[:-1], BOLD_CYAN) + _tint(":", BRIGHT_MAGENTA)
    if not token.startswith('"'):
        return _tint(token, MAGENTA)
    return _tint(token, CYAN) if _ADDRESS.fullmatch(token[1:-1]) else token
