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
        *flags.IN_MODEL,
        flags.text("url", "Return results matching the offer URL"),
        flags.text("interface", "Return results matching the interface name"),
        flags.text("offer", "Return results matching the offer name"),
    ),
    examples="    pushjuju find-offers\n    pushjuju find-offers --interface mysql\n"
    "    pushjuju find-offers --url admin/prod.db2\n",
    see_also=("show-offer",),
)
def find_offers(cli: Cli, args: tuple[str, ...], *, model: str, url: str, interface: str, offer: str) -> None:
    if offer and url:
        raise UsageError("cannot specify both a URL term and offer term")
    if args and url:
        raise UsageError("URL term cannot be specified twice")

    term = args[0] if args else url
    named = parse(term, partial=True).controller if term else ""
    ctx = session.open_controller(cli, named or session.split_model(model)[0])
    place = place_of(term, ctx.user)
    wanted = offers.Wanted(part=(place.offer or offer), interface=interface)
    cli.output.write(offer_documents.find_offers(ctx, place, wanted), formatters.found())


def place_of(term: str, user: str) -> OfferUrl:
    """Return what a URL or a part of a URL names; a term without an owner means models of the user."""
    place = parse(term, partial=True) if term else OfferUrl()
    return replace(place, owner=user) if term and not place.owner else place
