"""Exchanges a trust token for a certificate that the LXD server trusts. Blocking.

The token (`lxc config trust add`) contains the fingerprint of the server's certificate, so that no other
server gets the token. Mirrors: juju provider/lxd/credentials.go, finalizeToken (3.6)
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import ssl
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pushjuju.core.errors import CredentialInvalid, NotValid, ProviderError

TOKEN = "trust-token"  # noqa: S105 - the attribute's name
PORT = 8443
_TIMEOUT_S = 30.0
_VALID_DAYS = 3650
_NEW = "lxc config trust add    (on that server) makes a token"


def fingerprint_of(token: str) -> str:
    """Return the fingerprint in a trust token, which identifies the server's certificate."""
    try:
        found = json.loads(base64.b64decode(token.strip(), validate=True))["fingerprint"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotValid("the text is not a trust token of LXD", hint=_NEW) from None
    return str(found).lower()


def trusted(endpoint: str, token: str) -> dict[str, str]:
    """Make a certificate, let the server trust it, and return the attributes of a credential."""
    wanted, place = fingerprint_of(token), urlsplit(endpoint)
    if place.scheme != "https" or not place.hostname:
        raise NotValid("a trust token is for a server with an https endpoint", hint="pushjuju add-cloud")
    address = (place.hostname, place.port or PORT)
    try:
        server = ssl.get_server_certificate(address, timeout=_TIMEOUT_S)
        seen = hashlib.sha256(ssl.PEM_cert_to_DER_cert(server)).hexdigest()
        if not hmac.compare_digest(seen, wanted):
            raise CredentialInvalid(f"{endpoint} is not the server that issued the trust token", hint=_NEW)
        certificate, key = _new_pair()
        _register(address, server, certificate, key, token.strip())
    except OSError as error:
        raise ProviderError(
            f"the LXD server {endpoint} does not answer", detail=error.strerror or str(error), retryable=True
        ) from error
    return {"server-cert": server, "client-cert": certificate, "client-key": key}


def _register(address: tuple[str, int], server: str, certificate: str, key: str, token: str) -> None:
    context = ssl.create_default_context(cadata=server)
    context.check_hostname = False  # the fingerprint of the certificate is checked instead
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_text(certificate + key, encoding="utf-8")
        context.load_cert_chain(pair)
    document = {"type": "client", "name": "pushjuju", "password": token}
    connection = http.client.HTTPSConnection(*address, context=context, timeout=_TIMEOUT_S)
    with contextlib.closing(connection):
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/1.0/certificates", json.dumps(document), headers)
        answer = connection.getresponse()
        text = answer.read(65536)
    if answer.status >= 300:
        raise CredentialInvalid(
            "the LXD server refuses the trust token: it was used already, or has expired",
            detail=_said(text),
            hint=_NEW,
        )


def _said(text: bytes) -> str:
    try:
        return str(json.loads(text).get("error") or "")
    except (ValueError, AttributeError, RecursionError):
        return ""


def _new_pair() -> tuple[str, str]:
    """Return a self-signed certificate and its key, as PEM texts."""
    key = ec.generate_private_key(ec.SECP384R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "pushjuju")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=_VALID_DAYS))
        .sign(key, hashes.SHA384())
    )
    private: Any = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def finalized(endpoint: str, attributes: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Exchange the trust token of an `interactive` credential; return (auth type, attributes) to store."""
    return "certificate", trusted(endpoint, attributes.get(TOKEN, ""))
