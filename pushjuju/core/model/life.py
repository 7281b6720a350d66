"""Life of entities. Mirrors: juju core/life (3.6)."""

from __future__ import annotations

from enum import StrEnum


class Life(StrEnum):
    """Alive -> Dying -> Dead, never back; then the record goes."""

    ALIVE = "alive"
    DYING = "dying"
    DEAD = "dead"
