"""What the commands for SSH keys share."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.portable.quote import quote
from pushjuju.services.requests.model import ssh_keys

SHARED = flags.IN_MODEL

WORK = (*SHARED, *flags.NO_WAIT)


def tell_results(cli: Cli, what: str, refusals: Sequence[ssh_keys.Refusal]) -> None:
    """Print the keys that were refused; as in Juju, the command succeeds all the same."""
    for item in refusals:
        cli.console.stderr.write(f"cannot {what} {quote(item.key)}: {item.reason}\n")
