"""Placement directives: `--to` and the argument of add-machine. Mirrors: juju core/instance."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pushjuju.core.constraints import container_of
from pushjuju.core.errors import NotValid
from pushjuju.core.names import is_machine
from pushjuju.core.values import dataclass

CONTAINER_TYPES = ("lxd", "kvm")


class PlacementKind(StrEnum):
    """The kind of place that a directive asks for."""

    MACHINE = "machine"
    CONTAINER = "container"
    SSH = "ssh"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True)
class Placement:
    """One directive; `value` is a machine id, a container type, an SSH target or the provider's text.

    `parent` is the machine that a container goes to, or None for a new machine.
    """

    kind: PlacementKind
    value: str
    parent: str | None = None

    @classmethod
    def wanted(cls, target: Placement | None, constraints: Mapping[str, Any]) -> Placement | None:
        """Return where a unit goes: `container=lxd` without a placement is a container on a new machine."""
        container = container_of(constraints)
        return cls(PlacementKind.CONTAINER, container) if target is None and container else target

    @classmethod
    def parse(cls, text: str) -> Placement:
        """Read one directive.

        Raises:
            NotValid: The text is not a placement; the message is Juju's.
        """
        scope, colon, rest = text.partition(":")
        if not text or (colon and not rest):
            raise NotValid(f'invalid --to parameter "{text}"')
        if is_machine(text):
            return cls(PlacementKind.MACHINE, text)
        if scope in CONTAINER_TYPES:
            if colon and not is_machine(rest):
                raise NotValid(f'invalid value "{rest}" for "{scope}" scope: expected machine-id')
            return cls(PlacementKind.CONTAINER, scope, rest or None)
        if scope == "ssh" and colon:
            return cls(PlacementKind.SSH, rest)
        return cls(PlacementKind.PROVIDER, text)

    def __str__(self) -> str:
        if self.kind is PlacementKind.CONTAINER and self.parent:
            return f"{self.value}:{self.parent}"
        return f"ssh:{self.value}" if self.kind is PlacementKind.SSH else self.value
