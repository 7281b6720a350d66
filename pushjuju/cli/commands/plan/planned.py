"""What a plan holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pushjuju.services.views.inventory import Change
    from pushjuju.workers.rehearsal import Foreseen


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The foreseen effects of a command.

    Attributes:
        changes: Things that would come, go, or be other than they are.
        steps: Operations on machines, each with whether it would run without the command too.
        unknown: Effects that cannot be foreseen, one sentence each.
        left: Entities that the model has and the deployed bundle has not, with the steps that would remove
            them.
        blocked: Obstacles of a removal, one sentence each: the removal would not end.
    """

    command: Sequence[str]
    changes: Sequence[Change]
    steps: Sequence[tuple[Foreseen, bool]]
    unknown: Sequence[str]
    left: Sequence[str] = ()
    blocked: Sequence[str] = ()

    @property
    def changed(self) -> bool:
        """Whether the command would do anything."""
        return bool(self.changes) or any(not anyway for _, anyway in self.steps)
