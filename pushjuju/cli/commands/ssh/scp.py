"""scp: securely transfer files within a model. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh import ssh_config
from pushjuju.cli.commands.ssh.ssh_session import FLAGS, known_hosts_of, proxy_wanted, run_program, target_of
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.entities.model import sessions


@command(
    "scp",
    usage="[options] <source> <destination>",
    summary="Securely transfer files within a model.",
    interspersed=False,
    flags=FLAGS,
    details="Options for scp follow `--`.",
    examples="    pushjuju scp web/0:/etc/hosts .\n    pushjuju scp -- -r ./site web/0:/srv/\n",
    see_also=("ssh",),
)
def scp(cli: Cli, args: tuple[str, ...], *, model: str, no_host_key_checks: bool, proxy: bool) -> None:
    if len(args) < 2:
        raise UsageError("at least two arguments required")
    opened = session.open_model(cli, model)
    targets: list[ssh_config.Target] = []
    way = proxy_wanted(cli, proxy)
    listed = [_scp_word(cli, opened, arg, targets, proxy=way) for arg in args]
    # a machine cannot log in to another with our keys: scp copies between two machines through this computer
    words = ["scp", *(["-3"] if len(targets) > 1 and "-3" not in args else []), *listed]
    with known_hosts_of(opened) as known_hosts:
        run_program(known_hosts, words, targets, check_host_keys=not no_host_key_checks)


def _scp_word(
    cli: Cli, opened: sessions.Session, word: str, targets: list[ssh_config.Target], *, proxy: bool | None
) -> str:
    """Return an argument for scp with the target's alias instead of its name; add the target to `targets`."""
    place, colon, path = word.partition(":")
    if not colon or word.startswith(("-", ".", "/")):
        return word
    user, _, name = place.rpartition("@")
    found = target_of(cli, opened, name, user, proxy=proxy)
    if found not in targets:
        targets.append(found)
    return f"{found.alias}:{path}"
