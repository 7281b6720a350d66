"""offer and remove-offer on a controller of another computer."""

from __future__ import annotations

from pushjuju.cli.commands.offer import offer as offer_command
from pushjuju.cli.commands.offer import remove_offer as remove_command
from pushjuju.cli.remote.call import Call
from pushjuju.portable.names import is_application


def offer(call: Call) -> None:
    """Offer endpoints of an application."""
    wanted, application, endpoints = offer_command.parts_of(call.args[0])
    name = call.args[1] if len(call.args) > 1 else application
    with call.target.controller() as connection:
        model = call.target.resolve(connection, wanted or call.target.wanted)
        item = {
            "model-tag": f"model-{model.uuid}",
            "offer-name": name,
            "application-name": application,
            "endpoints": {endpoint: endpoint for endpoint in endpoints},
        }
        connection.each("ApplicationOffers", "Offer", {"offers": [item]})
    shown = ", ".join(endpoints)
    call.cli.console.info(
        f'Application "{application}" endpoints [{shown}] available at "{model.qualified}.{name}"'
    )


def remove_offer(call: Call) -> None:
    """Remove offers; a name without a model stands for an offer of the current model."""
    force = call.flags.force
    current = call.target.account.current_model
    urls = [f"{current}.{text}" if current and is_application(text) else text for text in call.args]
    if force and not call.flags.yes:
        call.cli.console.confirm(remove_command.warning(urls), what="offer removal")
    with call.target.controller() as connection:
        connection.each("ApplicationOffers", "DestroyOffers", {"offer-urls": urls, "force": force})
