"""The command remove-offer. Mirrors: juju cmd/juju/crossmodel/remove.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid
from pushjuju.core.model.offerurl import OfferUrl, parse
from pushjuju.portable.names import is_application
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.relation import cross_model


@command(
    "remove-offer",
    usage="<offer-url> ...",
    summary="Removes one or more offers specified by their URL.",
    at_least=(1, "no offers specified"),
    flags=(
        *flags.AT_CONTROLLER,
        flags.switch("force", "Remove the offer as well as any relations to the offer"),
        flags.switch("yes", "Do not prompt for confirmation", short="y"),
    ),
    details="A name without a model is the name of an offer in the current model.",
    examples="    pushjuju remove-offer prod.hosted-mysql\n    pushjuju remove-offer hosted-mysql --force\n",
    see_also=("find-offers", "offer"),
)
def remove_offer(cli: Cli, args: tuple[str, ...], *, controller: str, force: bool, yes: bool) -> None:
    ctx = session.open_controller(cli, controller)
    urls = [_offer_url(ctx, arg) for arg in args]
    if len({url.controller for url in urls}) > 1:
        raise NotValid("all offer URLs must use the same controller")
    if force and not yes:
        cli.console.confirm(warning(urls), what="offer removal")
    places = cross_model.remove_offers(ctx, urls, removal.Force() if force else None)
    if force:
        _settle_all(cli, ctx, places)


def warning(urls: Iterable[object]) -> str:
    """Return the question before a forced removal."""
    listed = ", ".join(map(str, urls))
    return (
        f"WARNING! This command will remove offers: {listed}\n"
        "This includes all relations to those offers.\n\nContinue [y/N]? "
    )


def _settle_all(cli: Cli, ctx: context.Context, places: Sequence[str]) -> None:
    for model in places:
        drive.settle(cli, ctx, model, touched=())


def _offer_url(ctx: context.Context, text: str) -> OfferUrl:
    """Parse an offer's URL; a name without a model stands for an offer in the current model."""
    try:
        return parse(text)
    except NotValid:
        if not is_application(text):
            raise

    model = models.resolve(ctx, None)
    return OfferUrl(owner=model.owner, model=model.name, offer=text)
