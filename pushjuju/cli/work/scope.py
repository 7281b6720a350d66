"""Where clouds and credentials are looked up or written: this client, a controller, or both.

Juju asks a user when neither --client nor --controller is given. Here a controller is a directory beside
the client's files and its models use the client's clouds unless it has its own: reading looks at both,
writing goes to the client. Mirrors: juju cmd/modelcmd/clientorcontroller.go (3.6)
"""

from __future__ import annotations

from dataclasses import dataclass

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session
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


def for_reading(cli: Cli, *, client: bool, controller: str) -> Sides:
    """Return where to look: both sides unless one was named."""
    folder = session.data_dir(cli)
    named = controller or (
        "" if client else cli.env.get("JUJU_CONTROLLER") or folder.current_controller() or ""
    )
    ctx = session.open_controller(cli, named) if named else None
    return Sides(folder=folder, host=_host(cli), client=client or not controller, ctx=ctx)


def for_writing(cli: Cli, *, client: bool, controller: str) -> Sides:
    """Return where to write: the client unless a controller was named."""
    ctx = session.open_controller(cli, controller) if controller else None
    return Sides(folder=session.data_dir(cli), host=_host(cli), client=client or ctx is None, ctx=ctx)


def _host(cli: Cli) -> PluginHost:
    return PluginHost(environ=cli.env, warn=cli.console.warn)
