"""Callbacks of a request: lines for the user, progress of downloads, and the check by a cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from pushjuju.core.base import Base
from pushjuju.core.model.placement import Placement

if TYPE_CHECKING:
    from pushjuju.plugins.api.sources import Tell
    from pushjuju.services.entities.basis.context import Context


class Notices(Protocol):
    """Shows the user lines while a request runs; the CLI prints them on its console."""

    def info(self, text: str) -> None:
        """Show a line about a slow step that begins, or about what was found."""

    def warn(self, text: str) -> None:
        """Show a warning."""

    def downloading(self, what: str) -> AbstractContextManager[Tell | None]:
        """Return a context for a download; its value is called with the bytes so far, or is None."""


class Silent:
    """Drops all notices."""

    def info(self, text: str) -> None:
        """Drop a line."""

    def warn(self, text: str) -> None:
        """Drop a warning."""

    def downloading(self, what: str) -> AbstractContextManager[Tell | None]:
        """Return a context without progress."""
        del what
        return nullcontext()


SILENT = Silent()


class Precheck(Protocol):
    """Asks a model's cloud whether it can start the machines of new units, before anything is recorded."""

    def __call__(
        self,
        ctx: Context,
        model: str,
        *,
        base: Base,
        constraints: Mapping[str, Any],
        count: int,
        placements: Sequence[Placement],
        warn: Callable[[str], None],
    ) -> None:
        """Raise the cloud's error when the cloud refuses one of the machines."""


def unchecked(ctx: Context, model: str, **_machines: Any) -> None:
    """Do not ask the cloud, so that its refusals show only when the machines are made."""
    del ctx, model
