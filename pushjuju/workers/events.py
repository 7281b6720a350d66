"""What workers tell while they work; who shows it is somebody else's affair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of progress.

    Attributes:
        entity: `machine 0`, `web/0`, `model dev`.
        text: The step: `running install hook`.
        state: `running`, `done`, `failed` or `waiting`.
        parent: The place of a unit: `machine 0`; empty for an entity on no machine.
        line: A line that the entity's operation printed; the other fields then say nothing new.
        model: UUID of the entity's model, where several models are possible.
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
