"""The command resume-relation. Mirrors: juju cmd/juju/crossmodel (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.relation.relation_words import set_suspended
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command


@command(
    "resume-relation",
    usage="<relation id>[,<relation id>]",
    summary="Resumes suspended relations.",
    at_least=(1, "no relation ids specified"),
    flags=(*flags.IN_MODEL, *flags.NO_WAIT),
    examples="    pushjuju resume-relation 4\n    pushjuju resume-relation 4 5\n",
    see_also=("suspend-relation",),
)
def resume_relation(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    set_suspended(cli, args, model, suspended=False, message="", no_wait=no_wait)
