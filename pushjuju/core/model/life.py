"""Life of entities. Mirrors: juju core/life (3.6)."""

from __future__ import annotations

from enum import StrEnum


class Life(StrEnum):
    """The life of an entity: Alive, Dying, Dead, never back. The record of a dead entity is removed."""

    ALIVE = "alive"
    DYING = "dying"
    DEAD = "dead"
