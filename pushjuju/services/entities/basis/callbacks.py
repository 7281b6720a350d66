"""What a request calls while it runs: lines for the user, the progress of downloads, the word of a cloud."""

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
    """Takes what a user may want to know before a request returns, as the console of the CLI does."""

    def info(self, text: str) -> None:
        """Take a line about a slow step that begins, or about what was found."""

    def warn(self, text: str) -> None:
        """Take a warning."""

    def downloading(self, what: str) -> AbstractContextManager[Tell | None]:
        """Return a block in which a file is fetched; its value is called with the bytes so far."""


class Silent:
    """Drops all notices."""

    def info(self, text: str) -> None:
        """Drop a line."""

    def warn(self, text: str) -> None:
        """Drop a warning."""

    def downloading(self, what: str) -> AbstractContextManager[Tell | None]:
        """Return a block without progress."""
        del what
        return nullcontext()


SILENT = Silent()


class Precheck(Protocol):
    """Asks the cloud of a model for the machines that units would get, before anything is recorded."""

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
        """Raise the refusal of the cloud, if it refuses one of the machines."""


def unchecked(ctx: Context, model: str, **_machines: Any) -> None:
    """Ask no cloud: what it refuses shows when the machines are made."""
    del ctx, model
