"""The command unregister. Mirrors: juju cmd/juju/controller, cmd/juju/commands/switch.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.controller import controllers as service


@command(
    "unregister",
    usage="<controller name>",
    summary="Unregisters a Juju controller.",
    at_least=(1, "controller name must be specified"),
    at_most=1,
    flags=flags.NO_PROMPT,
    details="The password and the addresses of a controller on another computer are deleted.\n\n"
    "Of a controller on this computer, the directory, with its store and keys, is moved to `unregistered`\n"
    "in the data directory; machines and models stay as they are. To get the controller back, move its\n"
    "directory back.",
    examples="    pushjuju unregister home\n",
    see_also=("destroy-controller", "kill-controller", "controllers"),
)
def unregister(cli: Cli, args: tuple[str, ...], *, no_prompt: bool) -> None:
    """Forget a controller on this client; the controller itself stays as it is."""
    folder, name = session.data_dir(cli), args[0]
    folder.require_known(name)
    if not no_prompt:
        cli.console.warn(
            f'This command will remove connection information for controller "{name}".\n'
            "The controller will not be destroyed but you must register it again\n"
            "if you want to access it.\n"
        )
        cli.console.confirm_name(
            "\nTo continue, enter the name of the controller to be unregistered: ",
            name=name,
            what="unregistering controller",
        )
    kept = service.unregister(folder, name)
    if kept:
        cli.console.detail(f"Its directory is kept: {kept}")
