"""Requests to CloudStack's API: signed forms over libcloud's connection, paged lists, jobs. Blocking."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.values import regex
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, place, secret

_GONE = regex(r"entity does not exist|unable to find", re.IGNORECASE)
_REFUSALS = range(531, 538)  # statuses of refused requests, though 5xx usually means a fault of the server
_ROOT = "/client/api"
_PAGE = 500
_JOB_S, _LOOK_S = 60.0, 0.5
_DONE, _FAILED = 1, 2


def connect(site: Site, timeout_s: float) -> Any:
    """Return a driver whose requests `ask` signs; send no request."""
    key, hidden = secret(site, "api-key", "secret-key")
    common, module = library("common.cloudstack"), library("compute.drivers.cloudstack")
    errors = library("common.exceptions")
    host, port, secure, path = place(site.cloud.endpoint)
    if not host:
        raise NotValid(f"cloud {site.cloud.name} has no endpoint: its API's URL, such as .../client/api")

    class Response(common.CloudStackResponse):  # type: ignore[misc, name-defined]
        def parse_error(self) -> Any:
            said = vars(self)
            code, text = reason(int(said["status"]), said.get("body"))
            raise errors.exception_from_message(code=code, message=text, headers=dict(said["headers"]))

    class Connection(common.CloudStackConnection):  # type: ignore[misc, name-defined]
        responseCls = Response  # noqa: N815 - libcloud's name

        def add_default_params(self, params: Any) -> Any:
            return params

        def pre_connect_hook(self, params: Any, headers: Any) -> Any:
            return params, headers

    class Driver(module.CloudStackNodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815

    driver = Driver(key, hidden, secure=secure, host=host, port=port, path=path or _ROOT)
    lead(driver.connection, site, timeout_s)
    driver.connection.request_path = ""
    return driver


def ask(driver: Any, command: str, **wanted: str) -> Any:
    """Return the answer to a command; all parameters are in a signed form."""
    connection = driver.connection
    form = {**wanted, "command": command, "response": "json", "apiKey": connection.user_id}
    form["signature"] = signature(form, connection.key)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = connection.request(driver.path, data=form, headers=kind, method="POST").object
    return answer[f"{command.lower()}response"]


def signature(form: Mapping[str, str], key: str) -> str:
    """Return the signature of a form: sorted names, values as Java encodes them, all in lower case."""
    pairs = sorted((name.lower(), quote(value, safe="*").replace("~", "%7E")) for name, value in form.items())
    text = "&".join(f"{name}={value}" for name, value in pairs).lower()
    return base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha1).digest()).decode()


def every(driver: Any, command: str, key: str, **wanted: str) -> list[Any]:
    """Return all items of a list, from all pages."""
    found: list[Any] = []
    while True:
        page = str(len(found) // _PAGE + 1)
        some = ask(driver, command, **wanted, page=page, pagesize=str(_PAGE)).get(key) or []
        found += some
        if len(some) < _PAGE:
            return found


def zone_of(driver: Any, site: Site) -> str:
    """Return the id of the zone that has the name of the cloud's region."""
    listed = every(driver, "listZones", "zone", available="true")
    for item in listed:
        if site.cloud.region in (item["name"], item["id"]):
            if not item.get("securitygroupsenabled"):
                raise NotValid(f"zone {item['name']} has no security groups, which machines here need")
            return str(item["id"])
    names = ", ".join(sorted(str(item["name"]) for item in listed))
    raise NotValid(f"region {site.cloud.region} is not one of the zones {names}")


def tag(driver: Any, kind: str, name: str, tags: Mapping[str, str]) -> Any:
    """Set the tags of a resource, and return the job."""
    form = {"resourceids": name, "resourcetype": kind}
    for number, (key, value) in enumerate(sorted(tags.items())):
        form |= {f"tags[{number}].key": key[:255], f"tags[{number}].value": value[:255]}
    return ask(driver, "createTags", **form)


def wait(driver: Any, answer: Any) -> None:
    """Wait until a job has ended."""
    end = time.monotonic() + _JOB_S
    while True:
        job = ask(driver, "queryAsyncJobResult", jobid=str(answer["jobid"]))
        if job["jobstatus"] == _DONE:
            return
        if job["jobstatus"] == _FAILED:
            raise ProviderError("the cloud refused the request", detail=failure(job) or "no reason given")
        if time.monotonic() > end:
            raise ProviderError(f"job {answer['jobid']} of the cloud was not done in {_JOB_S:.0f} s")
        time.sleep(_LOOK_S)


def failure(job: Any) -> str:
    """Return why a job failed; empty when the job succeeded or gives no reason."""
    return str((job.get("jobresult") or {}).get("errortext") or "")


def reason(status: int, body: Any) -> tuple[int, str]:
    """Return the status and the text of an error, whose body may not come from the API at all."""
    try:
        (found,) = json.loads(body).values()
        text, code = str(found["errortext"]), int(found.get("errorcode") or status)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return status, "an answer without a reason"
    if code == 431 and _GONE.search(text):
        return 404, text
    return (409 if code in _REFUSALS else code), text
