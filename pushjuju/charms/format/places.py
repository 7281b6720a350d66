"""Finds the `path:line` of a charm's faults.

The module is used only for a charm that is refused. It reads the files a second time, with the positions of
their values, which takes several times as long as the first reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from pushjuju.charms.format import yamlsafe
from pushjuju.charms.format.yamlsafe import Document
from pushjuju.charms.values.problems import Problem
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex

Source = Callable[[str], bytes | None]
"""Returns the bytes of a file at the charm's root, or None when the file is missing."""

Translate = Callable[[Problem], tuple[str, str]]
"""Returns the file and key in the author's files for a problem in a generated file."""

_LINE = regex(r"yaml: line ([0-9]+): ")
_PARTS = 64  # dots in a key path that is looked up; names may contain dots
_ALL_KEYS = 1000  # levels of keys: all keys are read as the text that the author wrote


class Places:
    """The positions of the values in a charm's files.

    Args:
        source: The files as the author of the charm wrote them.
        origin: Prefix of the names of files; empty for a charm without a folder.
        translate: Returns file and key in the author's files for a problem in a generated file.
    """

    def __init__(self, source: Source, origin: str = "", translate: Translate | None = None) -> None:
        self._source = source
        self._origin = origin
        self._translate = translate or (lambda problem: (problem.file, problem.key))
        self._documents: dict[str, Document | None] = {}

    def of(self, problem: Problem) -> str:
        """Return the `path:line` of a problem; only the path where no line is known, as for `revision`."""
        file, key = self._translate(problem)
        shown = str(PurePath(self._origin, file)) if self._origin else file
        told = _LINE.search(problem.text)
        if told:
            return f"{shown}:{told[1]}"
        document = self._document(file)
        return shown if document is None else f"{shown}:{line_of(document, key)}"

    def _document(self, file: str) -> Document | None:
        if file not in self._documents:
            self._documents[file] = self._read(file)
        return self._documents[file]

    def _read(self, file: str) -> Document | None:
        data = self._source(file) if file.endswith(".yaml") else None
        if data is None:
            return None
        try:
            found = yamlsafe.load_documents(data, text_keys=_ALL_KEYS)
        except NotValid:
            return None
        return found[0] if found else None


def line_of(document: Document, key: str) -> int:
    """Return the line of the innermost value on a key path that exists in the document.

    Args:
        document: A document with the positions of its values.
        key: A key path such as `storage.data.multiple.range` or `bases[0].name`; names may contain dots.
    """
    line, here = document.line, document.root
    parts = key.replace("[", ".[").split(".") if key else []
    while parts:
        step = _step(here, parts)
        if step is None:
            break
        index, used = step
        mark = document.marks.get(id(here), {}).get(index)
        line, here, parts = mark.line if mark else line, here[index], parts[used:]
    return line


def _step(here: Any, parts: list[str]) -> tuple[Any, int] | None:
    """Return the key or index that the next parts of a path name, and how many parts it takes, or None."""
    if isinstance(here, list):
        index = int(parts[0][1:-1]) if re.fullmatch(r"\[[0-9]{1,9}\]", parts[0]) else -1
        return (index, 1) if 0 <= index < len(here) else None
    for used in range(min(len(parts), _PARTS), 0, -1):
        name = ".".join(parts[:used]).replace(".[", "[")
        if isinstance(here, dict) and name in here:
            return name, used
    return None
