"""Events of progress that workers emit; the caller of the workers shows them."""

from __future__ import annotations

from collections.abc import Callable

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of progress.

    Attributes:
        entity: `machine 0`, `web/0`, `model dev`.
        text: The step: `running install hook`.
        state: `running`, `done`, `failed` or `waiting`.
        parent: The machine of a unit, `machine 0`; "" for other entities.
        line: A line of the operation's output, or ""; with a line, the other fields have no news.
        model: UUID of the entity's model, when the process works on several models.
    """

    entity: str
    text: str = ""
    state: str = "running"
    parent: str = ""
    line: str = ""
    model: str = ""


Tell = Callable[[Event], None]


def silent(event: Event) -> None:
    """Ignore an event."""
