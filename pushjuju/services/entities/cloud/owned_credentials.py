"""Whose a stored credential is.

A credential of the controller's owner is stored under its name, a credential of another user under
`OWNER/NAME`. This key stands in `credentials.toml` and in a model's row.
Mirrors: juju names CloudCredentialTag, `cloud/owner/name` (3.6)
"""

from __future__ import annotations

from pushjuju.core.clouds import CloudCredentials
from pushjuju.services.entities.basis.context import DEFAULT_USER


def key_of(owner: str, name: str) -> str:
    """Return the key under which a user's credential is stored."""
    return name if owner == DEFAULT_USER or not name else f"{owner}/{name}"


def parts_of(key: str) -> tuple[str, str]:
    """Return the owner and the name of a stored credential."""
    owner, _, name = key.rpartition("/")
    return owner or DEFAULT_USER, name


def of_owner(stored: CloudCredentials, owner: str) -> CloudCredentials:
    """Return the credentials of one user, by their names without the owner."""
    own = {parts_of(key)[1]: item for key, item in stored.credentials.items() if parts_of(key)[0] == owner}
    return CloudCredentials(
        default_credential=stored.default_credential if owner == DEFAULT_USER else "",
        default_region=stored.default_region,
        credentials=own,
    )
