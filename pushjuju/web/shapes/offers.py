"""Shapes of offers: for the facade ApplicationOffers, and for the methods that consume offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from pushjuju.charms.values.model import Endpoint
from pushjuju.services.views.offer_details import Connection, OfferDetails
from pushjuju.web.errors import Error
from pushjuju.web.shapes.common import EntityStatus, ResultOf, ResultsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class AddApplicationOffer:
    """An offer to make; `endpoints` is name in the offer -> the application's endpoint."""

    model_tag: str = ""
    offer_name: str = ""
    application_name: str = ""
    endpoints: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointFilter:
    """An endpoint that a matching offer has."""

    interface: str = ""
    name: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFilter:
    """Conditions that an offer must meet; empty fields are no conditions."""

    owner_name: str = ""
    model_name: str = ""
    offer_name: str = ""
    application_name: str = ""
    endpoints: list[EndpointFilter] = field(default_factory=list)
    connected_users: list[str] = field(default_factory=list)
    allowed_users: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFilters:
    """Filters; an offer must match at least one filter."""

    filters: list[OfferFilter] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferURLs:
    offer_urls: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyOfferAccess:
    """Access to an offer to grant or revoke."""

    user_tag: str = ""
    action: str = ""
    access: str = ""
    offer_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeApplicationArg:
    """An offer to consume; pushjuju reads only the URL of the details."""

    offer_url: str = ""
    application_alias: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyConsumedApplication:
    """A consumed offer to remove; the wait is in nanoseconds."""

    application_tag: str = ""
    force: bool = False
    max_wait: int | None = None


RemoteEndpoint = TypedDict("RemoteEndpoint", {"name": str, "role": str, "interface": str, "limit": int})
OfferUser = TypedDict("OfferUser", {"user": str, "display-name": str, "access": str})
OfferConnection = TypedDict(
    "OfferConnection",
    {
        "source-model-tag": str,
        "relation-id": int,
        "username": str,
        "endpoint": str,
        "status": EntityStatus,
        "ingress-subnets": list[str],
    },
)
ApplicationOffer = TypedDict(
    "ApplicationOffer",
    {
        "source-model-tag": str,
        "offer-uuid": str,
        "offer-url": str,
        "offer-name": str,
        "application-description": str,
        "endpoints": list[RemoteEndpoint],
        "users": list[OfferUser],
    },
)
ApplicationOfferAdmin = TypedDict(
    "ApplicationOfferAdmin",
    {
        "source-model-tag": str,
        "offer-uuid": str,
        "offer-url": str,
        "offer-name": str,
        "application-description": str,
        "endpoints": list[RemoteEndpoint],
        "users": list[OfferUser],
        "application-name": str,
        "charm-url": str,
        "connections": list[OfferConnection],
    },
)
OffersFound = ResultsOf[ApplicationOfferAdmin]
ApplicationOfferResult = ResultOf[ApplicationOfferAdmin]
ApplicationOffersResults = ResultsOf[ApplicationOfferResult]
ExternalController = TypedDict(
    "ExternalController", {"controller-tag": str, "controller-alias": str, "addrs": list[str], "ca-cert": str}
)
Macaroon = TypedDict(
    "Macaroon", {"location": str, "identifier": str, "signature": str, "caveats": list[object]}
)
ConsumeOfferDetails = TypedDict(
    "ConsumeOfferDetails",
    {
        "offer": NotRequired[ApplicationOffer],
        "macaroon": NotRequired[Macaroon],
        "external-controller": NotRequired[ExternalController],
        "error": NotRequired[Error],
    },
)
ConsumeOfferDetailsResults = ResultsOf[ConsumeOfferDetails]
RemoteApplicationInfo = TypedDict(
    "RemoteApplicationInfo",
    {
        "model-tag": str,
        "name": str,
        "description": str,
        "offer-url": str,
        "source-model-label": str,
        "endpoints": list[RemoteEndpoint],
        "icon-url-path": str,
    },
)
RemoteApplicationInfoResult = ResultOf[RemoteApplicationInfo]
RemoteApplicationInfoResults = ResultsOf[RemoteApplicationInfoResult]


def ends(endpoints: Iterable[tuple[str, Endpoint]]) -> list[RemoteEndpoint]:
    return [
        {"name": name, "role": str(end.role), "interface": end.interface, "limit": end.limit}
        for name, end in endpoints
    ]


def offer(found: OfferDetails) -> ApplicationOffer:
    """Return an offer in the form for consumers."""
    return {
        "source-model-tag": f"model-{found.model.uuid}",
        "offer-uuid": found.offer.uuid,
        "offer-url": found.url,
        "offer-name": found.offer.name,
        "application-description": found.description,
        "endpoints": ends(found.endpoints),
        "users": [
            {"user": user, "display-name": "" if "@" in user else user, "access": level}
            for user, level in found.users.items()
        ],
    }


def admin_offer(found: OfferDetails) -> ApplicationOfferAdmin:
    """Return an offer with its application, and with its relations, which only administrators see."""
    return {
        **offer(found),
        "application-name": found.offer.application,
        "charm-url": found.charm_url,
        "connections": [_connection(item) for item in found.connections],
    }


def _connection(item: Connection) -> OfferConnection:
    seen = item.status
    return {
        "source-model-tag": f"model-{item.source.uuid}",
        "relation-id": item.relation,
        "username": item.source.owner,
        "endpoint": item.endpoint,
        "status": {"status": seen.status, "info": seen.message, "data": {}, "since": seen.since},
        "ingress-subnets": list(item.subnets),
    }
