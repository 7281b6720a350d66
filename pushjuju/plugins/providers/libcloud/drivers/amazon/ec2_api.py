"""Requests to EC2's API through libcloud's connection, where libcloud's own calls do not suit every server.

Blocking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pushjuju.core.errors import NotValid
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, secret

MOST_ADDRESS = 4000  # bytes of a request's URL that every server accepts
ALIVE = ["pending", "running", "stopping", "stopped"]
_NAMESPACE = re.compile(rb'xmlns="http://ec2\.amazonaws\.com/doc/[^"]*"')


def connect(site: Site, timeout_s: float) -> Any:
    """Return a driver; send no request."""
    ec2 = library("compute.drivers.ec2")
    keys = secret(site, "access-key", "secret-key")

    class Response(ec2.EC2Response):  # type: ignore[misc, name-defined]
        def parse_body(self) -> Any:
            own = f'xmlns="{ec2.NAMESPACE}"'.encode()
            self.body = _NAMESPACE.sub(own, _bytes(vars(self)["body"])).decode()
            return super().parse_body()

        def parse_error(self) -> Any:
            """Return the error text of an answer, even if the answer differs from Amazon's form."""
            return said(_bytes(vars(self)["body"])) or super().parse_error()

    class Connection(ec2.EC2Connection):  # type: ignore[misc, name-defined]
        responseCls = Response  # noqa: N815 - libcloud's name

        def request(self, action: str, params: Any = None, **more: Any) -> Any:
            """Send a request that is too long for a URL (user data) as a form."""
            form = urlencode({**(params or {}), "Version": self.version})
            if len(form) <= MOST_ADDRESS or more:
                return super().request(action, params=params, **more)
            headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
            return super().request(action, data=form, headers=headers, method="POST")

    class Driver(ec2.EC2NodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815

    try:
        driver = Driver(*keys, region=site.cloud.region, signature_version="4")
    except ValueError as error:
        raise NotValid(f"cloud {site.cloud.name}: {error}") from None
    lead(driver.connection, site, timeout_s)
    return driver


def _bytes(body: str | bytes) -> bytes:
    return body.encode() if isinstance(body, str) else body


def said(body: bytes) -> str:
    """Return `Code: message` of an answer that reports an error; empty for any other answer."""
    try:
        found = ElementTree.fromstring(body)  # noqa: S314 - libcloud parses all answers so
    except ElementTree.ParseError:
        return ""
    words = {item.tag.rpartition("}")[2]: (item.text or "").strip() for item in found.iter()}
    return f"{words['Code']}: {words.get('Message', '')}" if words.get("Code") else ""


def ask(driver: Any, action: str, params: Mapping[str, str] | None = None) -> Any:
    """Return the document that the cloud answers to an action of the API."""
    return driver.connection.request(driver.path, params={"Action": action, **(params or {})}).object


def every(element: Element, path: str) -> list[Element]:
    """Return the elements at a path below an element, in any namespace."""
    return element.findall("/".join(f"{{*}}{step}" for step in path.split("/")))


def text(element: Element, path: str) -> str:
    """Return the text of the first element at a path; empty when there is none."""
    return next((item.text or "" for item in every(element, path)), "")


def tags_as(head: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the request parameters of tags. libcloud counts them from 0, which not every server accepts."""
    pairs = [(f"{head}.{number}", item) for number, item in enumerate(sorted(tags.items()), 1)]
    return {f"{name}.{part}": item[part == "Value"] for name, item in pairs for part in ("Key", "Value")}


def tag(driver: Any, resource: str, tags: Mapping[str, str]) -> None:
    ask(driver, "CreateTags", {"ResourceId.1": resource, **tags_as("Tag", tags)})


def nodes(driver: Any, filters: Mapping[str, Any]) -> list[Any]:
    """Return the matching instances that are not terminated."""
    return list(driver.list_nodes(ex_filters={**filters, "instance-state-name": ALIVE}))


def terminate(driver: Any, ids: Sequence[str]) -> None:
    """End instances. When one of several does not exist any more, EC2 ends none of them."""
    if ids:
        ask(
            driver, "TerminateInstances", {f"InstanceId.{number}": name for number, name in enumerate(ids, 1)}
        )
