"""The command consume. Mirrors: juju cmd/juju/application/consume.go (3.6)"""

from __future__ import annotations

from dataclasses import replace

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.model.offerurl import parse
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.relation import cross_model as crossmodel


@command(
    "consume",
    usage="<remote offer path> [<local application name>]",
    summary="Add a remote offer to the model.",
    at_least=(1, "no remote offer specified"),
    at_most=2,
    flags=flags.IN_MODEL,
    details="`integrate` then relates the offer. The path is\n"
    "[<controller name>:][<model owner>/]<model name>.<offer name>.",
    examples="    pushjuju consume othermodel.mysql\n    pushjuju consume owner/othermodel.mysql db\n",
    see_also=("integrate", "offer", "remove-saas"),
)
def consume(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    if len(args) > 1 and not is_application(args[1]):
        raise UsageError(f"invalid application name {quote(args[1])}")

    url = parse(args[0])
    if url.endpoint:
        raise NotValid(f"saas offer {quote(args[0])} shouldn't include endpoint")
    opened = session.open_model(cli, model)
    name = crossmodel.consume(opened.ctx, opened.uuid, url, args[1] if len(args) > 1 else "")
    full = replace(url, controller=opened.ctx.controller.name, owner=url.owner or opened.ctx.user)
    cli.console.info(f"Added {full} as {name}")
