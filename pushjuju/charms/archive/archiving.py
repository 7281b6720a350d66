"""Opens charm archives, and refuses every entry that is not plainly part of a charm's tree.

Where Juju strips a bad path and goes on (`/`, `../`, overwritten entries), pushjuju refuses the archive, so
that no entry is written to another path than its name says.
Mirrors: juju/charm charmarchive.go, juju/utils/zip; prevents what CVE-2025-53513 allowed.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from pushjuju.charms.archive import named_files
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import InvalidCharm
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.quote import quote

METADATA = "metadata.yaml"

_UNIX_SYSTEMS = (3, 19)  # systems whose entries have Unix modes: Unix, macOS
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_DRIVE = regex(r"[A-Za-z]:")
_END_OF_ARCHIVE = b"PK\x05\x06"
_END_SIZE = 22
_LOCAL_HEADER = 30
_LINK_LENGTH = 4095
_NAME_LENGTH = 255
_LINK_HOPS = 40
_CHUNK = 1 << 20


class Kind(StrEnum):
    """The type of an entry on disk."""

    FILE = "file"
    DIR = "dir"
    LINK = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """The greatest sizes of an archive."""

    total: int = 4 << 30  # bytes of all unpacked files
    entries: int = 100_000
    ratio: int = 100  # unpacked size divided by packed size; checked from `ratio_from` unpacked bytes on
    ratio_from: int = 64 << 20
    document: int = 16 << 20  # bytes of a file that is read into memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry: its path in the charm, its kind, its permissions, and the target of a link."""

    path: str
    kind: Kind
    mode: int
    info: zipfile.ZipInfo
    target: str = ""


class Node(Protocol):
    """The kind and target of a packed or unpacked file: all that following its links needs."""

    @property
    def kind(self) -> Kind:
        """kind: The kind of the entry."""

    @property
    def target(self) -> str:
        """The path that a link points to; empty for other kinds."""


class Archive:
    """An open archive, of which all entries have been checked."""

    def __init__(
        self, file: zipfile.ZipFile, entries: Mapping[str, Entry], repack_reason: str, limits: ArchiveLimits
    ) -> None:
        self.entries = entries  # path in the charm -> entry, in the order of the archive
        self.repack_reason = repack_reason  # why the archive cannot be stored unchanged; empty when it can
        self._file = file
        self._limits = limits

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file of the charm, or None when there is no such file; follows links.

        Raises:
            InvalidCharm: The entry is damaged or too large to be read as a document.
        """
        entry = self.entries.get(resolve(path, self.entries) or path)
        if entry is None or entry.kind is not Kind.FILE:
            return None
        if entry.info.file_size > self._limits.document:
            raise InvalidCharm(f"archive file {quote(path)} is too large", file=path)
        return b"".join(self.chunks(entry))

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        """Yield the bytes of a file in pieces."""
        try:
            with self.open(entry) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
        except (
            zipfile.BadZipFile,
            EOFError,
            OSError,
            NotImplementedError,
            ValueError,
            _zlib_error(),
        ) as error:
            raise _refused(entry.path, f"is damaged: {error}") from None

    def open(self, entry: Entry) -> IO[bytes]:
        """Open a file of the charm."""
        return self._file.open(entry.info)

    def verify(self) -> None:
        """Read the whole archive once, to find damaged entries."""
        for entry in self.entries.values():
            if entry.kind is Kind.FILE:
                for _ in self.chunks(entry):
                    pass


def _zlib_error() -> type[Exception]:
    return zlib.error


def _refused(name: str, why: str) -> InvalidCharm:
    return InvalidCharm(f"invalid charm archive: entry {quote(name)} {why}", file=name)


@contextmanager
def open_archive(path: Path, limits: ArchiveLimits | None = None) -> Iterator[Archive]:
    """Open an archive and check every entry."""
    limits = limits or ArchiveLimits()
    try:
        named_files.regular(path).close()
        file = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        text = f"invalid charm or bundle provided at {quote(str(path))}"
        raise InvalidCharm(text, detail=getattr(error, "strerror", None) or str(error)) from None
    with file:
        _check_disks(path)
        infos = file.infolist()
        _check_sizes(infos, limits)
        listed = _checked(file, infos)
        root = _find_root({entry.path for entry in listed if entry.kind is not Kind.DIR})
        entries = _below(listed, root)
        problems = Problems()
        check_links(entries, problems)
        problems.raise_if_any()
        yield Archive(file, entries, _repack_reason(listed, root), limits)


def _check_disks(path: Path) -> None:
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _END_SIZE - 0xFFFF))
        tail = stream.read()
    at = tail.rfind(_END_OF_ARCHIVE)
    disks = tail[at + 4 : at + 8]
    # 0xffff stands for "see the zip64 record", whose disk numbers Python's zipfile checks.
    if at >= 0 and disks.strip(b"\0") and disks != b"\xff\xff\xff\xff":
        raise InvalidCharm("invalid charm archive: parts on several disks are not supported")


def _check_sizes(infos: list[zipfile.ZipInfo], limits: ArchiveLimits) -> None:
    if len(infos) > limits.entries:
        raise InvalidCharm(f"invalid charm archive: more than {limits.entries} entries")
    total = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if total > limits.total:
        raise InvalidCharm(f"invalid charm archive: larger than {limits.total} bytes unpacked")
    if total > limits.ratio_from and total > limits.ratio * max(packed, 1):
        raise InvalidCharm(f"invalid charm archive: unpacks to more than {limits.ratio} times its size")


def _checked(file: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> list[Entry]:
    problems = Problems()
    _check_overlap(infos, problems)
    problems.raise_if_any()  # when entries overlap, no entry is read at all
    listed = []
    for info in infos:
        try:
            listed.append(_entry(file, info))
        except InvalidCharm as error:
            problems.take(error)
    entries = [entry for entry in listed if entry]
    _check_unique(entries, problems)
    problems.raise_if_any()
    return entries


def _check_overlap(infos: list[zipfile.ZipInfo], problems: Problems) -> None:
    """Report entries that share bytes; a zip bomb is made of such entries."""
    end = 0
    for info in sorted(infos, key=lambda item: item.header_offset):
        if info.header_offset < end:
            problems.take(_refused(info.filename, "overlaps another entry"))
        end = info.header_offset + _LOCAL_HEADER + info.compress_size


def _entry(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry | None:
    """Return the checked entry, or None for the root itself (`./`)."""
    name = _decoded_name(info)
    if name == "./":
        return None
    path = _checked_path(name, info)
    if info.flag_bits & _ENCRYPTED:
        raise _refused(name, "is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _refused(name, f"uses compression method {info.compress_type}")
    if info.volume:
        raise _refused(name, "is on another disk")
    kind, mode = _kind(name, info)
    target = _link_target(file, info, name) if kind is Kind.LINK else ""
    return Entry(path=path, kind=kind, mode=mode, info=info, target=target)


def _decoded_name(info: zipfile.ZipInfo) -> str:
    """Return the name, read as UTF-8: most tools write UTF-8 without setting the flag for UTF-8."""
    name = info.orig_filename
    if info.flag_bits & _UTF8_NAME or name.isascii():
        return name
    try:
        return name.encode("cp437").decode()
    except UnicodeError:
        raise _refused(name, "has a name that is not UTF-8") from None


def _checked_path(name: str, info: zipfile.ZipInfo) -> str:
    if "\0" in name or info.orig_filename != info.filename:
        raise _refused(name, "has a NUL byte in its name")
    if "\\" in name:
        raise _refused(name, "has a backslash in its name")
    if name.startswith("/"):
        raise _refused(name, "has an absolute name")
    if _DRIVE.match(name):
        raise _refused(name, "has a drive letter in its name")
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in name):
        raise _refused(name, "has a control character in its name")
    parts = name.removesuffix("/").split("/")
    if ".." in parts:
        raise _refused(name, 'has ".." in its name')
    if "" in parts or "." in parts:
        raise _refused(name, 'has an empty or a "." part in its name')
    if any(len(part.encode()) > _NAME_LENGTH for part in parts) or len(name.encode()) > _LINK_LENGTH:
        raise _refused(name[:80], "has too long a name")
    return "/".join(parts)


def _kind(name: str, info: zipfile.ZipInfo) -> tuple[Kind, int]:
    directory = name.endswith("/")
    unix = info.external_attr >> 16 if info.create_system in _UNIX_SYSTEMS else 0
    kinds = {0: None, stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIR, stat.S_IFLNK: Kind.LINK}
    if stat.S_IFMT(unix) not in kinds:
        raise _refused(name, "is neither a file nor a directory nor a symlink")
    kind = kinds[stat.S_IFMT(unix)] or (Kind.DIR if directory else Kind.FILE)
    if directory != (kind is Kind.DIR):
        raise _refused(name, "is a directory by its name or by its mode, but not by both")
    # An entry without Unix mode (from DOS, or mode 0) is an ordinary file; packing makes hooks executable.
    default = 0o755 if kind is Kind.DIR else 0o644
    return kind, stat.S_IMODE(unix) or default


def _link_target(file: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> str:
    if info.file_size > _LINK_LENGTH:
        raise _refused(name, "is a symlink with too long a target")
    try:
        target = file.read(info).decode()
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, _zlib_error()):
        raise _refused(name, "is a damaged symlink") from None
    if not target or "\0" in target:
        raise _refused(name, "is a symlink without a usable target")
    if target.startswith("/"):
        raise InvalidCharm(f"symlink {quote(name)} is absolute: {quote(target)}", file=name)
    return target


def _check_unique(entries: list[Entry], problems: Problems) -> None:
    seen: dict[str, Entry] = {}
    for entry in entries:
        if entry.path in seen:
            problems.take(_refused(entry.path, "appears twice"))
        seen[entry.path] = entry
    for entry in entries:
        for parent in PurePosixPath(entry.path).parents:
            above = seen.get(str(parent))
            if above and above.kind is not Kind.DIR:
                why = f"lies below {quote(above.path)}, which is a {above.kind}"
                problems.take(_refused(entry.path, why))


def _find_root(files: set[str]) -> str:
    """Return the directory (with `/`, or empty) that holds the metadata file nearest to the top."""
    found = [path for path in files if path == METADATA or path.endswith("/" + METADATA)]
    if not found:
        raise InvalidCharm("invalid charm archive: missing metadata.yaml", file=METADATA)
    depth = min(path.count("/") for path in found)
    shallow = [path for path in found if path.count("/") == depth]
    if len(shallow) > 1:
        raise InvalidCharm(
            "invalid charm archive: ambiguous root directory", detail="\n".join(sorted(shallow))
        )
    return shallow[0].removesuffix(METADATA)


def _below(entries: list[Entry], root: str) -> dict[str, Entry]:
    if not root:
        return {entry.path: entry for entry in entries}
    kept = (entry for entry in entries if entry.path.startswith(root))
    return {
        path: Entry(path=path, kind=entry.kind, mode=entry.mode, info=entry.info, target=entry.target)
        for entry in kept
        for path in (entry.path.removeprefix(root),)
    }


def check_links(entries: Mapping[str, Node], problems: Problems) -> None:
    """Report links that lead out of the tree, directly or by other links, and links that form a circle."""
    for path, entry in entries.items():
        if entry.kind is Kind.LINK and resolve(path, entries) is None:
            problems.add(path, f"symlink {quote(path)} links out of charm: {quote(entry.target)}")


def resolve(path: str, entries: Mapping[str, Node]) -> str | None:
    """Return where a path leads when all links are followed, or None for a path outside or in a circle."""
    todo = path.split("/")[::-1]
    at: list[str] = []
    hops = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return None
            at.pop()
            continue
        entry = entries.get("/".join([*at, part]))
        if entry is None or entry.kind is not Kind.LINK:
            at.append(part)
            continue
        hops += 1
        if hops > _LINK_HOPS or entry.target.startswith("/"):
            return None
        todo.extend(entry.target.split("/")[::-1])
    return "/".join(at)


def _repack_reason(entries: list[Entry], root: str) -> str:
    if root:
        return f"the charm is in {root}"
    for entry in entries:
        info = entry.info
        if info.create_system not in _UNIX_SYSTEMS or not info.external_attr >> 16:
            return f"{entry.path} has no Unix mode"
        if entry.mode & ~0o777:
            return f"{entry.path} has special mode bits"
        if not info.flag_bits & _UTF8_NAME and not info.orig_filename.isascii():
            return f"the name of {entry.path} is not marked as UTF-8"
    return ""
