"""Requests to Google Compute Engine through libcloud's connection. Blocking."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from pushjuju.core.errors import ProviderError

Json = dict[str, Any]

OPERATION_S = 180.0


class Api:
    """Sends the requests of one driver.

    Args:
        driver: libcloud's driver; only one thread uses it.
        look_s: Seconds between polls of an operation.
    """

    def __init__(self, driver: Any, look_s: float) -> None:
        self._connection = driver.connection
        self._look_s = look_s

    def get(self, path: str, **params: str) -> Json:
        """Return a resource by its path below the project."""
        found: Json = self._connection.request(path, params=params).object
        return found

    def all(self, path: str, **params: str) -> Iterator[Json]:
        """Yield the items of a list, or the parts of an aggregated list, from all its pages."""
        query = {"maxResults": "500", **params}
        while True:
            page = self.get(path, **query)
            items = page.get("items") or ()
            yield from items.values() if isinstance(items, Mapping) else items
            if not page.get("nextPageToken"):
                return
            query["pageToken"] = str(page["nextPageToken"])

    def run(self, method: str, path: str, body: Json | None = None, **params: str) -> None:
        """Request a change, and wait until the operation is done.

        Raises:
            ProviderError: The operation takes too long; an error of libcloud says what failed.
        """
        operation = self._connection.request(path, params=params, data=body, method=method).object
        scope, end = _scope(operation), time.monotonic() + OPERATION_S
        while operation["status"] != "DONE":
            if time.monotonic() > end:
                raise ProviderError(f"operation {operation['name']} is not done in {OPERATION_S:.0f} s")
            time.sleep(self._look_s)
            operation = self.get(f"{scope}/operations/{operation['name']}")

    def insert(self, path: str, body: Json) -> Json:
        """Make a resource and return it, or return the resource that an earlier request made."""
        try:
            self.run("POST", path, body)
        except Exception as error:
            if type(error).__name__ != "ResourceExistsError":
                raise
        return self.get(f"{path}/{body['name']}")

    def delete(self, path: str) -> None:
        """Delete a resource; a missing resource is no error."""
        try:
            self.run("DELETE", path)
        except Exception as error:
            if getattr(error, "http_code", 0) != 404:
                raise


def _scope(operation: Mapping[str, Any]) -> str:
    for kind in ("zone", "region"):
        if kind in operation:
            return f"/{kind}s/{last(operation[kind])}"
    return "/global"


def last(url: Any) -> str:
    """Return the last part of a URL: the name of a resource."""
    return str(url).rpartition("/")[2]


def labels_of(tags: Mapping[str, str]) -> dict[str, str]:
    """Return tags as labels: lower case, at most 63 characters; a name begins with a letter."""
    found = {}
    for key, value in tags.items():
        name, text = (re.sub(r"[^a-z0-9_-]", "_", item.lower()) for item in (key, value))
        found[(name if name[:1].isalpha() else f"l{name}")[:63]] = text[:63]
    return found
