"""The command offers. Mirrors: juju cmd/juju/crossmodel/list.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.offer import offer_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.entities.relation import offers
from pushjuju.services.views import offer_documents


@command(
    "offers",
    usage="[<offer-name>]",
    summary="Lists shared endpoints.",
    aliases=("list-offers",),
    at_most=1,
    formats=("tabular", "yaml", "json", "summary"),
    flags=(
        *flags.IN_MODEL,
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
    opened = session.open_model(cli, model)
    wanted = offers.Wanted(
        name=args[0] if args else "",
        application=application,
        interface=interface,
        consumer=allowed_consumer,
        connected=connected_user,
        active=active_only,
    )
    document = offer_documents.list_offers(opened.ctx, opened.model, wanted)
    cli.output.write(document, formatters.listed(cli.clock.now()))
