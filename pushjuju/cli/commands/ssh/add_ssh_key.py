"""add-ssh-key: adds a public SSH key to a model. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh.key_flags import WORK, tell_results
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, failures, session
from pushjuju.services.requests.model import ssh_keys


@command(
    "add-ssh-key",
    usage="<ssh key> ...",
    summary="Adds a public SSH key to a model.",
    at_least=(1, "public SSH key not specified"),
    flags=WORK,
    details="The key may log in to every machine of the model, future machines included: it is written to\n"
    "the authorized_keys of the login user, and of the user `ubuntu` if the machine has one.",
    examples='    pushjuju add-ssh-key "$(cat ~/.ssh/id_ed25519.pub)"\n',
    see_also=("ssh-keys", "remove-ssh-key", "import-ssh-key"),
)
def add_ssh_key(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    opened = session.open_model(cli, model)
    tell_results(cli, "add key", ssh_keys.add(opened.ctx, opened.uuid, args))
    drive.settle(cli, opened.ctx, opened.uuid, touched=failures.EVERY_MACHINE, no_wait=no_wait)
