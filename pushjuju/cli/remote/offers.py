"""offer, remove-offer, find-offers and show-offer on a controller of another computer."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.offer import find_offers as find_command
from pushjuju.cli.commands.offer import offer as offer_command
from pushjuju.cli.commands.offer import offer_table as formatters
from pushjuju.cli.commands.offer import remove_offer as remove_command
from pushjuju.cli.remote.call import Call
from pushjuju.core.errors import NotFound
from pushjuju.core.model.offerurl import parse
from pushjuju.portable.names import is_application


def offer(call: Call) -> None:
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


def find_offers(call: Call) -> None:
    """Find offers that the user may see."""
    flags = call.flags
    place = find_command.place_of(call.args[0] if call.args else flags.url, call.target.account.user)
    wanted = {
        "owner-name": place.owner,
        "model-name": place.model,
        "offer-name": place.offer or flags.offer,
        "endpoints": [{"interface": flags.interface}] if flags.interface else [],
    }
    with call.target.controller() as connection:
        found = connection.call("ApplicationOffers", "FindApplicationOffers", {"filters": [wanted]})
    document = {_url(call, item): _document(call, item) for item in found.get("results") or ()}
    if not document:
        raise NotFound("no matching application offers found")
    call.cli.output.write(document, formatters.found())


def show_offer(call: Call) -> None:
    """Show an offer; a name without a model stands for an offer of the current model."""
    url = call.args[0]
    if is_application(url):
        with call.target.opened() as (_, model):
            url = f"{model.qualified}.{url}"
    with call.target.controller() as connection:
        named = {"offer-urls": [parse(url).local]}
        (found,) = connection.each("ApplicationOffers", "ApplicationOffers", named)
    item = found["result"]
    text = item.get("application-description")
    described = {"description": text} if text else {}
    call.cli.output.write({_url(call, item): {**described, **_document(call, item)}}, formatters.shown())


def _url(call: Call, item: dict[str, Any]) -> str:
    return f"{call.target.account.name}:{item['offer-url']}"


def _document(call: Call, item: dict[str, Any]) -> dict[str, object]:
    """Return an offer as `views.offer_documents` does."""
    users = {
        entry["user"]: {
            **({"display-name": entry["display-name"]} if entry.get("display-name") else {}),
            "access": entry["access"],
        }
        for entry in item.get("users") or ()
    }
    own = users.get(call.target.account.user)
    return {
        "access": own["access"] if own else "-",
        "endpoints": {
            end["name"]: {"interface": end["interface"], "role": end["role"]}
            for end in item.get("endpoints") or ()
        },
        "users": users,
    }
