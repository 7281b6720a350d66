"""The command integrate. Mirrors: juju cmd/juju/application/integrate.go (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network

from pushjuju.cli.commands.relation.relation_words import applications_of
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import AlreadyExists, NotValid, UsageError
from pushjuju.core.model.offerurl import OfferUrl, parse
from pushjuju.portable.quote import quote
from pushjuju.services.requests.relation import integrate as service

_EVERYWHERE = ("0.0.0.0/0", "::/0")


@command(
    "integrate",
    usage="<application>[:<endpoint>] <application>[:<endpoint>]",
    summary="Integrates two applications.",
    aliases=("relate",),
    flags=(
        *flags.MODEL,
        flags.text("via", "For cross-model relations: the subnets that traffic comes from"),
        *flags.NO_WAIT,
    ),
    details="Name an endpoint when more than one pair of endpoints fits. One side may be an offer of\n"
    "another model: [<controller>:][<owner>/]<model>.<offer>[:<endpoint>]; the command consumes\n"
    "the offer first.",
    examples="    pushjuju integrate wordpress mysql\n    pushjuju integrate wordpress:db mysql:server\n"
    "    pushjuju integrate wordpress admin/prod.mysql --via 192.168.0.0/16\n",
    see_also=("consume", "find-offers", "remove-relation", "suspend-relation"),
)
def integrate(cli: Cli, args: tuple[str, ...], *, model: str, via: str, no_wait: bool) -> None:
    if len(args) != 2:
        raise UsageError("an integration must involve two applications")
    names, offer = _ends(args)
    touched, subnets = applications_of(names), _subnets(via)
    opened = session.open_model(cli, model)
    try:
        service.integrate(opened.ctx, opened.uuid, *names, via=subnets, offer=offer)
    except AlreadyExists as error:
        raise _in_parts(error) from None
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)


def _ends(args: Sequence[str]) -> tuple[list[str], OfferUrl | None]:
    """Return both ends as `APP[:ENDPOINT]`, and the offer among them, or None."""
    names, found = [], []
    for arg in args:
        try:
            url = parse(arg)
        except NotValid:
            names.append(arg)  # the request refuses names that do not exist
            continue
        found.append(url)
        names.append(f"{url.offer}:{url.endpoint}" if url.endpoint else url.offer)
    if len(found) > 1:
        raise UsageError("providing more than one remote endpoints not supported")
    return names, found[0] if found else None


def _subnets(via: str) -> list[str]:
    """Parse `--via`: networks with commas."""
    subnets = [part.strip() for part in via.split(",") if part.strip()]
    for subnet in subnets:
        if subnet in _EVERYWHERE:
            raise UsageError(f"CIDR {quote(subnet)} not allowed")
        try:
            ip_network(subnet, strict=False)
        except ValueError:
            raise UsageError(f"invalid CIDR address: {subnet}") from None
    return subnets


def _in_parts(error: AlreadyExists) -> AlreadyExists:
    """Return the error with its parts on lines of their own, as Juju prints them."""
    return AlreadyExists(error.what, detail=f"{error.why} (already exists):\n\n", hint=error.hint)
