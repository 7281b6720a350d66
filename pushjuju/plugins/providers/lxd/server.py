"""Requests to one LXD server: in threads, a connection each.

pylxd makes the connection (socket or TLS with a pinned certificate); what is asked is LXD's own REST API.
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
REQUEST_S = 60.0  # until a request without an answer is given up
OPERATION_S = 900.0  # an image may have to be downloaded from a remote server
_REASONS = 3
_WAIT_S = 20  # the server answers a wait at the latest then
_SOCKETS = ("/var/snap/lxd/common/lxd/unix.socket", "/var/lib/lxd/unix.socket")
_SERVER = "the LXD server"
_MISSING = "pylxd is not installed"
WITHOUT_LXD = "for machines on this computer without LXD: pushjuju bootstrap local"
_REMOTE = ("server-cert", "client-cert", "client-key")


class Gone(NotFound, ProviderError):
    """What was asked for is not on the server; a new try may mend that."""


def endpoint(cloud: CloudSpec, environ: Mapping[str, str]) -> str:
    """Return where the server is: an `https` address, or the path of its socket."""
    given = cloud.endpoint
    if given.startswith("https://"):
        return given.rstrip("/")
    if given.startswith(("/", "unix://")):
        return given.removeprefix("unix://")
    if given:
        raise NotValid(
            f'endpoint "{given}" of cloud {cloud.name} is no https address and no path of a socket'
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
    """Return the root of a server's API; makes no request."""
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
    session.trust_env = False  # else REQUESTS_CA_BUNDLE would take the place of the server's certificate
    return api._APINode(f"{place}/1.0", session, timeout=REQUEST_S, project=project)


def certificate_files(cloud: CloudSpec, credential: Credential, data_dir: Path) -> tuple[Path, Path, Path]:
    """Write the PEM texts of a credential into files that only the owner reads, and return their paths."""
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
    """Runs functions that talk to a server in threads.

    Args:
        connect: Returns the root of the API; called for each function, as no two threads may share one.
        cloud: The cloud of the server, for messages.
    """

    def __init__(self, connect: Callable[[], Any], cloud: str) -> None:
        self._connect, self._cloud = connect, cloud
        self._threads = ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="lxd")

    async def run(self, function: Callable[[Api], T]) -> T:
        """Return what a function returns; the event loop goes on meanwhile.

        Raises:
            CredentialInvalid: The server does not trust us.
            Gone: The object does not exist.
            QuotaExceeded: The project may have no more.
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
    """The part of LXD's REST API that pushjuju needs; blocks. Paths are relative to `/1.0`."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def _node(self, path: str) -> Any:
        node = self._root
        for part in filter(None, path.split("/")):
            node = node[quote(part, safe="")]
        return node

    def get(self, path: str, **params: str) -> Any:
        """Return the metadata of an answer."""
        return self._node(path).get(params=dict(params)).json().get("metadata")

    def change(
        self, method: str, path: str, document: Mapping[str, Any] | None = None, **params: str
    ) -> None:
        """Ask for a change and wait until it is made."""
        kwargs: dict[str, object] = {"params": dict(params)}
        if document is not None:
            kwargs["json"] = dict(document)
        answer = getattr(self._node(path), method)(**kwargs).json()
        if answer.get("type") == "async":
            self.wait(str(answer["metadata"]["id"]))

    def reasons(self, instance: str) -> list[str]:
        """Return what LXC's own log says first of why a container did not start; LXD names the log only."""
        text = ""
        with contextlib.suppress(_api().LXDAPIException, OSError):  # a virtual machine has no such log
            text = self._node(f"instances/{instance}/logs/lxc.log").get(is_api=False).text
        found = [line.split(" - ", 2)[-1] for line in text.splitlines() if " ERROR " in line]
        return [line.strip() for line in found[:_REASONS]]

    def wait(self, operation: str) -> None:
        """Wait until an operation ended.

        Raises:
            ProviderError: It failed, or takes too long.
        """
        end = time.monotonic() + OPERATION_S
        while time.monotonic() < end:
            try:
                seen = self.get(f"operations/{operation}/wait", timeout=str(_WAIT_S))
            except Exception as error:
                if isinstance(as_ours(error), Gone):
                    return  # over, and forgotten
                raise
            code = int(seen.get("status_code") or 0)
            if code >= 400:
                raise failed(str(seen.get("err") or seen.get("status") or "unknown"))
            if code >= 200:
                return
        raise ProviderError(f"{_SERVER} takes too long", detail=f"operation {operation}")


def failed(text: str) -> ProviderError:
    """Return the error for a text of the server's."""
    if text.startswith("Reached maximum") or "exceeds project" in text.lower():
        return QuotaExceeded(detail=text)
    return ProviderError(f"{_SERVER} failed", detail=text, retryable=True)


def as_ours(error: Exception) -> PushjujuError:
    """Return an error of the library as an error of pushjuju, with the server's own text as its detail."""
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
    if isinstance(error, OSError):  # those of requests are, too
        return _no_answer(error)
    return ProviderError(f"{_SERVER} gave an answer without sense", detail=text, retryable=True)


def name_in(error: PushjujuError, cloud: str) -> None:
    """Say in an error whose server it is, and what to type next."""
    if isinstance(error, CredentialInvalid) and error.message == CredentialInvalid.message:
        error.message = f"cloud {cloud} refuses the credential"
        error.hint = f"lxc config trust add    (on the server), then pushjuju update-credential {cloud}"
    error.message = error.message.replace(_SERVER, f"{_SERVER} of {cloud}", 1)


def _no_answer(error: OSError) -> ProviderError:
    """Return what a request without an answer ended with: what is below the layers of the library."""
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
    """Return what a request returns, or None when the object does not exist."""
    try:
        return ask()
    except Exception as error:
        code = getattr(getattr(error, "response", None), "status_code", 0)
        if code == 404 or "not found" in str(getattr(error, "detail", "")).lower():
            return None
        raise
