"""What workers tell while they work; who shows it is somebody else's affair. Layer: workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of progress.

    Attributes:
        entity: `machine 0`, `web/0`, `model shop`.
        text: What happens: `running install hook`.
        state: `running`, `done`, `failed` or `waiting`.
    """

    entity: str
    text: str
    state: str = "running"


Tell = Callable[[Event], None]


def silent(event: Event) -> None:
    """Take an event and do nothing with it."""
