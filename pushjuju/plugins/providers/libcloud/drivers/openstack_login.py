"""Logs in to OpenStack: Keystone v3, with a password or an application credential. Blocking.

libcloud requests a token for each of its six connections, accepts only an id for the project's domain,
requires the usual names of services, and reports a revoked token as a refused credential. Here, all threads
share one token, and a revoked token is replaced.
"""

from __future__ import annotations

import threading
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import library, secret, trusting


class Tokens:
    """The tokens of all connections, in a cache with the three methods that libcloud calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """Return the cached token, or None."""
        with self._lock:
            return self._known.get(key)

    def put(self, key: Any, context: Any) -> None:
        with self._lock:
            self._known[key] = context

    def clear(self, key: Any) -> None:
        with self._lock:
            self._known.pop(key, None)


def is_named(region: str) -> bool:
    """Return True for a region of Keystone; a cloud without regions has the region `default`."""
    return region not in ("", "default")


def auth_body(site: Site) -> dict[str, object]:
    """Return the body of the login request to Keystone."""
    given = site.credential.attributes
    if site.credential.auth_type == "access-key":
        access, key = secret(site, "access-key", "secret-key")
        known: dict[str, object] = {"methods": ["application_credential"]}
        known["application_credential"] = {"id": access, "secret": key}
        return {"auth": {"identity": known}}
    user, password = secret(site, "username", "password")
    common = given.get("domain-name") or "Default"
    project: dict[str, object] = {"id": given.get("tenant-id")}
    if not project["id"]:
        if not given.get("tenant-name"):
            raise NotValid(f"cloud {site.cloud.name} needs a credential with tenant-name or tenant-id")
        project = {
            "name": given["tenant-name"],
            "domain": {"name": given.get("project-domain-name") or common},
        }
    person = {"name": user, "password": password, "domain": {"name": given.get("user-domain-name") or common}}
    identity = {"methods": ["password"], "password": {"user": person}}
    return {"auth": {"identity": identity, "scope": {"project": project}}}


def auth_url(site: Site) -> str:
    """Return Keystone's URL without the version, which libcloud appends."""
    found = (site.cloud.identity_endpoint or site.cloud.endpoint).rstrip("/")
    if not found.startswith(("http://", "https://")):
        raise NotValid(
            f"cloud {site.cloud.name} needs an endpoint: the URL of Keystone, such as https://lab:5000/v3"
        )
    for version in ("/v3", "/v2.0"):
        found = found.removesuffix(version)
    return found


def connect(site: Site, tokens: Tokens, timeout_s: float) -> Any:
    """Return a driver; send no request."""
    body, url = auth_body(site), auth_url(site)
    region = {"ex_force_service_region": site.cloud.region} if is_named(site.cloud.region) else {}
    return _driver_class(site, body)(
        "",
        "",
        ex_force_auth_url=url,
        ex_force_auth_version="3.x_password",
        ex_tenant_name="-",
        ex_auth_cache=tokens,
        timeout=timeout_s,
        **region,
    )


def _driver_class(site: Site, body: dict[str, object]) -> Any:
    openstack = library("compute.drivers.openstack")
    mixin = _connection_class(site, body)

    def ours(name: str) -> Any:
        plain = getattr(openstack, name)
        # Services are found by their type, because their names differ between clouds.
        return type(name, (mixin, plain), {"service_name": None, "service_region": None})

    return type(
        "Driver",
        (openstack.OpenStack_2_NodeDriver,),
        {
            "connectionCls": ours("OpenStack_2_Connection"),
            "image_connectionCls": ours("OpenStack_2_ImageConnection"),
            "network_connectionCls": ours("OpenStack_2_NetworkConnection"),
            "volumev2_connectionCls": ours("OpenStack_2_VolumeV2Connection"),
            "volumev3_connectionCls": ours("OpenStack_2_VolumeV3Connection"),
        },
    )


def _connection_class(site: Site, body: dict[str, object]) -> Any:
    identity = library("common.openstack_identity")

    class Identity(identity.OpenStackIdentity_3_0_Connection):  # type: ignore[misc, name-defined]
        def _get_auth_data(self) -> dict[str, object]:
            return body

    class Common:
        conn_class = trusting(site.cloud, site.services.data_dir)

        def get_auth_class(self) -> Any:
            mine: Any = self
            if not mine._osa:
                mine._osa = Identity(
                    auth_url=auth_url(site),
                    user_id="",
                    key="",
                    token_scope="unscoped",  # noqa: S106 - libcloud's word; the body has the scope
                    timeout=mine.timeout,
                    proxy_url=mine.proxy_url,
                    parent_conn=self,
                    auth_cache=mine._ex_auth_cache,
                )
            return mine._osa

        def request(self, *args: Any, **kwargs: Any) -> Any:
            above: Any = super()
            try:
                return above.request(*args, **kwargs)
            except Exception as error:
                if type(error).__name__ != "BaseHTTPError" or getattr(error, "code", 0) != 401:
                    raise
            return above.request(*args, **kwargs)  # the token was revoked, and libcloud has dropped it

    return Common
