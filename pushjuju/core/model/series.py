"""The steps of the upgrade of a machine to another base.

"Series" is Juju's old word for a base; hooks and statuses still carry it.

Mirrors: juju core/model/upgradeseries.go (3.6)
"""

from __future__ import annotations

from enum import StrEnum


class SeriesStatus(StrEnum):
    """The step that an upgrade to another base has reached, for a machine or for one unit.

    The values are in the order of the steps.
    """

    NOT_STARTED = "not started"
    VALIDATE = "validate"
    PREPARE_STARTED = "prepare started"
    PREPARE_RUNNING = "prepare running"
    PREPARE_COMPLETED = "prepare completed"
    COMPLETE_STARTED = "complete started"
    COMPLETE_RUNNING = "complete running"
    COMPLETED = "completed"
    ERROR = "error"

    @property
    def frozen(self) -> bool:
        """True when a unit in this step runs no hook at all."""
        return self in (SeriesStatus.VALIDATE, SeriesStatus.PREPARE_COMPLETED)

    def is_after(self, other: SeriesStatus) -> bool:
        """Return True when this step of an upgrade comes after another step; an upgrade never goes back."""
        order = list(SeriesStatus)
        return order.index(self) > order.index(other)
