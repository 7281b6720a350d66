"""The command find-offers. Mirrors: juju cmd/juju/crossmodel/find.go (3.6)"""

from __future__ import annotations

from dataclasses import replace

from pushjuju.cli.commands.offer import offer_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.model.offerurl import OfferUrl, parse
from pushjuju.services.entities.relation import offers
from pushjuju.services.views import offer_documents


@command(
    "find-offers",
    usage="[<controller>:[<owner>/]<model>[.<offer>]]",
    summary="Find offered application endpoints.",
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("url", "Return results matching the offer URL"),
        flags.text("interface", "Return results matching the interface name"),
        flags.text("offer", "Return results matching the offer name"),
    ),
    examples="    pushjuju find-offers\n    pushjuju find-offers --interface mysql\n"
    "    pushjuju find-offers --url admin/prod.db2\n",
    see_also=("show-offer",),
)
def find_offers(cli: Cli, args: tuple[str, ...], *, model: str, url: str, interface: str, offer: str) -> None:
    """Find offers on a controller."""
    if offer and url:
        raise UsageError("cannot specify both a URL term and offer term")
    if args and url:
        raise UsageError("URL term cannot be specified twice")

    term = args[0] if args else url
    place = parse(term, partial=True) if term else OfferUrl()
    ctx = session.open_controller(cli, place.controller or session.split_model(model)[0])
    if term and not place.owner:
        place = replace(place, owner=ctx.user)
    wanted = offers.Wanted(part=(place.offer or offer), interface=interface)
    cli.output.write(offer_documents.find_offers(ctx, place, wanted), formatters.found())
