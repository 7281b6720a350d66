"""The command show-offer. Mirrors: juju cmd/juju/crossmodel/show.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.offer import offer_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.model.offerurl import OfferUrl, parse
from pushjuju.portable.names import is_application
from pushjuju.services.views import offer_documents


@command(
    "show-offer",
    usage="[<controller>:]<offer url>",
    summary="Shows extended information about the offered application.",
    formats=("tabular", "yaml", "json"),
    flags=flags.IN_MODEL,
    examples="    pushjuju show-offer prod\n    pushjuju show-offer default.prod\n"
    "    pushjuju show-offer controller:admin/default.prod\n",
    see_also=("find-offers",),
)
def show_offer(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    if len(args) != 1:
        raise UsageError("must specify endpoint URL")

    if is_application(args[0]):
        opened = session.open_model(cli, model)
        ctx, url = opened.ctx, OfferUrl(owner=opened.model.owner, model=opened.model.name, offer=args[0])
    else:
        url = parse(args[0])
        ctx = session.open_controller(cli, url.controller or session.split_model(model)[0])
    cli.output.write(offer_documents.show_offer(ctx, url), formatters.shown())
