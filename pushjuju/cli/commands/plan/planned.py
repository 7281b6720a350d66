"""The result of `plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.core.values import dataclass

if TYPE_CHECKING:
    from pushjuju.services.views.inventory import Change
    from pushjuju.workers.rehearsal import Foreseen


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The foreseen effects of a command."""

    command: Sequence[str]
    changes: Sequence[Change]  # entities that would be added, removed or changed
    # operations on machines, each with True when it would run without the command too
    steps: Sequence[tuple[Foreseen, bool]]
    unknown: Sequence[str]  # effects that the plan does not know, one sentence each
    left: Sequence[str] = ()  # the steps that would remove entities that the deployed bundle does not have
    blocked: Sequence[str] = ()  # why removals would not end, one sentence each

    @property
    def changed(self) -> bool:
        """Whether the command would change anything."""
        return bool(self.changes) or any(not anyway for _, anyway in self.steps)
