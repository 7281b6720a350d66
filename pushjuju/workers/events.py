"""What workers tell while they work; who shows it is somebody else's affair."""

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
        parent: Where a unit is: `machine 0`; empty for what stands by itself.
        line: A line that it printed; then the rest says nothing new.
        model: UUID of the model that it is about, where it may be one of several.
    """

    entity: str
    text: str = ""
    state: str = "running"
    parent: str = ""
    line: str = ""
    model: str = ""


Tell = Callable[[Event], None]


def silent(event: Event) -> None:
    """Take an event and do nothing with it."""
