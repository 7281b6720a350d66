"""remove-ssh-key: removes a public SSH key (or keys) from a model. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh.key_flags import WORK, tell_results
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, failures, session
from pushjuju.services.requests.model import ssh_keys


@command(
    "remove-ssh-key",
    usage="<ssh key id> ...",
    summary="Removes a public SSH key (or keys) from a model.",
    at_least=(1, "no ssh key id specified"),
    flags=WORK,
    details="Name a key by its fingerprint or comment, as ssh-keys shows them. Keys on a machine that\n"
    "pushjuju did not write stay there.",
    examples="    pushjuju remove-ssh-key kim@laptop\n",
    see_also=("ssh-keys", "add-ssh-key"),
)
def remove_ssh_key(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    opened = session.open_model(cli, model)
    tell_results(cli, "remove key id", ssh_keys.remove(opened.ctx, opened.uuid, args))
    drive.settle(cli, opened.ctx, opened.uuid, touched=failures.EVERY_MACHINE, no_wait=no_wait)
