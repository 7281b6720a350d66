"""Logs in to Google Compute Engine with a service account. Blocking.

libcloud stores its token in the home directory, in a file named after the project only, and requests a token
for each driver. Here, a token stays in memory, belongs to one credential, and serves all threads. It is
requested from the URL that the account's key names.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from pushjuju.core.errors import CredentialInvalid, NotValid
from pushjuju.plugins.providers.libcloud import keyfiles
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, secret

TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
SCOPE = "https://www.googleapis.com/auth/compute"
_LIFETIME_S = 3600
_GRACE_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A service account."""

    email: str
    project: str
    key: str = field(repr=False)
    token_uri: str = TOKEN_URI


def account(site: Site) -> Account:
    """Return the service account of a credential.

    Raises:
        NotValid: The credential is incomplete; the message contains none of its values.
    """
    if site.credential.auth_type == "oauth2":
        email, key, project = secret(site, "client-email", "private-key", "project-id")
        found: Mapping[str, str] = {
            "client_email": email,
            "private_key": key.replace("\\n", "\n"),
            "project_id": project,
        }
    else:
        found = _from_file(site, *secret(site, "file"))
    try:
        return Account(
            email=str(found["client_email"]),
            project=str(found["project_id"]),
            key=str(found["private_key"]),
            token_uri=str(site.cloud.identity_endpoint or found.get("token_uri") or TOKEN_URI),
        )
    except KeyError as missing:
        raise NotValid(f"the key file of cloud {site.cloud.name} has no {missing}") from None


def _from_file(site: Site, value: str) -> Mapping[str, str]:
    """Return the content of a key file, for its path or its text."""
    try:
        return keyfiles.read(value)
    except NotValid as error:
        raise NotValid(
            f"the credential of cloud {site.cloud.name} is {error.message}", hint=error.hint
        ) from None


class Token:
    """The token of an account, which threads share; libcloud reads `access_token`."""

    def __init__(self, site: Site, who: Account, timeout_s: float) -> None:
        self._site = site
        self._who = who
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._text = ""
        self._until = 0.0

    @property
    def access_token(self) -> str:
        """Return a token that stays valid for a while; request a new one when needed."""
        with self._lock:
            if time.time() > self._until - _GRACE_S:
                found = self._new()
                self._text = str(found["access_token"])
                self._until = time.time() + float(found.get("expires_in") or _LIFETIME_S)
            return self._text

    def forget(self, text: str) -> None:
        """Drop the given token, so that a new one is requested, unless another thread has replaced it."""
        with self._lock:
            if self._text == text:
                self._until = 0.0

    def _new(self) -> Mapping[str, Any]:
        google = library("common.google")
        connection = google.GoogleBaseAuthConnection("", "")
        lead(connection, self._site, self._timeout_s, self._who.token_uri)
        connection.request_path = ""
        body = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": assertion(self._who, int(time.time())),
        }
        path = urlsplit(self._who.token_uri).path
        try:
            answer: Mapping[str, Any] = connection.request(path, method="POST", data=urlencode(body)).object
        except google.GoogleBaseError as error:
            if error.http_code in (400, 401, 403):
                raise CredentialInvalid(detail=str(error.value)) from None
            raise
        return answer


def assertion(who: Account, now: int) -> str:
    """Return the signed claim, a JWT, with which a token is requested."""
    try:
        key = load_pem_private_key(who.key.encode(), password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise NotValid(f"the private key of {who.email} is not an RSA key in PEM form")
    claims = {"iss": who.email, "scope": SCOPE, "aud": who.token_uri, "iat": now, "exp": now + _LIFETIME_S}
    signed = ".".join(_part(json.dumps(item).encode()) for item in ({"alg": "RS256", "typ": "JWT"}, claims))
    return f"{signed}.{_part(key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def _part(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def connect(site: Site, who: Account, token: Token, timeout_s: float) -> Any:
    """Return a driver; send no request."""
    gce = library("compute.drivers.gce")
    base = library("common.base")

    class Connection(gce.GCEConnection):  # type: ignore[misc, name-defined]
        def __init__(self, user_id: str, key: str, secure: bool, **kwargs: Any) -> None:
            for name in ("auth_type", "credential_file", "scopes", "project"):
                kwargs.pop(name, None)
            base.ConnectionUserAndKey.__init__(self, user_id, key, secure=secure, **kwargs)
            self.oauth2_credential = token
            self.gce_params = None

        def request(self, *args: Any, **kwargs: Any) -> Any:
            used = token.access_token
            try:
                return super().request(*args, **kwargs)
            except gce.GoogleBaseError as error:
                if error.http_code != 401:
                    raise
                token.forget(used)  # the token was revoked
            return super().request(*args, **kwargs)

    class Driver(gce.GCENodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815 - libcloud's name

    driver = Driver(who.email, "", project=who.project, auth_type="SA", credential_file="-")
    lead(driver.connection, site, timeout_s)
    prefix = urlsplit(site.cloud.endpoint).path.rstrip("/").removesuffix("/compute/v1")
    driver.connection.request_path = f"{prefix}/compute/v1/projects/{who.project}"
    return driver
