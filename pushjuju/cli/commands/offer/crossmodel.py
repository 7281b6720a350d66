"""offer, offers, find-offers, show-offer, remove-offer, consume, remove-saas.

Mirrors: juju cmd/juju/crossmodel, cmd/juju/application/{consume,removesaas}.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid, PushjujuError, Silent, UsageError
from pushjuju.core.offerurl import OfferUrl, parse
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.entities.relation.offers import Wanted

_APPLICATION = re.compile(
    r"/?(?:(?P<model>[^.]*)\.)?(?P<application>[^:]*)(?::(?P<endpoints>.*))?", re.DOTALL
)
_FORM = 'endpoints must conform to format "<application-name>:<endpoint-name>[,...]" '


# --- offering ---------------------------------------------------------------------------------------------


@command(
    "offer",
    usage="[model-name.]<application-name>:<endpoint-name>[,...] [offer-name]",
    summary="Offer application endpoints for use in other models.",
    at_least=(1, "an offer must at least specify application endpoint"),
    at_most=2,
    flags=(*flags.CONTROLLER, *flags.LOGIN),
    details="The offer is called as the application unless it gets a name; one of that name is replaced.",
    examples="    pushjuju offer mysql:db\n    pushjuju offer mymodel.mysql:db\n"
    "    pushjuju offer db2:db,log hosted-db2\n",
    see_also=("consume", "integrate", "remove-offer"),
)
def offer(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    """Offer endpoints of an application."""
    from pushjuju.services.entities.model import models
    from pushjuju.services.entities.relation import offers

    model, application, endpoints = _parts(args[0])
    ctx = session.open_controller(cli, controller)
    found = models.resolve(ctx, model or None)
    name = args[1] if len(args) > 1 else application
    offers.offer(ctx, found.uuid, application, endpoints, name)
    shown = ", ".join(endpoints)
    cli.console.info(
        f'Application "{application}" endpoints [{shown}] available at "{found.qualified}.{name}"'
    )


def _parts(text: str) -> tuple[str, str, list[str]]:
    """Return model, application and endpoints of `[MODEL.]APP:ENDPOINT[,...]`; the model may be empty.

    Raises:
        NotValid: It is nothing of the kind; the messages are Juju's.
    """
    found = _APPLICATION.fullmatch(text)
    if found is None or ":" not in text:
        raise NotValid(_FORM)
    if not is_application(found["application"]):
        raise NotValid(f"application name {quote(found['application'])} not valid")
    if not found["endpoints"]:
        raise NotValid(f'specify endpoints for {found["application"]}" ')
    return found["model"] or "", found["application"], found["endpoints"].split(",")


@command(
    "remove-offer",
    usage="<offer-url> ...",
    summary="Removes one or more offers specified by their URL.",
    at_least=(1, "no offers specified"),
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        flags.switch("force", "Remove the offer as well as any relations to the offer"),
        flags.switch("yes", "Do not prompt for confirmation", short="y"),
    ),
    details="A name alone means an offer of the current model.",
    examples="    pushjuju remove-offer prod.hosted-mysql\n    pushjuju remove-offer hosted-mysql --force\n",
    see_also=("find-offers", "offer"),
)
def remove_offer(cli: Cli, args: tuple[str, ...], *, controller: str, force: bool, yes: bool) -> None:
    """Take offers back."""
    from pushjuju.services.lifecycle import removal
    from pushjuju.services.requests import consume as crossmodel

    ctx = session.open_controller(cli, controller)
    urls = [_offer_url(ctx, arg) for arg in args]
    if len({url.controller for url in urls}) > 1:
        raise NotValid("all offer URLs must use the same controller")
    if force and not yes:
        cli.console.confirm(_warning(urls), what="offer removal")
    places = crossmodel.remove_offers(ctx, urls, removal.Force() if force else None)
    if force:
        _settle_all(cli, ctx, places)


def _warning(urls: Iterable[OfferUrl]) -> str:
    listed = ", ".join(map(str, urls))
    return (
        f"WARNING! This command will remove offers: {listed}\n"
        "This includes all relations to those offers.\n\nContinue [y/N]? "
    )


def _settle_all(cli: Cli, ctx: Context, places: Sequence[str]) -> None:
    for model in places:
        drive.settle(cli, ctx, model, touched=())


def _offer_url(ctx: Context, text: str) -> OfferUrl:
    """Read an offer's URL; a name alone means one of the current model.

    Raises:
        NotValid: It is neither; the message is Juju's.
    """
    try:
        return parse(text)
    except NotValid:
        if not is_application(text):
            raise
    from pushjuju.services.entities.model import models

    model = models.resolve(ctx, None)
    return OfferUrl(owner=model.owner, model=model.name, offer=text)


# --- looking ----------------------------------------------------------------------------------------------


@command(
    "offers",
    usage="[<offer-name>]",
    summary="Lists shared endpoints.",
    aliases=("list-offers",),
    at_most=1,
    formats=("tabular", "yaml", "json", "summary"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("application", "Return results matching the application"),
        flags.text("interface", "Return results matching the interface name"),
        flags.text("allowed-consumer", "Return results where the user is allowed to consume the offer"),
        flags.text("connected-user", "Return results where the user has a connection to the offer"),
        flags.switch("active-only", "Only return results where the offer is in use"),
    ),
    examples="    pushjuju offers\n    pushjuju offers hosted-mysql --active-only\n"
    "    pushjuju offers --format summary\n",
    see_also=("find-offers", "show-offer"),
)
def list_offers(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    application: str,
    interface: str,
    allowed_consumer: str,
    connected_user: str,
    active_only: bool,
) -> None:
    """List the offers of a model."""
    from pushjuju.cli.commands.offer import offer_table as formatters
    from pushjuju.services.entities.relation.offers import Wanted
    from pushjuju.services.views import offer_documents

    opened = session.open_model(cli, model)
    wanted = Wanted(
        name=args[0] if args else "",
        application=application,
        interface=interface,
        consumer=allowed_consumer,
        connected=connected_user,
        active=active_only,
    )
    document = offer_documents.list_offers(opened.ctx, opened.model, wanted)
    cli.output.write(document, formatters.listed(cli.clock.now()))


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
    from pushjuju.cli.commands.offer import offer_table as formatters
    from pushjuju.services.views import offer_documents

    term = args[0] if args else url
    place = parse(term, partial=True) if term else OfferUrl()
    ctx = session.open_controller(cli, place.controller or session.split_model(model)[0])
    if term and not place.owner:
        place = replace(place, owner=ctx.user)
    wanted = _wanted(part=place.offer or offer, interface=interface)
    cli.output.write(offer_documents.find_offers(ctx, place, wanted), formatters.found())


def _wanted(*, part: str, interface: str) -> Wanted:
    from pushjuju.services.entities.relation.offers import Wanted

    return Wanted(part=part, interface=interface)


@command(
    "show-offer",
    usage="[<controller>:]<offer url>",
    summary="Shows extended information about the offered application.",
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju show-offer prod\n    pushjuju show-offer default.prod\n"
    "    pushjuju show-offer controller:admin/default.prod\n",
    see_also=("find-offers",),
)
def show_offer(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show one offer."""
    if len(args) != 1:
        raise UsageError("must specify endpoint URL")
    from pushjuju.cli.commands.offer import offer_table as formatters
    from pushjuju.services.views import offer_documents

    if is_application(args[0]):
        opened = session.open_model(cli, model)
        ctx, url = opened.ctx, OfferUrl(owner=opened.model.owner, model=opened.model.name, offer=args[0])
    else:
        url = parse(args[0])
        ctx = session.open_controller(cli, url.controller or session.split_model(model)[0])
    cli.output.write(offer_documents.show_offer(ctx, url), formatters.shown())


# --- consuming --------------------------------------------------------------------------------------------


@command(
    "consume",
    usage="<remote offer path> [<local application name>]",
    summary="Add a remote offer to the model.",
    at_least=(1, "no remote offer specified"),
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN),
    details="Relations to it are made with integrate. The path is\n"
    "[<controller name>:][<model owner>/]<model name>.<offer name>.",
    examples="    pushjuju consume othermodel.mysql\n    pushjuju consume owner/othermodel.mysql db\n",
    see_also=("integrate", "offer", "remove-saas"),
)
def consume(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Let a model consume an offer."""
    if len(args) > 1 and not is_application(args[1]):
        raise UsageError(f"invalid application name {quote(args[1])}")
    from pushjuju.services.requests import consume as crossmodel

    url = parse(args[0])
    if url.endpoint:
        raise NotValid(f"saas offer {quote(args[0])} shouldn't include endpoint")
    opened = session.open_model(cli, model)
    name = crossmodel.consume(opened.ctx, opened.uuid, url, args[1] if len(args) > 1 else "")
    full = replace(url, controller=opened.ctx.controller.name, owner=url.owner or opened.ctx.user)
    cli.console.info(f"Added {full} as {name}")


@command(
    "remove-saas",
    usage="<saas-application-name> [<saas-application-name>...]",
    summary="Remove consumed applications (SAAS) from the model.",
    at_least=(1, "no SAAS application names specified"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("force", "Completely remove an application and all its dependencies"),
        flags.switch("no-wait", "Rush through the removal without waiting for each step; only with --force"),
    ),
    details="Its relations end first: their units run the hooks of that in both models.",
    examples="    pushjuju remove-saas hosted-mysql\n    pushjuju remove-saas -m test-model hosted-mariadb\n",
    see_also=("consume", "offer"),
)
def remove_saas(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    """Let a model consume offers no more."""
    for arg in args:
        if not is_application(arg):
            raise UsageError(f"invalid SAAS application name {quote(arg)}")
    if no_wait and not force:
        raise NotValid("--no-wait requires --force")
    from pushjuju.cli.work import removals
    from pushjuju.services.requests import consume as crossmodel

    opened = session.open_model(cli, model)
    forced, touched, failures = removals.force(force=force, no_wait=no_wait), set(), []
    for arg in args:
        try:
            touched |= {arg, *crossmodel.remove_saas(opened.ctx, opened.uuid, arg, forced)}
        except PushjujuError as error:
            failures.append(f"removing SAAS application {arg} failed: {error.message}")
    for text in failures:
        cli.console.info(text)
    if touched:
        removals.settle(cli, opened, touched=sorted(touched))
    if failures:
        raise Silent(failures[0])
