"""Secrets as values: their URIs, keys, sizes, rotation.

Mirrors: juju core/secrets/{secret,secretvalue,createsecret}.go (3.6)
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from pushjuju.core import limits
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote

MAX_VALUE = limits.SECRET  # bytes of one value in base64
MAX_CONTENT = limits.SECRET  # bytes of all values in base64
MASK = "*****"

_ID = "[0-9a-v]{20}"
_MODEL = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_URI = regex(rf"(?:secret:)?(?://)?(?:({_MODEL})/)?({_ID})")
_KEY = regex(r"[a-z](?:-?[a-z0-9]){2,}")
_BASE64, _FILE = "#base64", "#file"
Read = Callable[[str], bytes]


class OwnerKind(StrEnum):
    """The kind of entity that owns a secret."""

    MODEL = "model"
    APPLICATION = "application"
    UNIT = "unit"


class Rotation(StrEnum):
    """How often the owner of a secret gets a secret-rotate hook, to make a new revision."""

    NEVER = "never"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"

    def next(self, last: datetime) -> datetime | None:
        """Return when the rotation after `last` is due, or None for never. Months are calendar months."""
        match self:
            case Rotation.NEVER:
                return None
            case Rotation.HOURLY:
                return last + timedelta(hours=1)
            case Rotation.DAILY:
                return last + timedelta(days=1)
            case Rotation.WEEKLY:
                return last + timedelta(days=7)
            case Rotation.MONTHLY:
                return _months_later(last, 1)
            case Rotation.QUARTERLY:
                return _months_later(last, 3)
            case Rotation.YEARLY:
                return _months_later(last, 12)


RETRY = timedelta(minutes=5)  # the time until an ignored rotation or expiry is announced again


def _months_later(moment: datetime, months: int) -> datetime:
    """Return the same day of a later month. Days beyond the end of that month run into the next, as in Go."""
    number = moment.month - 1 + months
    first = moment.replace(year=moment.year + number // 12, month=number % 12 + 1, day=1)
    return first + timedelta(days=moment.day - 1)


def uri(secret: str) -> str:
    """Return the URI of a secret that belongs to the current model."""
    return f"secret:{secret}"


def parse_uri(text: str) -> tuple[str, str]:
    """Return (model UUID, id) of a secret's URI; the UUID is empty when the URI names no model."""
    found = _URI.fullmatch(text)
    if found is None:
        raise NotValid(f"secret URI {quote(text)} not valid")
    return found[1] or "", found[2]


def is_id(text: str) -> bool:
    """Return True when a text is the id of a secret, without `secret:` before it."""
    return re.fullmatch(_ID, text) is not None


def is_uri(text: str) -> bool:
    """Return True when a text is a secret's URI in any of its forms."""
    return _URI.fullmatch(text) is not None


def new_id(draw: Callable[[int], bytes]) -> str:
    """Return a fresh id of random bytes, which `draw` returns."""
    alphabet = "0123456789abcdefghijklmnopqrstuv"
    return "".join(alphabet[byte & 31] for byte in draw(20))


class Content(Mapping[str, str]):
    """The content of a secret: key -> value in base64. Its repr hides the values."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> str:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Content({MASK})"

    __str__ = __repr__

    def plain(self) -> dict[str, str]:
        """Return the decoded values; bytes that are not UTF-8 become lone surrogates."""
        return {
            key: base64.b64decode(value).decode("utf-8", "surrogateescape")
            for key, value in self._values.items()
        }

    def checksum(self) -> str:
        """Return a digest that is the same for equal contents."""
        text = "\n".join(f"{key}:{self._values[key]}" for key in sorted(self._values))
        return hashlib.sha256(text.encode()).hexdigest()


def check_content(values: Mapping[str, str]) -> Content:
    """Return base64 values as checked content.

    Raises:
        NotValid: A key or a value breaks a rule; the message names the key, never the value.
    """
    total = 0
    for key, value in values.items():
        if not _KEY.fullmatch(key):
            raise NotValid(f"key {quote(key)} not valid")
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise NotValid(f"value of key {quote(key)} is not base64") from None
        if len(value) > MAX_VALUE:
            raise NotValid(
                f"base64 encoded secret content for key {quote(key)} too large: {len(value)} bytes"
            )
        total += len(value)
    if total > MAX_CONTENT:
        raise NotValid(f"base64 encoded secret content too large: {total} bytes")
    return Content(values)


def content_of(words: Iterable[str], document: Mapping[str, str], read: Read) -> Content:
    """Return the content that a command line gives: `key=value`, `key#base64=...`, `key#file=path`.

    Args:
        document: The content of `--file`; it overrides the arguments.
        read: Returns the bytes of a file that an argument names.
    """
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value or not key:
            raise UsageError(f"key value {quote(key or word)} not valid")
        if key.endswith(_FILE):
            key = key.removesuffix(_FILE)
            found[key] = _encoded(_read(key, value, read))
        else:
            found.update(_pair(key, value))
    for key, value in document.items():
        found.update(_pair(key, value))
    try:
        return check_content(found)
    except NotValid as error:
        raise UsageError(error.message) from None


def _pair(key: str, value: str) -> dict[str, str]:
    if key.endswith(_BASE64):
        return {key.removesuffix(_BASE64): value}
    return {key: _encoded(value.encode("utf-8", "surrogateescape"))}


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _read(key: str, path: str, read: Read) -> bytes:
    try:
        return read(path)
    except OSError as error:
        reason = (error.strerror or "input/output error").lower()
        what = f"reading content for secret key {quote(key)}"
        raise UsageError(f"{what}: open {path}: {reason}") from None
