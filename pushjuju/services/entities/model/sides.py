"""Where clouds and credentials are looked up or written: this client, a controller, or both."""

from __future__ import annotations

from dataclasses import dataclass

from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.cloudfiles import CloudFiles
from pushjuju.store.datadir import DataDir


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Where one command works.

    Attributes:
        client: Whether it works on the client's files.
        ctx: The controller that it works on, or None.
    """

    folder: DataDir
    host: PluginHost
    client: bool
    ctx: Context | None

    @property
    def files(self) -> CloudFiles:
        """The client's clouds and credentials."""
        return self.folder.cloud_files

    @property
    def controller(self) -> Context:
        """The controller; only where `ctx` is not None."""
        assert self.ctx is not None, "asked for"
        return self.ctx
