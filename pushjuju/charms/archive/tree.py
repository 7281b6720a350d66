"""Walks a charm's directory on disk and yields the files that go into an archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO

from pushjuju.charms.archive import ignore
from pushjuju.charms.archive.archiving import Kind
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import InvalidCharm
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote

_DOCUMENT = 16 << 20
_TYPES = (
    (stat.S_ISFIFO, "file is a named pipe"),
    (stat.S_ISSOCK, "file is a socket"),
    (stat.S_ISBLK, "file is a device"),
    (stat.S_ISCHR, "file is a device"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """One file of a charm directory: its path with `/`, its kind, and whether its owner may execute it."""

    path: str
    kind: Kind
    executable: bool
    target: str = ""


def resolve_root(path: Path) -> Path:
    """Return the directory of a charm, for a path that may be a symlink to the directory."""
    if not path.is_symlink():
        return path
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InvalidCharm(f"cannot read path symlink at {quote(str(path))}: {error}") from None


def read_document(root: Path, name: str) -> bytes | None:
    """Return the bytes of a file at the root of a charm, or None when the file is missing."""
    path = root / name
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise InvalidCharm(f'reading "{name}" file: not a regular file', file=name)
        if path.stat().st_size > _DOCUMENT:
            raise InvalidCharm(f'reading "{name}" file: larger than {_DOCUMENT} bytes', file=name)
        return path.read_bytes()
    except OSError as error:
        raise InvalidCharm(f'reading "{name}" file: {error.strerror or error}', file=name) from None


def entry_links(root: Path, entry: str) -> dict[str, str]:
    """Return the hooks that are links to a charm's entry point: path -> the relative path to `dispatch`.

    Such a hook has to run `dispatch` instead, which puts the charm's packages on Python's path.

    Mirrors: charmcraft charm_builder.py handle_dispatcher
    """
    wanted = (root / entry).resolve()
    try:
        found = sorted((root / "hooks").iterdir()) if not (root / "hooks").is_symlink() else []
    except OSError:
        return {}
    return {
        f"hooks/{path.name}": "../dispatch" for path in found if path.is_symlink() and _leads_to(path, wanted)
    }


def _leads_to(path: Path, wanted: Path) -> bool:
    try:
        return path.resolve(strict=True) == wanted
    except (OSError, RuntimeError):  # the link is broken or in a circle: packing reports that
        return False


def ignore_rules(root: Path) -> tuple[ignore.Rule, ...]:
    """Return the built-in ignore rules, then the charm's own rules."""
    data = read_document(root, ignore.FILE)
    if data is None:
        return ignore.built_in_rules()
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        raise InvalidCharm(f'parsing "{ignore.FILE}" file: not UTF-8', file=ignore.FILE) from None
    return (*ignore.built_in_rules(), *ignore.parse_rules(lines))


def walk(root: Path, rules: Sequence[ignore.Rule], problems: Problems) -> Iterator[TreeEntry]:
    """Yield the entries of a charm that are not ignored, parents first, sorted by name.

    Args:
        rules: The patterns of files to leave out.
        problems: Takes the files that cannot be read, or cannot be part of a charm.
    """
    yield from _walk(root, "", rules, problems)


def _walk(root: Path, below: str, rules: Sequence[ignore.Rule], problems: Problems) -> Iterator[TreeEntry]:
    try:
        with os.scandir(root / below) as found:
            children = sorted(found, key=lambda item: item.name)
    except OSError as error:
        problems.add(below, f"cannot read {quote(below or '.')}: {error.strerror}")
        return
    for child in children:
        path = below + child.name
        directory = child.is_dir(follow_symlinks=False)
        if ignore.ignored(rules, path, is_dir=directory):
            continue
        try:
            entry = _entry(child, path)
        except InvalidCharm as error:
            problems.take(error)
            continue
        yield entry
        if directory:
            yield from _walk(root, path + "/", rules, problems)


def _entry(child: os.DirEntry[str], path: str) -> TreeEntry:
    _check_name(path)
    mode = child.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        target = str(Path(child.path).readlink())
        _check_link(path, target)
        return TreeEntry(path=path, kind=Kind.LINK, executable=False, target=target)
    executable = bool(mode & stat.S_IXUSR)
    if stat.S_ISDIR(mode):
        return TreeEntry(path=path, kind=Kind.DIR, executable=executable)
    if stat.S_ISREG(mode):
        return TreeEntry(path=path, kind=Kind.FILE, executable=executable)
    text = next((text for test, text in _TYPES if test(mode)), "file has an unknown type")
    raise InvalidCharm(f"{text}: {quote(path)}", file=path)


def _check_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        raise InvalidCharm(f"file name is not UTF-8: {quote(shown)}", file=shown) from None
    if "\\" in path or any(ord(char) < 0x20 or ord(char) == 0x7F for char in path):
        raise InvalidCharm(f"file name has a backslash or control character: {quote(path)}", file=path)


def _check_link(path: str, target: str) -> None:
    if target.startswith("/"):
        raise InvalidCharm(f"symlink {quote(path)} is absolute: {quote(target)}", file=path)
    lexical = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120 (lexical)
    if lexical == ".." or lexical.startswith("../"):
        raise InvalidCharm(f"symlink {quote(path)} links out of charm: {quote(target)}", file=path)


def open_plain(root: Path, name: str) -> IO[bytes]:
    """Open a regular file of a charm's tree; refuse pipes, devices and links."""
    *folders, last = PurePosixPath(name).parts
    try:
        with ExitStack() as stack:
            place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, place)
            for folder in folders:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                place = os.open(folder, flags, dir_fd=place)
                stack.callback(os.close, place)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(last, flags, dir_fd=place)
    except OSError as error:
        raise InvalidCharm(f"cannot read {quote(str(root / name))}: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidCharm(f"cannot read {quote(str(root / name))}: not a regular file any more")
    return os.fdopen(handle, "rb")
