"""The command suspend-relation. Mirrors: juju cmd/juju/crossmodel (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.relation.relation_words import set_suspended
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command


@command(
    "suspend-relation",
    usage="<relation id>[ <relation id>...]",
    summary="Suspends relations: units leave a relation until it is resumed.",
    at_least=(1, "no relation ids specified"),
    flags=(
        *flags.IN_MODEL,
        flags.text("message", "Why; shown in the status of the relation"),
        *flags.NO_WAIT,
    ),
    examples='    pushjuju suspend-relation 4 --message "maintenance"\n    pushjuju suspend-relation 4,5\n',
    see_also=("resume-relation", "integrate"),
)
def suspend_relation(cli: Cli, args: tuple[str, ...], *, model: str, message: str, no_wait: bool) -> None:
    set_suspended(cli, args, model, suspended=True, message=message, no_wait=no_wait)
