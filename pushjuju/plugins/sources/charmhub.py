"""The client of Charmhub, and of other stores with Charmhub's protocol.

Mirrors: juju charmhub/client.go, refresh.go, info.go, find.go, resources.go (3.6)
"""

from __future__ import annotations

import contextlib
import http.client
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pushjuju.charms.hub import catalogue, wire
from pushjuju.charms.hub.resolve import resolve
from pushjuju.charms.hub.wire import Fault
from pushjuju.core.charmstore import STEP, Ask, Download, HubError, StoreCharm, StoreResource
from pushjuju.plugins.api.sources import SourceServices, Tell, no_tell
from pushjuju.plugins.sources.http import Again, Http, Patience, Proxies

_PREFIX = "/v2/charms"
_STATUS = "http.response.status_code"


def open_http(services: SourceServices) -> Http:
    """Return an HTTP client that uses the proxies of the model, or else of the environment."""
    return ToldHttp(
        patience=Patience() if services.patient else Patience(attempts=1),
        proxies=Proxies.of(services.config, services.environ),
        clock=services.clock,
        random=services.random,
        sleep=services.sleep,
    )


class Charmhub:
    """A store with Charmhub's protocol."""

    def __init__(self, address: str, services: SourceServices) -> None:
        self.address = address.rstrip("/")
        self._services = services
        self._secure = address.startswith("https://")
        self._http: Http | None = None

    @property
    def http(self) -> Http:
        """The HTTP client, made when first used."""
        if self._http is None:
            self._http = open_http(self._services)
        return self._http

    def resolve(self, asks: Sequence[Ask]) -> list[StoreCharm | HubError]:
        return resolve(asks, self._refresh) if asks else []

    def _refresh(self, asks: Sequence[Ask]) -> list[StoreCharm | Fault]:
        keyed = [(self._key(ask), ask) for ask in asks]
        url = f"{self.address}{_PREFIX}/refresh"
        try:
            document = self.http.json("POST", url, wire.request(keyed))
        except HubError as error:
            raise _renamed(error, "refresh not found") from None
        return wire.answers(document, keyed, secure=self._secure)

    def _key(self, ask: Ask) -> str:
        if ask.held is not None and ask.held.key:
            return ask.held.key
        return str(uuid.UUID(int=self._services.random.getrandbits(128), version=4))

    def resources(self, charm: str, resource: str) -> list[StoreResource]:
        url = (
            f"{self.address}{_PREFIX}/resources/{quote(charm, safe='')}/{quote(resource, safe='')}/revisions"
        )
        try:
            document = wire.check_errors(self.http.json("GET", url))
        except HubError as error:
            raise _renamed(error, f'"{resource}" for "{charm}" not found') from None
        return list(wire.resources(document.get("revisions"), secure=self._secure))

    def fetch(self, wanted: Download, target: Path, what: str, tell: Tell = no_tell) -> None:
        self.http.file(wanted, target, what, tell)

    def info(self, name: str, channel: str = "") -> Mapping[str, Any]:
        query = {"fields": catalogue.INFO_FIELDS, **({"channel": channel} if channel else {})}
        url = f"{self.address}{_PREFIX}/info/{quote(name, safe='')}?{urlencode(query)}"
        try:
            return wire.check_errors(self.http.json("GET", url))
        except HubError as error:
            raise _renamed(error, f"{name} not found") from None

    def find(self, query: str, options: Mapping[str, str]) -> list[Mapping[str, Any]]:
        asked = {"q": query, "fields": catalogue.FIND_FIELDS, **{k: v for k, v in options.items() if v}}
        document = wire.check_errors(
            self.http.json("GET", f"{self.address}{_PREFIX}/find?{urlencode(asked)}")
        )
        results = document.get("results")
        return [item for item in results if isinstance(item, dict)] if isinstance(results, list) else []


def _renamed(error: HubError, text: str) -> HubError:
    """Return the error with another message, when the server answered 404."""
    return HubError(text, reason="not-found") if str(error) == "not found" else error


class ToldHttp(Http):
    """Tells of each request, with its method, its address without login and query, and its status."""

    @contextlib.contextmanager
    def _open(
        self, method: str, url: str, *, data: bytes | None = None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        values: dict[str, str | int] = {"http.request.method": method, "url.full": place}
        with STEP.get()(f"store {method}", values):
            try:
                with super()._open(method, url, data=data, headers=headers) as answer:
                    values[_STATUS] = answer.status
                    yield answer
            except Again as error:
                if error.status:
                    values |= {_STATUS: error.status, "error.type": str(error.status)}
                raise
