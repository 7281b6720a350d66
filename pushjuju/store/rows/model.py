"""The row of a model, apart from the other records so that commands which only read import less."""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.values import dataclass


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
        """Return `owner/name`, as Juju shows it."""
        return f"{self.owner}/{self.name}"
