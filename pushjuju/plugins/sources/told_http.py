"""The HTTP client of charm stores, whose requests are steps of a trace."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from pushjuju.core.charmstore import STEP
from pushjuju.plugins.sources.http import Again, Http

_STATUS = "http.response.status_code"


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
