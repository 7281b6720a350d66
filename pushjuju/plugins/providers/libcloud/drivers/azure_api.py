"""Requests to Azure's Resource Manager through libcloud's connection. Blocking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from pushjuju.core.errors import CredentialInvalid, NotValid
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, place, secret, trusting

LOGIN = "https://login.microsoftonline.com"
_GROUPS, _COMPUTE, _DISKS, _NETWORK, _SKUS = (
    "2021-04-01", "2024-03-01", "2023-10-02", "2023-09-01", "2021-07-01",
)  # fmt: skip
_VERSIONS = {
    "Microsoft.Compute/disks": _DISKS,
    "Microsoft.Compute/skus": _SKUS,
    "Microsoft.Compute": _COMPUTE,
    "Microsoft.Network": _NETWORK,
}
_MOST_PAGES = 1000


def connect(site: Site, timeout_s: float) -> Any:
    """Return a driver, which logs in with its first request."""
    found = secret(site, "application-id", "application-password", "subscription-id")
    tenant = site.credential.attributes.get("tenant-id", "")
    if not tenant:
        raise NotValid(
            f"cloud {site.cloud.name} needs a credential with tenant-id",
            hint=f"pushjuju update-credential {site.cloud.name}",
        )
    azure, common = library("compute.drivers.azure_arm"), library("common.azure_arm")

    class Response(common.AzureJsonResponse):  # type: ignore[misc, name-defined]
        def success(self) -> bool:
            return bool(super().success()) or vars(self)["status"] == 204  # 204: deleted already

    class Connection(common.AzureResourceManagementConnection):  # type: ignore[misc, name-defined]
        responseCls = Response  # noqa: N815 - libcloud's name
        expires_on = "0"
        access_token = ""

        def connect(self, **more: Any) -> Any:
            return super(common.AzureResourceManagementConnection, self).connect(**more)

        def get_token_from_credentials(self) -> None:
            self.access_token, self.expires_on = _log_in(site, tenant, found[0], found[1], timeout_s)

    class Driver(azure.AzureNodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815

    driver = Driver(tenant, found[2], found[0], found[1])
    lead(driver.connection, site, timeout_s)
    return driver


def _log_in(site: Site, tenant: str, user: str, password: str, timeout_s: float) -> tuple[str, str]:
    """Return a token and its expiry time."""
    common = library("common.azure_arm")
    host, port, secure, _ = place(site.cloud.identity_endpoint or LOGIN)
    end = trusting(site.cloud, site.services.data_dir)(host, port, secure=secure, timeout=timeout_s)
    form = {
        "grant_type": "client_credentials",
        "client_id": user,
        "client_secret": password,
        "resource": "https://management.core.windows.net/",
    }
    headers = {"Content-type": "application/x-www-form-urlencoded"}
    end.request("POST", f"/{tenant}/oauth2/token", body=urlencode(form), headers=headers)
    try:
        answer = common.AzureAuthJsonResponse(end.getresponse(), end).object
    except Exception as error:
        if getattr(error, "code", 0) in (400, 401, 403) or "InvalidCreds" in type(error).__name__:
            text = str(getattr(error, "message", "") or getattr(error, "value", "") or error)
            raise CredentialInvalid(detail=text.partition("\r\n")[0]) from None
        raise
    return str(answer["access_token"]), str(answer["expires_on"])


def version(path: str) -> str:
    """Return the API version for requests to a path."""
    _, _, kind = path.rpartition("/providers/")
    for head, found in _VERSIONS.items():
        if kind != path and kind.startswith(head):
            return found
    return _GROUPS


class Arm:
    """Requests about one subscription and the resource group of one model."""

    def __init__(self, driver: Any, group: str) -> None:
        self._driver = driver
        self.subscription = f"/subscriptions/{driver.subscription_id}"
        self.group = f"{self.subscription}/resourceGroups/{group}"

    def ask(self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None) -> Any:
        """Send one request and return the answer."""
        params = {"api-version": version(path), **(query or {})}
        more = {} if body is None else {"data": body}
        return self._driver.connection.request(path, params=params, method=method, **more).object

    def find(self, path: str) -> Any:
        """Return a resource, or None when there is no such resource."""
        try:
            return self.ask("GET", path)
        except Exception as error:
            if getattr(error, "code", 0) == 404:
                return None
            raise

    def each(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[Any]:
        """Yield the items of a list from all pages; a missing resource group has no items."""
        for _ in range(_MOST_PAGES):
            try:
                answer = self.ask("GET", path, query=query)
            except Exception as error:
                if getattr(error, "code", 0) == 404:
                    return
                raise
            yield from answer["value"]
            if not answer.get("nextLink"):
                return
            split = urlsplit(str(answer["nextLink"]))
            path, query = split.path, dict(parse_qsl(split.query))

    def network(self, kind: str, name: str = "") -> str:
        """Return the path of a network resource in the group."""
        return f"{self.group}/providers/Microsoft.Network/{kind}" + (f"/{name}" if name else "")

    def compute(self, kind: str, name: str = "") -> str:
        """Return the path of a machine or disk in the group."""
        return f"{self.group}/providers/Microsoft.Compute/{kind}" + (f"/{name}" if name else "")
