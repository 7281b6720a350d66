"""Storage: directives, ids, sizes, mount points. Mirrors: juju storage (3.6)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from posixpath import join, normpath

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_application, is_unit

STORAGE_DIR = "/var/lib/juju/storage"
_OURS = ("/var/lib/juju", "/var/lib/pushjuju", "/var/log/juju")  # files of Juju and pushjuju
DEFAULT_SIZE = 1024  # MiB
MOST = 1000  # storage instances of one name for one unit, whatever range the charm declares
_POOL = regex(r"[a-zA-Z]+[-?a-zA-Z0-9]*")
_COUNT = regex(r"-?[0-9]+")
_SIZE = regex(r"([-+]?[0-9]*\.?[0-9]+)([MGTPEZY])(?:i?B)?")
DISK_OF_MACHINE = "disk of machine"  # a `Subject.kind`: a disk of a machine that has ended
_POWERS = "MGTPEZY"
_MOST_DIGITS = 9  # digits of a count
MOST_MIB = 1 << 50  # the largest size, 1Z; the store's integers hold no more
_THOUSAND = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


class Kind(StrEnum):
    """The kind of storage for a charm: a device, or a mounted file system."""

    BLOCK = "block"
    FILESYSTEM = "filesystem"


class Scope(StrEnum):
    """Whether storage belongs to one machine and ends with it, or belongs to the model."""

    MACHINE = "machine"
    MODEL = "model"


class StorageStatus(StrEnum):
    """The state of a volume or filesystem."""

    PENDING = "pending"
    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    DETACHED = "detached"
    DESTROYING = "destroying"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """A request for storage of a charm, such as `ebs,2,10G`; parts that the text leaves out are empty or 0.

    Attributes:
        size: The size in MiB.
    """

    pool: str = ""
    size: int = 0
    count: int = 0

    @classmethod
    def parse(cls, text: str) -> Directive:
        """Read `[pool][,count][,size]`, in any order.

        Raises:
            NotValid: A part is not a pool, size or count, or is given twice; the message is Juju's.
        """
        found = cls()
        for part in filter(None, text.split(",")):
            found = _with_part(found, part)
        if found == cls():
            raise NotValid("storage constraints require at least one field to be specified")
        return found if found.count else replace(found, count=1)

    def __str__(self) -> str:
        """Return the directive as users write it."""
        parts = (self.pool, str(self.count or ""), f"{self.size}M" if self.size else "")
        return ",".join(filter(None, parts))


def _with_part(found: Directive, part: str) -> Directive:
    if _POOL.fullmatch(part):
        if found.pool:
            raise NotValid(f'pool name is already set to "{found.pool}", new value "{part}" not valid')
        return replace(found, pool=part)
    if _COUNT.fullmatch(part):
        if len(part) > _MOST_DIGITS:
            raise NotValid("cannot parse count: value out of range")
        if int(part) <= 0:
            raise NotValid(f'cannot parse count: count must be greater than zero, got "{part}"')
        if found.count:
            raise NotValid(f'storage instance count is already set to {found.count}, new value "{part}"')
        return replace(found, count=int(part))
    if _SIZE.fullmatch(part):
        if found.size:
            raise NotValid(f'storage size is already set to {found.size}, new value "{part}" not valid')
        return replace(found, size=parse_size(part))
    raise NotValid(f'unrecognized storage constraint "{part}" not valid')


def parse_size(text: str) -> int:
    """Return a size with its unit in MiB, rounded up.

    Raises:
        NotValid: The text is not a size.
    """
    match = _SIZE.fullmatch(text)
    if match is None or float(match[1]) < 0:
        why = f'expected a non-negative number with optional multiplier suffix (M/G/T/P/E/Z/Y), got "{text}"'
        raise NotValid(why).prefixed("cannot parse size")
    size = float(match[1]) * float(1024 ** _POWERS.index(match[2]))
    if size > MOST_MIB:  # also for numbers too large for a float
        raise NotValid("at most 1Z is possible").prefixed("cannot parse size")
    return math.ceil(size)


def parse_directives(words: Iterable[str], *, bare: bool = False) -> dict[str, Directive]:
    """Read `name=directive` words.

    Args:
        bare: True when a name alone asks for one instance.

    Raises:
        NotValid: A word is not a directive, or a name is given twice; the message is Juju's.
    """
    found: dict[str, Directive] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (name and equals and text) and not (bare and name and not equals):
            raise NotValid(f'expected "name=constraints" where "constraints" must be specified, got "{word}"')
        if name in found:
            raise NotValid(f'storage "{name}" specified more than once')
        try:
            found[name] = Directive.parse(text) if equals else Directive(count=1)
        except NotValid as error:
            raise NotValid(f'cannot parse constraints for storage "{name}": {error.message}') from None
    return found


def is_pool(text: str) -> bool:
    """Return True when a text can name a pool."""
    return bool(_POOL.fullmatch(text))


def is_store(text: str) -> bool:
    """Return True when a text can name a charm's storage; the rules are those for application names."""
    return is_application(text)


def is_storage(text: str) -> bool:
    """Return True when a text can be the id of a storage instance, such as `data/0`."""
    return is_unit(text)


def store_of(storage_id: str) -> str:
    """Return the name of the charm's storage in the id of an instance: `data` for `data/0`."""
    if not is_unit(storage_id):
        raise NotValid(f'storage ID "{storage_id}" not valid')
    return storage_id.partition("/")[0]


def decimal_size(mib: int) -> str:
    """Return a size as Juju's error messages show it: `1.0 GB`; there, a MiB counts as a megabyte."""
    value, power = float(mib * 1000**2), 0
    while value >= 1000 and power < len(_THOUSAND) - 1:
        value, power = value / 1000, power + 1
    shown = math.floor(value * 10 + 0.5) / 10
    return f"{shown:.1f} {_THOUSAND[power]}" if shown < 10 else f"{shown:.0f} {_THOUSAND[power]}"


def check_count(count: int, least: int, most: int) -> None:
    """Check a number of instances against a charm's range; a `most` below 0 means no upper limit.

    Raises:
        NotValid: The count is outside the charm's range; the message is Juju's.
    """
    if least == most == 1 and count != 1:
        raise NotValid(f"storage is singular, {count} specified")
    if count < least:
        raise NotValid(f"{least} instances required, {count} specified")
    limit = MOST if most < 0 else min(most, MOST)
    if count > limit:
        raise NotValid(f"at most {limit} instances supported, {count} specified")


def mount_point(location: str, most: int, storage_id: str) -> str:
    """Return the path at which a filesystem is mounted.

    Args:
        location: The location that the charm declares for the storage; may be empty.
        most: The greatest number of instances; below 0 for any number.

    Mirrors: juju state/filesystem.go FilesystemMountPoint (3.6)
    """
    if not location:
        return join(STORAGE_DIR, storage_id)
    clean = "/" + normpath(location).lstrip("/")  # normpath keeps two leading slashes, as POSIX requires
    if not location.startswith("/") or not location.isprintable() or clean == "/":
        raise NotValid(f'invalid location "{location}": must be an absolute path below /')
    place = clean if most == 1 else join(clean, storage_id)
    for folder in (STORAGE_DIR, *_OURS):
        if f"{clean}/".startswith(f"{folder}/") or f"{place}/".startswith(f"{folder}/"):
            raise NotValid(f'invalid location "{location}": must not fall within "{folder}"')
        if f"{folder}/".startswith(f"{place}/"):
            raise NotValid(f'invalid location "{location}": must not hide "{folder}"')
    return place


def check_nesting(name: str, path: str, present: Iterable[tuple[str, str]]) -> None:
    """Check that no mount point of the machine (storage name, path) contains a new one, or lies below it."""
    for other, place in present:
        outer, inner = ((other, place), (name, path))
        if not f"{path}/".startswith(f"{place}/"):
            outer, inner = inner, outer
        if f"{inner[1]}/".startswith(f"{outer[1]}/"):
            raise NotValid(
                f'mount point "{outer[1]}" for "{outer[0]}" storage contains '
                f'mount point "{inner[1]}" for "{inner[0]}" storage'
            )
