"""Fresh ids and digests.

Their libraries are loaded when first used: a command that only looks needs neither.
"""

from __future__ import annotations


def new_uuid() -> str:
    """Return a new unique id."""
    import uuid

    return str(uuid.uuid4())


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
