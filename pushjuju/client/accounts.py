"""What this client knows of controllers on other computers: addresses, CA, user and password.

Mirrors: juju jujuclient controllers.yaml, accounts.yaml, models.yaml (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from pushjuju.core.errors import NotPermitted
from pushjuju.services.requests.user import registration_string
from pushjuju.store.datadir import DataDir

_OLD, _NEW = 8, 64  # known addresses that are kept although a login does not name them, and named addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user's access to a controller on another computer."""

    name: str
    uuid: str
    addresses: tuple[str, ...]  # `HOST:PORT` of the API, each
    ca: str  # the certificate of the controller's CA, as PEM
    user: str
    password: str = ""  # empty when the user has logged out
    current_model: str = ""  # `owner/model`, or empty
    access: str = ""  # the user's access to the controller at the last login
    version: str = ""  # the version of the controller at the last login
    # `owner/model` -> UUID of models that commands have used
    models: Mapping[str, str] = field(default_factory=dict)
    folder: DataDir | None = None  # where the account is kept; None before it is kept

    def require_password(self) -> None:
        """Raise NotPermitted when the user has logged out."""
        if not self.password:
            raise NotPermitted(
                f'{self.user} is not logged in to controller "{self.name}"',
                hint=f"pushjuju login -c {self.name}    logs in",
            )


def find(folder: DataDir, name: str) -> Account:
    """Return the account of a controller that is in `folder.remotes()`."""
    known: Mapping[str, Any] = folder.remote(name)
    return Account(
        name=name,
        uuid=str(known.get("uuid", "")),
        addresses=tuple(str(item) for item in known.get("addresses", ())),
        ca=str(known.get("ca", "")),
        user=str(known.get("user", "")),
        password=str(known.get("password", "")),
        current_model=str(known.get("current-model", "")),
        access=str(known.get("access", "")),
        version=str(known.get("version", "")),
        models=dict(known.get("models", {})),
        folder=folder,
    )


def save(folder: DataDir, account: Account) -> None:
    """Record an account; its file is readable for its owner only."""

    def change(document: MutableMapping[str, Any]) -> None:
        document.clear()
        document.update(
            {
                "uuid": account.uuid,
                "addresses": list(account.addresses),
                "ca": account.ca,
                "user": account.user,
                "password": account.password,
                "current-model": account.current_model,
                "access": account.access,
                "version": account.version,
                "models": dict(account.models),
            }
        )

    folder.change_remote(account.name, change)


def with_servers(account: Account, login: Mapping[str, Any]) -> Account:
    """Return the account with all addresses that the answer to a login names, and keep them.

    So later commands find another host of the controller when the first is gone.
    """
    known = tuple(dict.fromkeys([*account.addresses[:_OLD], *_named(login)[:_NEW]]))
    if known != account.addresses and account.folder is not None:
        account.folder.change_remote(account.name, lambda document: document.update(addresses=list(known)))
    return replace(account, addresses=known)


def _named(login: Mapping[str, Any]) -> list[str]:
    """Return the addresses that a login names; none for servers in another form than Juju's."""
    try:
        return [
            registration_string.address_text(str(item["value"]), int(item["port"]))
            for group in login.get("servers") or ()
            for item in group
            if item["scope"] != "local-machine"
        ]
    except (KeyError, TypeError, ValueError):
        return []


def remember(folder: DataDir, name: str, model: str, uuid: str) -> None:
    """Record the UUID of a model of a controller."""
    folder.change_remote(name, lambda document: document.setdefault("models", {}).update({model: uuid}))
