"""Requests to vCenter's REST API (6.7 and later) through libcloud's connection. Blocking."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from pushjuju.core.errors import NotValid
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, secret

_SESSION = "/rest/com/vmware/cis/session"
_PREFIX = "com.vmware.vapi.std.errors."
_NO_OBJECT = "ManagedObjectNotFound"


def connect(site: Site, timeout_s: float) -> Any:
    """Return a driver that is not logged in: libcloud's own driver logs in at once, in each thread."""
    user, password = secret(site, "user", "password")
    vsphere, errors = library("compute.drivers.vsphere"), library("common.exceptions")

    class Response(vsphere.VSphereResponse):  # type: ignore[misc, name-defined]
        def parse_error(self) -> str:
            text = reason(vars(self).get("body"))
            if text.startswith(_NO_OBJECT):  # the SOAP API reports a missing object as its own failure
                raise errors.exception_from_message(code=404, message=text)
            return text

        def parse_body(self) -> Any:
            said = vars(self)
            if "xml" in str(said["headers"].get("content-type")):
                return said["body"]
            return super().parse_body()

    class Connection(vsphere.VSphereConnection):  # type: ignore[misc, name-defined]
        responseCls = Response  # noqa: N815 - libcloud's name

    class Driver(vsphere.VSphere_REST_NodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815

        def _get_session_token(self) -> None:
            pass

    driver = Driver(user, secret=password, host="vcenter.invalid")
    lead(driver.connection, site, timeout_s, endpoint(site))
    return driver


def endpoint(site: Site) -> str:
    """Return vCenter's URL. In Juju's definitions it is an address, or a URL whose path is ignored."""
    given = site.cloud.endpoint
    try:
        found = urlsplit(given if "://" in given else f"https://{given}")
        host, port = found.hostname, found.port
    except ValueError:
        host, port = "", None
    if not host or found.scheme not in ("http", "https"):
        raise NotValid(
            f'cloud {site.cloud.name} needs the address of vCenter as its endpoint, not "{given}"',
            hint="pushjuju update-cloud",
        )
    named = f"[{host}]" if ":" in host else host
    return f"{found.scheme}://{named}:{port}" if port else f"{found.scheme}://{named}"


def reason(body: Any) -> str:
    """Return the text of an error after its kind; the body may not come from the API at all."""
    try:
        found = json.loads(body)
        if "_typeName" in found:  # the older API
            said = [str(item.get("message") or item.get("key")) for item in found.get("faultMessage") or ()]
            return ": ".join([str(found["_typeName"]), *filter(None, ["; ".join(said)])])
        kind = str(found["type"]).removeprefix(_PREFIX)
        return ": ".join(filter(None, (kind, messages((found.get("value") or {}).get("messages")))))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "an answer without a reason"


def messages(given: Any) -> str:
    """Return a list of localizable messages as one text."""
    return "; ".join(str(item.get("default_message") or item.get("id")) for item in given or ())


class Vcenter:
    """Sends requests to one vCenter; all threads share one session, which is only kept in memory."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = Lock()
        self._token = ""

    def ask(
        self, driver: Any, method: str, path: str, params: Mapping[str, str] | None = None, body: Any = None
    ) -> Any:
        """Send a request and return the value of the answer; log in again once when the session has ended."""
        answer = self.ask_plain(driver, method, path, params, body)
        return answer["value"] if isinstance(answer, Mapping) and "value" in answer else None

    def ask_plain(
        self, driver: Any, method: str, path: str, params: Mapping[str, str] | None = None, body: Any = None
    ) -> Any:
        """Send a request as `ask` does, and return the whole answer."""
        token = self._log_in(driver, "")
        try:
            return self._send(driver, token, method, path, params, body)
        except Exception as error:
            if getattr(error, "code", 0) != 401:
                raise
        return self._send(driver, self._log_in(driver, token), method, path, params, body)

    def ask_long(self, driver: Any, timeouts: tuple[float, float], path: str, body: Any) -> Any:
        """Post a request that takes long; `timeouts` are its seconds, and those of other requests."""
        self._log_in(driver, "")
        lead(driver.connection, self._site, timeouts[0], endpoint(self._site))
        try:
            return self.ask(driver, "POST", path, body=body)
        finally:
            lead(driver.connection, self._site, timeouts[1], endpoint(self._site))

    def _send(
        self, driver: Any, token: str, method: str, path: str, params: Mapping[str, str] | None, body: Any
    ) -> Any:
        connection = driver.connection
        connection.session_token = token
        data = None if body is None else json.dumps(body)
        return connection.request(path, method=method, params=dict(params or {}), data=data).object

    def _log_in(self, driver: Any, stale: str) -> str:
        with self._lock:
            if not self._token or self._token == stale:
                driver.connection.session_token = None
                self._token = ""
                self._token = str(driver.connection.request(_SESSION, method="POST").object["value"])
            return self._token
