"""Imports libcloud when it is first needed, and sets the endpoints and certificates of its connections."""

from __future__ import annotations

import hashlib
import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site


def library(module: str) -> Any:
    """Return a module of libcloud by its name, such as `compute.drivers.gce`; libcloud has no types."""
    return import_module(f"libcloud.{module}")


def secret(site: Site, *names: str) -> list[str]:
    """Return the values of these attributes of the credential."""
    found = [site.credential.attributes.get(name, "") for name in names]
    if not all(found):
        raise NotValid(
            f"cloud {site.cloud.name} needs a credential with {', '.join(names)}",
            hint=f"pushjuju add-credential {site.cloud.name}",
        )
    return found


def place(endpoint: str) -> tuple[str, int, bool, str]:
    """Return (host, port, True for TLS, path) of an endpoint; the host is "" when the text has no host."""
    try:
        end = urlsplit(endpoint)
        secure = end.scheme != "http"
        return end.hostname or "", end.port or (443 if secure else 80), secure, end.path.rstrip("/")
    except ValueError:
        raise NotValid(f"not a URL: {endpoint}") from None


def lead(connection: Any, site: Site, timeout_s: float, endpoint: str | None = None) -> None:
    """Set the endpoint, the certificates and the timeout of a connection of libcloud.

    Args:
        endpoint: An endpoint other than the cloud's; an empty text keeps the driver's own endpoint.
    """
    host, port, secure, path = place(site.cloud.endpoint if endpoint is None else endpoint)
    if host:
        connection.host, connection.port, connection.secure = host, port, int(secure)
        connection.request_path = path
    connection.timeout = timeout_s
    connection.conn_class = trusting(site.cloud, site.services.data_dir)
    connection.connection = None  # the next request connects


def trusting(cloud: CloudSpec, data_dir: Path) -> Any:
    """Return a class of connections that trust the cloud's certificates in addition to the system's.

    Args:
        data_dir: The controller's directory, which gets a file with the certificates.
    """
    plain = import_module("libcloud.http").LibcloudConnection
    file = _bundle(cloud, data_dir)
    if not file and not cloud.skip_tls_verify:
        return plain
    if cloud.skip_tls_verify:  # else the library warns at each request that the user turned verification off
        import_module("urllib3").disable_warnings()

    class Trusting(plain):  # type: ignore[misc, valid-type]
        def _setup_verify(self) -> None:
            self.verify = not cloud.skip_tls_verify

        def _setup_ca_cert(self, **_kwargs: Any) -> None:
            self.ca_cert = None if cloud.skip_tls_verify else file

    return Trusting


def _bundle(cloud: CloudSpec, data_dir: Path) -> str:
    """Return a file with the cloud's and the system's certificates; empty for a cloud without its own."""
    if not cloud.ca_certificates:
        return ""
    text = "\n".join([import_module("certifi").contents(), *cloud.ca_certificates])
    file = data_dir / "libcloud" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.pem"
    if not file.exists():
        keep(file, text)
    return str(file)


def keep(file: Path, text: str) -> None:
    """Write a file of the provider atomically, because other threads and processes read it.

    Raises:
        ProviderError: The file cannot be written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
        try:
            with os.fdopen(handle, "w") as stream:
                stream.write(text)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ProviderError(f"cannot write {file}", detail=str(error), retryable=False) from error
