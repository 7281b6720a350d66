"""Copies the requirement files of a source tree for pip, which runs outside of the tree.

pip resolves relative paths in its own folder, and would read any file of this computer that a line names. The
copies have absolute paths, and a path out of the tree is refused. Lines that name sources by a path or URL
are replaced, because pip would run code of these sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pushjuju.charms.build.locks import plain
from pushjuju.core.errors import InvalidCharm
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote

_INCLUDE = regex(r"(-r|-c|--requirement|--constraint)(?:\s+|=|(?<=-[rc]))(\S+)")
_PLACE = regex(r"((?:-e|-f|--editable|--find-links)(?:\s+|=))?([^\s;\[]+)(.*)", re.DOTALL)
_REQUIREMENT = regex(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[\w,.\s-]*\])?\s*(?:[<>=!~][^;@]*)?(?:;.*)?")
# The package that an error of pip or of this package names.
_CULPRIT = regex(
    r"(?:found for|requirement|Cannot install|cannot clone|cannot bring|package) \"?([^\s\"(,]+)"
)
# A line that names a package; also one in a TOML list, or in a lock file.
_ASKED = regex(r"""\s*(?:(?:-e|--editable)[\s=]+|name\s*=\s*)?["']?([A-Za-z0-9][\w.-]*)""")
_FILE_URL = regex(r"(?<![A-Za-z0-9])file:", re.IGNORECASE)
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tbz", ".tar.xz")


_URL = regex(
    r"(?:(?:-e|--editable)[\s=]+)?(?:([A-Za-z0-9._-]+)\s*(\[[^\]]*\])?\s*@\s*)?"
    r"([a-z][a-z0-9+.]*:\S+?)(\s*;.*|\s+.*)?",
    re.DOTALL,
)

Take = Callable[[Path | str], str]
"""Takes the sources at a path or URL, and returns `NAME==VERSION`."""


class Copies:
    """The copies for one tree.

    Args:
        take: Takes the sources that a line names by path or URL.
    """

    def __init__(self, root: Path, folder: Path, take: Take) -> None:
        self._root = root
        self._folder = folder
        self._take = take
        self._done: dict[Path, Path] = {}

    def of_lines(self, lines: Iterable[str], wanted_by: str) -> Path:
        """Write lines to a file, so that none of them can be an option of the command."""
        path = self._folder / "lines.txt"
        path.write_text("".join(f"{self._line(line, self._root, wanted_by)}\n" for line in lines), "utf-8")
        return path

    def of_file(self, name: str) -> Path:
        """Return the copy of a file; files that it includes are copied too."""
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
        address = _URL.fullmatch(text)
        if address and not address[3].split("#")[0].endswith(".whl"):
            return _pinned(self._take(address[3]), address[2] or "", address[4] or "")
        place = _PLACE.fullmatch(text)
        if place is None or not _is_place(place[2], option=bool(place[1])):
            return text
        found = self._inside(self._root / place[2], text, file)
        if (place[1] or "-e").startswith(("-e", "--editable")) and found.suffix != ".whl":
            extras = re.match(r"\[[^\]]*\]", place[3])
            rest = place[3][extras.end() :] if extras else place[3]
            return _pinned(self._take(found), extras[0] if extras else "", rest)
        return f"{place[1] or ''}{found}{place[3]}"

    def _inside(self, path: Path, text: str, file: str) -> Path:
        found = path.resolve()
        if not found.is_relative_to(self._root.resolve()):
            raise _outside(text, file)
        return found


def _pinned(pin: str, extras: str, rest: str) -> str:
    name, _, version = pin.partition("==")
    marker = rest.partition(";")[2].strip()
    return f"{name}{extras}=={version}" + (f" ; {marker}" if marker else "")


def all_lines(root: Path, names: Iterable[str]) -> list[str]:
    """Return the lines of files, including those of the files that they include."""
    return [line for name in names for line in _lines(root, name)]


def limits(line: str, others: Iterable[str]) -> list[str]:
    """Return the lines of `others` that limit the versions of a line's package."""
    wanted, found = _REQUIREMENT.match(line), []
    for other in others:
        text = re.sub(r"(^|\s+)(#|--hash=).*$", "", other.removesuffix("\\")).strip()
        named = _REQUIREMENT.fullmatch(text)
        if named and wanted and plain(named[1]) == plain(wanted[1]):
            found.append(text)
    return found


def _lines(root: Path, name: str, seen: set[Path] | None = None) -> list[str]:
    """Return the lines of a file and of the files that it includes, each file once."""
    path, seen = (root / name).resolve(), set() if seen is None else seen
    if path in seen or not path.is_relative_to(root.resolve()) or not path.is_file():
        return []  # `Copies` reports a path that is out of the tree or missing
    seen.add(path)
    found: list[str] = []
    for line in path.read_text("utf-8", "replace").splitlines():
        found.append(line)
        include = _INCLUDE.fullmatch(re.sub(r"(^|\s+)#.*$", "", line).strip())
        if include and "://" not in include[2]:
            inner = str((path.parent / include[2]).resolve())
            found += _lines(root, inner, seen)
    return found


def placed(error: InvalidCharm, root: Path, name: str) -> InvalidCharm:
    """Return an error with the place of the line that asks for the package which the error names."""
    path = (root / (error.file or name)).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        return error
    texts = _CULPRIT.findall(f"{error.message}\n{error.detail}")
    names = {plain(match[1]) for match in map(_ASKED.match, texts) if match}
    places = [text for text in texts if "/" in text]
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        wanted = _ASKED.match(line)
        if (wanted and plain(wanted[1]) in names) or any(text in line for text in places):
            place = f"at {path.relative_to(root.resolve())}:{number}"
            detail = "\n".join(filter(None, [place, error.detail]))
            return InvalidCharm(error.message, file=error.file, key=error.key, detail=detail, hint=error.hint)
    return error


def unpinned(line: str) -> bool:
    """Return True for a line that names a repository without a commit, whose content may change."""
    return bool(re.search(r"\bgit\+", line)) and not re.search(r"@[0-9a-f]{40}\b", line)


def place_of(line: str) -> str:
    """Return the path that a line names, or an empty text."""
    place = _PLACE.fullmatch(re.sub(r"(^|\s+)#.*$", "", line).strip())
    return place[2] if place and _is_place(place[2], option=bool(place[1])) else ""


def _is_place(word: str, *, option: bool) -> bool:
    """Return True when pip would read a word as a path."""
    if "://" in word or (word.startswith("-") and not option):
        return False
    return option or "/" in word or word.startswith(".") or word.lower().endswith(_ARCHIVES)


def _outside(text: str, file: str) -> InvalidCharm:
    return InvalidCharm(
        f"{quote(text)} asks for a file outside of the tree",
        file=file,
        hint="run `charmcraft pack` and deploy the .charm file that it makes",
    )
