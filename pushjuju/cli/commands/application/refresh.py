"""refresh: refresh an application's charm. Mirrors: juju cmd/juju/application refresh.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.application import refreshing
from pushjuju.cli.commands.application.charm_flags import CONFIG, RefreshFlags
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind


@command(
    "refresh",
    usage="<application>",
    summary="Refresh an application's charm.",
    at_least=(1, "no application specified"),
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.BUILD_SCRIPTS,
        flags.STORAGE,
        CONFIG,
        FlagSpec(
            name="trust",
            kind=Kind.OPTIONAL_BOOL,
            default="unset",
            help="Allows charm to run hooks that require access credentials",
        ),
        *flags.NO_WAIT,
    ),
    details="A charm of a store changes to the newest revision of its channel, or of the channel that\n"
    "--channel names. A local charm needs --path or --switch. Only files that differ are sent to the\n"
    "machines. With --base future units run on another base; units that exist stay as they are.",
    examples="    pushjuju refresh postgresql --channel 16/stable\n    pushjuju refresh web --path ./web\n"
    "    pushjuju refresh web --switch ./other\n",
    into=RefreshFlags,
    see_also=("deploy",),
)
def refresh(cli: Cli, args: tuple[str, ...], flags: RefreshFlags) -> None:
    refreshing.refresh(cli, args[0], flags)
