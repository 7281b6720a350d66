"""Notifications: events, and the targets that get them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from pushjuju.core.values import dataclass

TYPE = "io.pushjuju.{}.v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a model or a controller.

    Attributes:
        id: The same for each delivery of the event, so that a receiver can drop a repeated delivery.
        name: For example `unit.error`.
        source: The controller and the model, as a path: `/controllers/UUID/models/UUID`.
        time: When the event happened, in RFC 3339.
        subject: The kind and the name of the entity: `unit web/0`.
        text: A sentence for people, with the names of controller and model.
        data: What programs want to know: `controller`, `model`, the kind of the entity with its name, `count`
            of equal events, and more by event.
    """

    id: str
    name: str
    source: str
    time: str
    subject: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the event as CloudEvents 1.0 has it, in the JSON format."""
        return {
            "specversion": "1.0",
            "id": self.id,
            "source": self.source,
            "type": TYPE.format(self.name),
            "time": self.time,
            "subject": self.subject,
            "datacontenttype": "application/json",
            "data": {**self.data, "text": self.text},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyTarget:
    """Where events of some kinds go.

    Attributes:
        address: The address as the user typed it; never show more of it than `shown` of the notifier returns.
        secret: What signs messages or logs in; may be empty; never show it.
        body: `json` for the whole event, `text` for its sentence.
        folder: The folder of the controller's programs for events, `notify.d`.
    """

    name: str
    address: str
    secret: str = ""
    body: str = "json"
    folder: Path = Path("/nonexistent")


class Notifier(Protocol):
    """Delivers events to the targets whose addresses begin with one of its schemes."""

    schemes: tuple[str, ...]
    summary: str

    def check(self, target: NotifyTarget) -> None:
        """Check the address of a new target, without a connection.

        Raises:
            NotValid: The address cannot be used.
        """
        ...

    def shown(self, address: str) -> str:
        """Return an address without the parts that may be secret."""
        ...

    def send(self, target: NotifyTarget, event: Event) -> str | None:
        """Deliver an event. Runs in a thread of its own, and may block for 10 seconds, a program for 30.

        Returns:
            What people must know when only some of the receivers have the event; it is not sent again.

        Raises:
            NotifyError: The event was not delivered; it is tried again. The message must not have a secret.
        """
        ...
