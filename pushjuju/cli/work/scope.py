"""Where commands read and write clouds and credentials: this client, a controller, or both.

When neither --client nor --controller is given Juju asks the user. pushjuju does not ask: a controller is a
directory beside the client's files, and its models use the client's clouds unless the controller has its own.
So a command reads both, and writes those of the client. Mirrors: juju cmd/modelcmd/clientorcontroller.go
(3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.entities.model import sides


def for_reading(cli: Cli, *, client: bool, controller: str) -> sides.Sides:
    """Return where to read: the client and the controller, or the one that the flags name."""
    folder = session.data_dir(cli)
    named = controller or (
        "" if client else cli.env.get("JUJU_CONTROLLER") or folder.current_controller() or ""
    )
    ctx = session.open_controller(cli, named) if named else None
    return sides.Sides(folder=folder, host=host(cli), client=client or not controller, ctx=ctx)


def for_writing(cli: Cli, *, client: bool, controller: str) -> sides.Sides:
    """Return where to write: the client, or the controller that the flags name."""
    ctx = session.open_controller(cli, controller) if controller else None
    return sides.Sides(folder=session.data_dir(cli), host=host(cli), client=client or ctx is None, ctx=ctx)


def host(cli: Cli) -> plugin_host.PluginHost:
    return plugin_host.PluginHost(environ=cli.env, warn=cli.console.warn)
