"""The client of a Vault: key-value engine, version 2, over HTTP.

Errors name the request and quote the server's reasons; they never contain the token or the content of a
secret.
"""

from __future__ import annotations

import http.client
import json
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pushjuju.core.errors import BackendError, NotFound, NotValid

TIMEOUT_S = 10.0
MOST = 16 * 1024 * 1024  # bytes of an answer of the server
FOLDER = "pushjuju"  # the folder below the mount path that has the controller's secrets


class Vault:
    """One Vault. Every method sends one or two requests and waits for the answers."""

    def __init__(self, config: Mapping[str, str]) -> None:
        """Read the configuration; send no request."""
        self._config = dict(config)
        parts = urlsplit(config["endpoint"])
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise NotValid("invalid provider config: endpoint: expected a URL such as https://vault:8200")
        self._secure, self._host = parts.scheme == "https", parts.hostname
        self._port = parts.port or (8200 if self._secure else 80)
        self._base = parts.path.rstrip("/")
        self._mount = quote((config.get("mount-path") or "secret").strip("/"))

    def ping(self) -> None:
        """Check that the server answers, accepts the token, and has the engine."""
        self._ask("GET", "auth/token/lookup-self")
        found = self._ask("GET", f"sys/internal/ui/mounts/{self._mount}") or {}
        options = (found.get("data") or {}).get("options") or {}
        if str(options.get("version")) != "2":
            raise BackendError(f"vault: {self._mount} is not a key-value engine of version 2")

    def save(self, path: str, content: Mapping[str, str]) -> None:
        """Store content at a path; it replaces an older version."""
        self._ask("POST", self._path("data", path), {"data": dict(content)})

    def fetch(self, path: str) -> Mapping[str, str]:
        found = self._ask("GET", self._path("data", path))
        data = ((found or {}).get("data") or {}).get("data")
        if data is None:
            raise NotFound(f"vault: nothing at {path}")
        if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
            raise BackendError(f"vault: {path} holds no secret of pushjuju")
        return dict(data)

    def delete(self, path: str) -> None:
        """Delete all versions of the content at a path."""
        self._ask("DELETE", self._path("metadata", path))

    # --- requests -----------------------------------------------------------------------------------------

    def _path(self, part: str, path: str) -> str:
        return f"{self._mount}/{part}/{FOLDER}/{quote(path)}"

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Send a request and return the answer's document, or None when nothing is at the path."""
        what = f"vault: {method} {path}"
        try:
            status, text = self._send(method, path, body)
        except (OSError, http.client.HTTPException, ssl.SSLError, UnicodeError) as error:
            raise BackendError(f"{what}: {_reason(error)}") from None
        if status == http.HTTPStatus.NOT_FOUND:
            return None
        if status >= http.HTTPStatus.MULTIPLE_CHOICES:
            raise BackendError(f"{what}: {status} {_errors(text)}".rstrip())
        try:
            found = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise BackendError(f"{what}: the answer is not a JSON object")
        return found

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        connection = self._connect()
        headers = {"X-Vault-Token": self._config["token"], "X-Vault-Request": "true"}
        if namespace := self._config.get("namespace"):
            headers["X-Vault-Namespace"] = namespace
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, f"{self._base}/v1/{path}", body=data, headers=headers)
            answer = connection.getresponse()
            text = answer.read(MOST + 1)
            if len(text) > MOST:
                raise http.client.HTTPException("the answer is too large")
            return answer.status, text
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if not self._secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT_S)
        context = ssl.create_default_context(cadata=self._config.get("ca-cert") or None)
        if self._config.get("client-cert"):
            _load_identity(context, self._config["client-cert"], self._config.get("client-key", ""))
        name = self._config.get("tls-server-name") or self._host
        return _Named(self._host, self._port, timeout=TIMEOUT_S, context=context, name=name)


class _Named(http.client.HTTPSConnection):
    """An HTTPS connection to a server whose certificate may have another name than its address."""

    def __init__(self, host: str, port: int, *, timeout: float, context: ssl.SSLContext, name: str) -> None:
        super().__init__(host, port, timeout=timeout, context=context)
        self._tls, self._name = context, name

    def connect(self) -> None:
        """Connect, and check the certificate against the configured name."""
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


def _load_identity(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load certificate and key. Python's ssl only reads files, so a temporary file exists for a moment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "identity.pem")
        path.touch(mode=0o600)
        path.write_text(f"{certificate}\n{key}\n")
        context.load_cert_chain(path)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__


def _errors(text: bytes) -> str:
    """Return the server's reasons for a refusal, and nothing of the request."""
    try:
        found = json.loads(text).get("errors")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return "; ".join(str(item).strip() for item in found)[:500] if isinstance(found, list) else ""
