"""Requests to one LXD server, in threads, each with a connection of its own.

pylxd opens the connection (a socket, or TLS with a pinned certificate); the requests use LXD's REST API
directly.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from pushjuju.core.errors import (
    CredentialInvalid,
    NotFound,
    NotValid,
    ProviderError,
    PushjujuError,
    QuotaExceeded,
)
from pushjuju.core.extras import install_hint
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import Services

T = TypeVar("T")

PARALLEL = 8
REQUEST_S = 60.0  # seconds after which a request without an answer is aborted
OPERATION_S = 900.0  # seconds; an image may have to be downloaded from a remote server
_REASONS = 3
_WAIT_S = 20  # seconds after which the server ends a wait; the wait is then repeated
_SOCKETS = ("/var/snap/lxd/common/lxd/unix.socket", "/var/lib/lxd/unix.socket")
_SERVER = "the LXD server"
_MISSING = "pylxd is not installed"
WITHOUT_LXD = "for machines on this computer without LXD: pushjuju bootstrap local"
_REMOTE = ("server-cert", "client-cert", "client-key")


class Gone(NotFound, ProviderError):
    """The requested object is not on the server; a new attempt may succeed."""


def endpoint(cloud: CloudSpec, environ: Mapping[str, str]) -> str:
    """Return the address of the server: an `https` URL, or the path of its socket."""
    given = cloud.endpoint
    if given.startswith("https://"):
        return given.rstrip("/")
    if given.startswith(("/", "unix://")):
        return given.removeprefix("unix://")
    if given:
        raise NotValid(
            f'endpoint "{given}" of cloud {cloud.name} is neither an https URL nor the path of a socket'
        )
    if environ.get("LXD_SOCKET"):
        return environ["LXD_SOCKET"]
    if environ.get("LXD_DIR"):
        return str(Path(environ["LXD_DIR"]) / "unix.socket")
    return next((path for path in _SOCKETS if Path(path).exists()), _SOCKETS[-1])


def _api() -> Any:
    from pushjuju.plugins.providers.lxd import api  # pylxd may be missing

    return api


def connect(cloud: CloudSpec, credential: Credential, services: Services, project: str) -> Any:
    """Return the root object of a server's API; send no request."""
    try:
        api = _api()
    except ImportError:
        raise ProviderError(
            _MISSING, hint=f"{install_hint('lxd')}\nor, {WITHOUT_LXD}", retryable=False
        ) from None

    place = endpoint(cloud, services.environ)
    if not place.startswith("https://"):
        if not Path(place).is_socket():
            raise ProviderError(
                f"{_SERVER} does not answer", detail=f"no socket {place}", hint=WITHOUT_LXD, retryable=True
            )
        url = f"http+unix://{quote(place, safe='')}"
        return api._APINode(f"{url}/1.0", api.get_session_for_url(url), timeout=REQUEST_S, project=project)
    files = certificate_files(cloud, credential, services.data_dir)
    session = api.get_session_for_url(place, verify=str(files[0]), cert=(str(files[1]), str(files[2])))
    session.proxies = dict(api.get_environ_proxies(place))
    session.trust_env = False  # otherwise REQUESTS_CA_BUNDLE would replace the server's certificate
    return api._APINode(f"{place}/1.0", session, timeout=REQUEST_S, project=project)


def certificate_files(cloud: CloudSpec, credential: Credential, data_dir: Path) -> tuple[Path, Path, Path]:
    """Write the PEM texts of a credential to files that only the owner can read, and return their paths."""
    texts = [credential.attributes.get(name, "") for name in _REMOTE]
    if not all(texts):
        raise CredentialInvalid(
            f"cloud {cloud.name} needs a credential of auth type certificate",
            hint=f"pushjuju add-credential {cloud.name}",
        )
    folder = data_dir / "lxd" / hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths = []
    for name, text in zip(_REMOTE, texts, strict=True):
        path = folder / f"{name}.pem"
        if not path.exists():
            part = folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
            part.touch(mode=0o600)
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        paths.append(path)
    return paths[0], paths[1], paths[2]


class Server:
    """Runs functions in threads; each function sends requests to the server.

    Args:
        connect: Returns the root of the API; called for each function, because threads must not share one.
        cloud: The cloud of the server, for messages.
    """

    def __init__(self, connect: Callable[[], Any], cloud: str) -> None:
        self._connect, self._cloud = connect, cloud
        self._threads = ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="lxd")

    async def run(self, function: Callable[[Api], T]) -> T:
        """Return the result of a function, without blocking the event loop.

        Raises:
            CredentialInvalid: The server does not trust the client's certificate.
            Gone: The object does not exist.
            QuotaExceeded: The quota of the project is used up.
            ProviderError: Anything else, with the server's text.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._guarded, function)

    def _guarded(self, function: Callable[[Api], T]) -> T:
        try:
            root = self._connect()
            with contextlib.closing(root.session):
                return function(Api(root))
        except PushjujuError as error:
            name_in(error, self._cloud)
            raise
        except Exception as error:
            ours = as_ours(error)
            name_in(ours, self._cloud)
            raise ours from error


class Api:
    """The requests to LXD's REST API that pushjuju needs. Blocking. Paths are relative to `/1.0`."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def _node(self, path: str) -> Any:
        node = self._root
        for part in filter(None, path.split("/")):
            node = node[quote(part, safe="")]
        return node

    def get(self, path: str, **params: str) -> Any:
        """Return the `metadata` of the answer to a GET."""
        return self._node(path).get(params=dict(params)).json().get("metadata")

    def change(
        self, method: str, path: str, document: Mapping[str, Any] | None = None, **params: str
    ) -> None:
        """Send a change, and wait until its operation has ended."""
        kwargs: dict[str, object] = {"params": dict(params)}
        if document is not None:
            kwargs["json"] = dict(document)
        answer = getattr(self._node(path), method)(**kwargs).json()
        if answer.get("type") == "async":
            self.wait(str(answer["metadata"]["id"]))

    def reasons(self, instance: str) -> list[str]:
        """Return the first errors in LXC's log of a container that did not start; LXD only names the log."""
        text = ""
        with contextlib.suppress(_api().LXDAPIException, OSError):  # virtual machines have no such log
            text = self._node(f"instances/{instance}/logs/lxc.log").get(is_api=False).text
        found = [line.split(" - ", 2)[-1] for line in text.splitlines() if " ERROR " in line]
        return [line.strip() for line in found[:_REASONS]]

    def wait(self, operation: str) -> None:
        """Wait until an operation has ended.

        Raises:
            ProviderError: The operation failed, or takes too long.
        """
        end = time.monotonic() + OPERATION_S
        while time.monotonic() < end:
            try:
                seen = self.get(f"operations/{operation}/wait", timeout=str(_WAIT_S))
            except Exception as error:
                if isinstance(as_ours(error), Gone):
                    return  # the operation has ended, and LXD has dropped it
                raise
            code = int(seen.get("status_code") or 0)
            if code >= 400:
                raise failed(str(seen.get("err") or seen.get("status") or "unknown"))
            if code >= 200:
                return
        raise ProviderError(f"{_SERVER} takes too long", detail=f"operation {operation}")


def failed(text: str) -> ProviderError:
    if text.startswith("Reached maximum") or "exceeds project" in text.lower():
        return QuotaExceeded(detail=text)
    return ProviderError(f"{_SERVER} failed", detail=text, retryable=True)


def as_ours(error: Exception) -> PushjujuError:
    """Return pushjuju's error for an error of the library; its detail is the server's text."""
    if isinstance(error, PushjujuError):
        return error
    code = int(getattr(getattr(error, "response", None), "status_code", 0) or 0)
    text = str(error) or type(error).__name__
    if code in (401, 403):
        return CredentialInvalid(detail=text)
    if code == 404:
        return Gone(f"not found on the LXD server: {text}")
    if code:
        return failed(text)
    if isinstance(error, OSError):  # the errors of requests are OSErrors, too
        return _no_answer(error)
    return ProviderError(f"{_SERVER} sent an invalid answer", detail=text, retryable=True)


def name_in(error: PushjujuError, cloud: str) -> None:
    """Add the name of the cloud and the next command to an error."""
    if isinstance(error, CredentialInvalid) and error.message == CredentialInvalid.message:
        error.message = f"cloud {cloud} refuses the credential"
        error.hint = f"lxc config trust add    (on the server), then pushjuju update-credential {cloud}"
    error.message = error.message.replace(_SERVER, f"{_SERVER} of {cloud}", 1)


def _no_answer(error: OSError) -> ProviderError:
    """Return the error for a request without an answer, with the innermost error of the library as detail."""
    causes: list[BaseException] = [error]
    while deeper := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(deeper)
    last = causes[-1]
    text = (last.strerror if isinstance(last, OSError) else "") or str(last) or type(last).__name__
    place = unquote(urlsplit(str(getattr(getattr(error, "request", None), "url", ""))).netloc)
    denied = isinstance(last, PermissionError)
    hint = "sudo adduser $USER lxd    then log in again" if denied else ""
    return ProviderError(
        f"{_SERVER} does not answer", detail=f"{place}: {text}" if place else text, hint=hint, retryable=True
    )


def ignore_gone(ask: Callable[[], Any]) -> Any:
    """Return the result of a request, or None when the object does not exist."""
    try:
        return ask()
    except Exception as error:
        code = getattr(getattr(error, "response", None), "status_code", 0)
        if code == 404 or "not found" in str(getattr(error, "detail", "")).lower():
            return None
        raise


def settle(api: Api, name: str) -> None:
    """Wait until no operation works on an instance: an earlier request may still be running."""
    running = api.get("operations", recursion="1") or {}
    for item in (item for group in running.values() for item in group):
        touched = (item.get("resources") or {}).get("instances") or ()
        if any(str(path).rpartition("/")[2] == name for path in touched):
            try:
                api.wait(str(item["id"]))
            except ProviderError:
                continue  # the request that started the operation has reported the error


def boot(api: Api, name: str) -> None:
    """Start an instance that does not run; the error has what LXD says of the reasons."""
    settle(api, name)
    if api.get(f"instances/{name}").get("status") != "Running":
        try:
            api.change("put", f"instances/{name}/state", {"action": "start", "timeout": -1})
        except ProviderError as error:
            raise failed("; ".join((error.detail, *api.reasons(name)))) from error


def halt(api: Api, name: str) -> None:
    """Stop an instance at once, without its services' own end."""
    if api.get(f"instances/{name}").get("status") == "Stopped":
        return
    try:
        api.change("put", f"instances/{name}/state", {"action": "stop", "force": True, "timeout": -1})
    except Exception as error:
        if "already stopped" not in f"{error} {getattr(error, 'detail', '')}":
            raise
