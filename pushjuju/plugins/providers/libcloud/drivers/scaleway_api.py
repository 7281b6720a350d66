"""Requests to Scaleway's APIs through libcloud's connection: zones, paged lists, errors. Blocking."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, secret

ZONES: Mapping[str, tuple[str, ...]] = {
    region: tuple(f"{region}-{number}" for number in (1, 2, 3)) for region in ("fr-par", "nl-ams", "pl-waw")
}
"""Region -> zones of the region, which the API does not list."""

GB, MIB = 10**9, 2**20
_PAGE = 100


def connect(site: Site, timeout_s: float) -> Any:
    """Return a driver whose connection uses the current API, and whose errors carry their kind."""
    key, _ = secret(site, "secret-key", "project-id")
    module, errors = library("compute.drivers.scaleway"), library("common.exceptions")

    class Response(module.ScalewayResponse):  # type: ignore[misc, name-defined]
        def parse_error(self) -> Any:
            said = vars(self)
            raise errors.exception_from_message(
                code=int(said["status"]), message=reason(said.get("body")), headers=dict(said["headers"])
            )

    class Connection(module.ScalewayConnection):  # type: ignore[misc, name-defined]
        responseCls = Response  # noqa: N815 - libcloud's name

        def add_default_headers(self, headers: dict[str, str]) -> dict[str, str]:
            kind = headers.get("Content-Type", "application/json")
            return {**headers, "X-Auth-Token": key, "Content-Type": kind}

    class Driver(module.ScalewayNodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815

    driver = Driver("", key)
    lead(driver.connection, site, timeout_s)
    return driver


def zones_of(site: Site) -> tuple[str, ...]:
    found = ZONES.get(site.cloud.region)
    if found is None:
        raise NotValid(f"region {site.cloud.region} is not one of {', '.join(ZONES)}")
    return found


def project_of(site: Site) -> str:
    return str(site.credential.attributes["project-id"])


def pages(
    driver: Any, url: str, key: str, wanted: Mapping[str, str], size: str = "per_page"
) -> Iterator[Any]:
    """Yield the items of a list from all pages; the items of an object come as (name, item)."""
    number = 1
    while True:
        query = {**wanted, size: _PAGE, "page": number}
        found = driver.connection.request(url, params=query).object[key]
        yield from found.items() if isinstance(found, dict) else found
        if len(found) < _PAGE:
            return
        number += 1


def reason(body: Any) -> str:
    """Return the text of an error, its kind first; the body may not come from the API at all."""
    try:
        found = json.loads(body)
        said = "; ".join(
            f"{key}: {' '.join(map(str, text))}" for key, text in found.get("fields", {}).items()
        )
        parts = (found.get("type"), found.get("message"), found.get("resource"), said)
        return ": ".join(str(part) for part in parts if part) or "an answer without a reason"
    except (ValueError, TypeError, AttributeError, RecursionError):
        return "an answer without a reason"
