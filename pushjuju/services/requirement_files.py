"""Copies of a tree's requirement files, for a pip that runs outside of the tree. Layer: services.

pip looks for relative paths where it runs, and would read any file of this computer that a line names. In the
copies paths are absolute, and what leads out of the tree is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pushjuju.charms.goform import quote
from pushjuju.core.errors import InvalidCharm

_INCLUDE = re.compile(r"(-r|-c|--requirement|--constraint)(?:\s+|=|(?<=-[rc]))(\S+)")
_PLACE = re.compile(r"((?:-e|-f|--editable|--find-links)(?:\s+|=))?([^\s;\[]+)(.*)", re.DOTALL)
_FILE_URL = re.compile(r"(?<![A-Za-z0-9])file:", re.IGNORECASE)
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tbz", ".tar.xz")


class Copies:
    """Makes the copies of one tree.

    Args:
        root: The tree.
        folder: An empty folder for the copies.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._done: dict[Path, Path] = {}

    def of_lines(self, lines: Iterable[str], wanted_by: str) -> Path:
        """Return a file with lines that stand elsewhere: as such they cannot be options of the command.

        Raises:
            InvalidCharm: A line leads out of the tree.
        """
        path = self._folder / "lines.txt"
        path.write_text("".join(f"{self._line(line, self._root, wanted_by)}\n" for line in lines), "utf-8")
        return path

    def of_file(self, name: str) -> Path:
        """Return the copy of a file, with those that it includes.

        Raises:
            InvalidCharm: A line leads out of the tree, or to a file that is not there.
        """
        source = self._inside(self._root / name, name, name)
        if source in self._done:
            return self._done[source]
        if not source.is_file():
            raise InvalidCharm(f"{name} is missing from the tree", file=name)
        copy = self._done[source] = self._folder / f"{len(self._done)}-{source.name}"
        text = source.read_text("utf-8", "replace").replace("\\\n", "")
        lines = [self._line(line, source.parent, name) for line in text.splitlines()]
        copy.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return copy

    def _line(self, line: str, folder: Path, file: str) -> str:
        text = re.sub(r"(^|\s+)#.*$", "", line).strip()
        if _FILE_URL.search(text):
            raise _outside(text, file)
        include = _INCLUDE.fullmatch(text)
        if include and "://" not in include[2]:
            inner = self._inside(folder / include[2], text, file)
            return f"{include[1]} {self.of_file(str(inner.relative_to(self._root.resolve())))}"
        place = _PLACE.fullmatch(text)
        if place is None or not _is_place(place[2], option=bool(place[1])):
            return text
        return f"{place[1] or ''}{self._inside(self._root / place[2], text, file)}{place[3]}"

    def _inside(self, path: Path, text: str, file: str) -> Path:
        found = path.resolve()
        if not found.is_relative_to(self._root.resolve()):
            raise _outside(text, file)
        return found


def _is_place(word: str, *, option: bool) -> bool:
    """Tell whether pip would take a word for a path."""
    if "://" in word or (word.startswith("-") and not option):
        return False
    return option or "/" in word or word.startswith(".") or word.lower().endswith(_ARCHIVES)


def _outside(text: str, file: str) -> InvalidCharm:
    return InvalidCharm(
        f"{quote(text)} asks for a file outside of the tree",
        file=file,
        hint="run `charmcraft pack` and deploy the .charm file that it makes",
    )
