"""Makes unique ids and digests.

hashlib is imported when first used: commands that only read need no digest.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from pushjuju.core.values import regex

if TYPE_CHECKING:
    from hashlib import _Hash


_UUID = regex(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_uuid() -> str:
    """Return a new unique id."""
    return str(uuid.uuid4())


def is_uuid(text: str) -> bool:
    """Return True for a text in the form of such an id."""
    return _UUID.fullmatch(text) is not None


def new_hash(name: str, data: bytes = b"") -> _Hash:
    """Return a new hash object; `md5` is only for fingerprints that other programs show, too."""
    import hashlib  # loads OpenSSL

    return hashlib.new(name, data, usedforsecurity=name != "md5")


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    return new_hash("sha256", text.encode()).hexdigest()
