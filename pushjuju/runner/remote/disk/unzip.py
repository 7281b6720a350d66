"""A strict reader of charm archives.

The controller has checked the archive before; this reader trusts neither the controller nor the connection.
It reads what a charm needs (stored and deflated members, directories, symbolic links) and refuses the whole
archive, before a byte is written, when there is anything else.

Mirrors: juju/utils zip.go (3.6), but stricter.
"""

from __future__ import annotations

import os
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

MAX_MEMBERS = 100_000
MAX_TOTAL = 4 * 1024**3
_LINK, _DIRECTORY, _FILE = 0o120000, 0o040000, 0o100000


class BadArchive(ValueError):
    """The archive is refused; nothing of it was unpacked."""


class Member:
    """One entry: name without trailing slash, kind (``file``, ``dir``, ``link``), permission bits."""

    __slots__ = ("compressed", "crc", "kind", "link", "method", "mode", "name", "offset", "size")

    def __init__(self, name: str, kind: str, mode: int) -> None:
        self.name = name
        self.kind = kind
        self.mode = mode
        self.link = ""
        self.method = self.crc = self.compressed = self.size = self.offset = 0


def check_name(name: str) -> str:
    """Return a member's path without trailing slash.

    Raises:
        BadArchive: The path could lead to a place outside of the charm's directory.
    """
    path = name[:-1] if name.endswith("/") else name
    parts = path.split("/")
    bad = "\\" in path or "\0" in path or (len(path) > 1 and path[1] == ":")
    if bad or any(part in ("", ".", "..") for part in parts):
        raise BadArchive('cannot extract "%s": unsafe path' % name)
    return path


def _u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _directory(file: Any) -> tuple[bytes, int]:
    """Return the central directory and the number of its entries."""
    file.seek(0, os.SEEK_END)
    size = file.tell()
    back = min(size, 65557)
    file.seek(size - back)
    tail = file.read(back)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < 22:
        raise BadArchive("zip: not a valid zip file")
    count, length, offset = _u16(tail, at + 10), _u32(tail, at + 12), _u32(tail, at + 16)
    if _u16(tail, at + 4) or _u16(tail, at + 8) != count or 0xFFFFFFFF in (length, offset):
        raise BadArchive("zip: multi-disk and zip64 archives are not supported")
    if count > MAX_MEMBERS or offset + length > size:
        raise BadArchive("zip: not a valid zip file")
    file.seek(offset)
    return file.read(length), count


def _member(entry: bytes, name: str) -> Member:
    attributes = _u32(entry, 38)
    mode = attributes >> 16 if entry[5] in (3, 19) else 0
    kind = mode & 0o170000
    if kind not in (0, _LINK, _DIRECTORY, _FILE):
        raise BadArchive('cannot extract "%s": unknown file type' % name)
    is_dir = name.endswith("/") or kind == _DIRECTORY
    word = "link" if kind == _LINK else "dir" if is_dir else "file"
    member = Member(check_name(name), word, (mode & 0o777) or (0o755 if is_dir else 0o644))
    member.method, member.crc = _u16(entry, 10), _u32(entry, 16)
    member.compressed, member.size, member.offset = _u32(entry, 20), _u32(entry, 24), _u32(entry, 42)
    if _u16(entry, 8) & 0x1 or member.method not in (0, 8):
        raise BadArchive('cannot extract "%s": encrypted or unknown compression' % name)
    return member


def read_members(file: Any) -> list[Member]:
    """Return all members, links with their targets, when the archive passes all checks."""
    data, count = _directory(file)
    members: list[Member] = []
    at = 0
    for _ in range(count):
        entry = data[at : at + 46]
        if len(entry) < 46 or entry[:4] != b"PK\x01\x02":
            raise BadArchive("zip: not a valid zip file")
        name_length = _u16(entry, 28)
        raw = data[at + 46 : at + 46 + name_length]
        encoding = "utf-8" if _u16(entry, 8) & 0x800 else "cp437"
        if encoding == "cp437" and not raw.isascii():
            encoding = "utf-8"  # what Go and Info-ZIP write without the flag
        try:
            name = raw.decode(encoding)
        except UnicodeDecodeError:
            raise BadArchive("zip: a name is not UTF-8") from None
        members.append(_member(entry, name))
        at += 46 + name_length + _u16(entry, 30) + _u16(entry, 32)
    if sum(member.size for member in members) > MAX_TOTAL:
        raise BadArchive("zip: unpacked size is over the limit")
    _read_links(file, members)
    _check_tree(members)
    return members


def _read_links(file: Any, members: list[Member]) -> None:
    for member in members:
        if member.kind != "link":
            continue
        if member.size > 4096:
            raise BadArchive('cannot extract "%s": symlink target is too long' % member.name)
        member.link = b"".join(content(file, member)).decode("utf-8", "surrogateescape")
        if not member.link or "\0" in member.link:
            raise BadArchive('cannot extract "%s": symlink without target' % member.name)
        if member.link.startswith("/"):
            raise BadArchive('cannot extract "%s": symlink "%s" is absolute' % (member.name, member.link))


def _check_tree(members: list[Member]) -> None:
    kinds: dict[str, Member] = {}
    for member in members:
        known = kinds.get(member.name)
        if known is not None and not (known.kind == member.kind == "dir"):
            raise BadArchive('cannot extract "%s": name is there twice' % member.name)
        kinds[member.name] = member
    for member in members:
        parent = member.name.rpartition("/")[0]
        while parent:
            above = kinds.get(parent)
            if above is not None and above.kind != "dir":
                raise BadArchive('cannot extract "%s": "%s" is not a directory' % (member.name, parent))
            parent = parent.rpartition("/")[0]
    links = {member.name: member.link for member in members if member.kind == "link"}
    for name, target in links.items():
        _resolve(name, target, links)


def _resolve(name: str, target: str, links: dict[str, str]) -> None:
    """Follow a link through the other links of the archive; refuse it when it leaves the tree or loops."""
    todo = target.split("/")
    place = name.split("/")[:-1]
    steps = 0
    while todo:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                raise BadArchive('cannot extract "%s": symlink "%s" leads out of scope' % (name, target))
            place.pop()
            continue
        place.append(part)
        link = links.get("/".join(place))
        if link is not None:
            steps += 1
            if steps > 40:
                raise BadArchive('cannot extract "%s": symlink "%s" loops' % (name, target))
            place.pop()
            todo = link.split("/") + todo


def content(file: Any, member: Member) -> Iterator[bytes]:
    """Yield the bytes of a member, checked against its size and checksum."""
    size = crc = 0
    try:
        for piece in _inflate(file, member):
            size += len(piece)
            crc = zlib.crc32(piece, crc)
            if size > member.size:
                raise BadArchive('cannot extract "%s": more data than declared' % member.name)
            yield piece
    except zlib.error as error:
        raise BadArchive('cannot extract "%s": %s' % (member.name, error)) from None
    if size != member.size or crc != member.crc:
        raise BadArchive('cannot extract "%s": checksum error' % member.name)


def _inflate(file: Any, member: Member) -> Iterator[bytes]:
    """Yield the unpacked bytes of a member, before size and checksum are compared."""
    file.seek(member.offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise BadArchive('cannot extract "%s": not a valid zip file' % member.name)
    file.seek(_u16(header, 26) + _u16(header, 28), os.SEEK_CUR)
    left = member.compressed
    inflater = zlib.decompressobj(-15) if member.method == 8 else None
    while left > 0:
        data = file.read(min(left, 1 << 18))
        if not data:
            raise BadArchive('cannot extract "%s": unexpected EOF' % member.name)
        left -= len(data)
        if inflater is None:
            yield data
            continue
        while data:
            yield inflater.decompress(data, 1 << 20)
            data = inflater.unconsumed_tail
    if inflater is not None:
        yield inflater.flush()
