"""The command remove-relation. Mirrors: juju cmd/juju/application/removerelation.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.relation.relation_words import applications_of, check_id
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import removals, session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.relation import integrate as service


@command(
    "remove-relation",
    usage="<application>[:<endpoint>] <application>[:<endpoint>] | <relation id>",
    summary="Removes an existing relation between two applications.",
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Remove units that do not leave in time from the relation, without hooks"),
        flags.switch("no-wait", "Remove these units at once; only with --force"),
    ),
    details="`status --relations` and `show-unit` show the ids of relations.",
    examples="    pushjuju remove-relation wordpress mysql\n    pushjuju remove-relation 4\n",
    see_also=("integrate", "status"),
)
def remove_relation(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    forced = removals.force(force=force, no_wait=no_wait)
    if len(args) == 1:
        check_id(args[0])
    elif len(args) == 2:
        applications_of(args)
    else:
        raise UsageError("a relation must involve two applications")
    opened = session.open_model(cli, model)
    touched = service.remove_relation(opened.ctx, opened.uuid, args, forced)
    removals.settle(cli, opened, touched=touched)
