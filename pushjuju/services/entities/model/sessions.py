"""Opens the data directory, and a model of an opened controller."""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.core.errors import PushjujuError
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.datadir import DataDir
from pushjuju.store.files.places import here, locate
from pushjuju.store.queue import next_lease
from pushjuju.store.rows.model import Model

__all__ = ["DataDir", "Model", "Session", "data_dir"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An opened controller and one of its models, which a command works with."""

    ctx: Context
    model: Model

    @property
    def uuid(self) -> str:
        """The model's UUID, which requests and views take."""
        return self.model.uuid

    @property
    def identifier(self) -> str:
        """`admin/web`, the model's name in messages."""
        return self.model.qualified


def data_dir(environ: Mapping[str, str]) -> DataDir:
    """Return the data directory of this process."""
    return DataDir(locate(environ, here()))


def open_model(ctx: Context, text: str | None) -> Session:
    """Open a model by `model`, `owner/model` or its UUID; the current model for None."""
    return Session(ctx=ctx, model=models.resolve(ctx, text))


def require(ctx: Context, model: str, act: str) -> None:
    """Raise Blocked when a user has disabled an action, such as `blocks.CHANGE`, in a model."""
    with ctx.read(model) as tx:
        blocks.require(tx, act)


def next_claim(ctx: Context) -> int:
    """Return the number that the next claim of work gets; the numbers only grow."""
    with ctx.store.read() as tx:
        return next_lease(tx)


def focus(ctx: Context, model: Model) -> None:
    """Make a model the current model of its controller."""
    ctx.controller.set("current-model", model.qualified)


def current_model(ctx: Context) -> str:
    """Return the current model of a controller as `owner/name`, or an empty text."""
    return str(ctx.controller.settings().get("current-model") or "")


def position(folder: DataDir) -> str:
    """Return the current position: `home:admin/web`, `home` without a model, or empty."""
    name = folder.current_controller()
    if not name:
        return ""
    try:
        model = str(folder.known(name).get("current-model") or "")
    except PushjujuError:  # even when the store is missing or damaged, `switch` must work
        return name
    return f"{name}:{model}" if model else name
