"""The row of a model: alone, for commands that only look need no other record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model of this controller."""

    uuid: str
    name: str
    owner: str
    cloud: str
    cloud_type: str
    region: str
    credential: str
    life: str
    forced: bool = False
    created: datetime

    @property
    def qualified(self) -> str:
        """`owner/name`, as Juju shows it."""
        return f"{self.owner}/{self.name}"
