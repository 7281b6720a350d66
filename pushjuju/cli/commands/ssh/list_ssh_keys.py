"""The command ssh-keys. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh.key_flags import SHARED
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views.listings import settings as view


@command(
    "ssh-keys",
    summary="Lists the currently known SSH keys for the current (or specified) model.",
    aliases=("list-ssh-keys",),
    at_most=0,
    flags=(*SHARED, flags.switch("full", "Show full key instead of just the fingerprint")),
    examples="    pushjuju ssh-keys\n    pushjuju ssh-keys -m test --full\n",
    see_also=("add-ssh-key", "remove-ssh-key", "import-ssh-key"),
)
def ssh_keys(cli: Cli, _args: tuple[str, ...], *, model: str, full: bool) -> None:
    opened = session.open_model(cli, model)
    found = view.public_keys(opened.ctx, opened.uuid)
    if not found:
        return cli.console.info("No keys to display.")
    lines = [key.line if full else f"{key.fingerprint} ({key.comment})" for key in found]
    return cli.output.text("\n".join([f"Keys used in model: {opened.identifier}", *lines]) + "\n")
