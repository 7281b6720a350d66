"""What working a key leaves behind. Layer: workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a lane leaves behind.

    Attributes:
        due: When to look again without being touched; None: never.
        attempts: Failures in a row.
        reason: Why it waits, for people.
        failed: It could not do what it should.
        routine: It is due for nothing but the next update-status.
    """

    due: datetime | None = None
    attempts: int = 0
    reason: str = ""
    failed: bool = False
    routine: bool = False
