"""ssh-keys, add-ssh-key, remove-ssh-key, import-ssh-key. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import ssh_keys as service

_SHARED = (*flags.MODEL, *flags.LOGIN)
_WORK = (*_SHARED, *flags.NO_WAIT)


@command(
    "ssh-keys",
    summary="Lists the currently known SSH keys for the current (or specified) model.",
    aliases=("list-ssh-keys",),
    at_most=0,
    flags=(*_SHARED, flags.switch("full", "Show full key instead of just the fingerprint")),
    examples="    pushjuju ssh-keys\n    pushjuju ssh-keys -m test --full\n",
    see_also=("add-ssh-key", "remove-ssh-key", "import-ssh-key"),
)
def ssh_keys(cli: Cli, _args: tuple[str, ...], *, model: str, full: bool) -> None:
    """List the keys of a model."""
    opened = session.open_model(cli, model)
    found = service.listed(opened.ctx, opened.uuid)
    if not found:
        return cli.console.info("No keys to display.")
    lines = [key.line if full else f"{key.fingerprint} ({key.comment})" for key in found]
    return cli.output.text("\n".join([f"Keys used in model: {opened.identifier}", *lines]) + "\n")


@command(
    "add-ssh-key",
    usage="<ssh key> ...",
    summary="Adds a public SSH key to a model.",
    at_least=(1, "public SSH key not specified"),
    flags=_WORK,
    details="The key may log in to every machine of the model, those to come included: it is written to the\n"
    "authorized_keys of the login user, and of `ubuntu` where there is one.",
    examples='    pushjuju add-ssh-key "$(cat ~/.ssh/id_ed25519.pub)"\n',
    see_also=("ssh-keys", "remove-ssh-key", "import-ssh-key"),
)
def add_ssh_key(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Let keys in."""
    opened = session.open_model(cli, model)
    _tell(cli, "add key", service.add(opened.ctx, opened.uuid, args))
    drive.settle(cli, opened.ctx, opened.uuid, touched=drive.EVERY_MACHINE, no_wait=no_wait)


@command(
    "remove-ssh-key",
    usage="<ssh key id> ...",
    summary="Removes a public SSH key (or keys) from a model.",
    at_least=(1, "no ssh key id specified"),
    flags=_WORK,
    details="A key is named by its fingerprint or its comment, as ssh-keys shows them. Keys that others\n"
    "have written to a machine stay there.",
    examples="    pushjuju remove-ssh-key kim@laptop\n",
    see_also=("ssh-keys", "add-ssh-key"),
)
def remove_ssh_key(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Let keys in no more."""
    opened = session.open_model(cli, model)
    _tell(cli, "remove key id", service.remove(opened.ctx, opened.uuid, args))
    drive.settle(cli, opened.ctx, opened.uuid, touched=drive.EVERY_MACHINE, no_wait=no_wait)


@command(
    "import-ssh-key",
    usage="<lp|gh>:<user identity> ...",
    summary="Adds a public SSH key from a trusted identity source to a model.",
    at_least=(1, "no ssh key id specified"),
    flags=_WORK,
    details="gh:NAME asks GitHub, lp:NAME asks Launchpad, over HTTPS. All are asked before a key is added.",
    examples="    pushjuju import-ssh-key gh:kim lp:robin\n",
    see_also=("ssh-keys", "add-ssh-key"),
)
def import_ssh_key(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Let the keys of people in."""
    from pushjuju.services.requests import key_import

    sources = [key_import.source(text) for text in args]
    opened = session.open_model(cli, model)
    found = {item.text: key_import.fetch(item, cli.env) for item in sources}
    for text, keys in found.items():
        if not keys:
            cli.console.info(f"cannot import key id {quote(text)}: no keys found")
        _tell(cli, "import key id", service.add(opened.ctx, opened.uuid, keys))
    drive.settle(cli, opened.ctx, opened.uuid, touched=drive.EVERY_MACHINE, no_wait=no_wait)


def _tell(cli: Cli, what: str, refusals: Sequence[service.Refusal]) -> None:
    """Name the keys that were not taken; like Juju, that is no failure of the command."""
    for item in refusals:
        cli.console.stderr.write(f"cannot {what} {quote(item.key)}: {item.reason}\n")
