"""Chooses whose clouds and credentials a command works on: the client's, a controller's, or both."""

from __future__ import annotations

from pushjuju.core.values import dataclass
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.cloudfiles import CloudFiles
from pushjuju.store.datadir import DataDir


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The files and the controller that one command works on."""

    folder: DataDir
    host: PluginHost
    client: bool  # True when the command works on the client's files
    ctx: Context | None  # the controller that the command works on, or None

    @property
    def files(self) -> CloudFiles:
        """The client's clouds and credentials."""
        return self.folder.cloud_files

    @property
    def controller(self) -> Context:
        """The controller; callers check first that `ctx` is not None."""
        assert self.ctx is not None, "asked for"
        return self.ctx
