"""The command import-ssh-key. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh.key_flags import WORK, tell_results
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, failures, session
from pushjuju.portable.quote import quote
from pushjuju.services.requests.model import key_import, ssh_keys


@command(
    "import-ssh-key",
    usage="<lp|gh>:<user identity> ...",
    summary="Adds a public SSH key from a trusted identity source to a model.",
    at_least=(1, "no ssh key id specified"),
    flags=WORK,
    details="gh:NAME reads keys from GitHub, lp:NAME from Launchpad, over HTTPS. No key is added when one\n"
    "of the names cannot be read.",
    examples="    pushjuju import-ssh-key gh:kim lp:robin\n",
    see_also=("ssh-keys", "add-ssh-key"),
)
def import_ssh_key(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    sources = [key_import.source(text) for text in args]
    opened = session.open_model(cli, model)
    for text, refused in ssh_keys.import_keys(opened.ctx, opened.uuid, sources, cli.env).items():
        if refused is None:
            cli.console.info(f"cannot import key id {quote(text)}: no keys found")
        tell_results(cli, "import key id", refused or ())
    drive.settle(cli, opened.ctx, opened.uuid, touched=failures.EVERY_MACHINE, no_wait=no_wait)
