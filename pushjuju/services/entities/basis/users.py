"""Users of a controller, and the access that they have to its entities.

A user who can read the data directory works the controller as admin, without a password. Other users log in
to the API (`pushjuju/web`), with the access that this module keeps.

Mirrors: juju apiserver/facades/client/usermanager, core/permission (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pushjuju.core.errors import NotFound, NotPermitted, NotValid, not_found
from pushjuju.core.values import regex
from pushjuju.services.entities.basis.context import DEFAULT_USER
from pushjuju.store.rows.user_records import Person
from pushjuju.store.tx import Tx

_NAME = regex(r"[a-zA-Z0-9](?:[a-zA-Z0-9.+-]*[a-zA-Z0-9])?")
EVERYONE = "everyone@external"  # all external users
EVERYONES = "read"  # the access of external users to every offer, unless it was revoked
_LOCAL = "@local"
_LONGEST = 255


class NoAccess(NotFound):
    """The user whose access is to be revoked has none."""


class Kind(StrEnum):
    """The kind of entity that access is granted to."""

    CONTROLLER = "controller"
    CLOUD = "cloud"
    MODEL = "model"
    OFFER = "offer"


# Each level includes the levels before it.
LEVELS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONTROLLER: ("login", "superuser"),
    Kind.CLOUD: ("add-model", "admin"),
    Kind.MODEL: ("read", "write", "admin"),
    Kind.OFFER: ("read", "consume", "admin"),
}


# --- users ------------------------------------------------------------------------------------------------


def is_name(text: str) -> bool:
    """Return True when a text can name a local user."""
    return len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def canonical(text: str) -> str:
    """Return a user's name as it is stored: `kim`, or `bob@external` for a user of an identity provider.

    Mirrors: juju names user.go (v5)
    """
    name, at, domain = text.removesuffix(_LOCAL).partition("@")
    if len(text) > _LONGEST or not is_name(name) or (at and not is_name(domain)):
        raise NotValid(f'invalid username: "{text}"')
    return name + at + domain


def is_external(name: str) -> bool:
    """Return True when an identity provider knows the user: such users are not added, only granted access."""
    return "@" in name


def exists(tx: Tx, name: str) -> bool:
    """Return True when a user has the name."""
    return name == DEFAULT_USER or tx.find(Person, "person_get", name=name) is not None


def require(tx: Tx, name: str) -> None:
    """Check that a user has the name."""
    if not exists(tx, name):
        raise not_found("user", name)


def require_or_external(tx: Tx, name: str) -> None:
    """Raise NotFound for a local user who does not exist; any external name is allowed.

    Mirrors: juju state/useraccess.go addUserAccess (3.6)
    """
    if not is_external(name):
        require(tx, name)


# --- access -----------------------------------------------------------------------------------------------


def access_to(tx: Tx, kind: Kind, target: str) -> dict[str, str]:
    """Return user -> level for a model, a cloud or an offer."""
    return {row["person"]: row["level"] for row in tx.rows("access_list", kind=kind, target=target)}


def targets_of(tx: Tx, person: str, kind: Kind) -> dict[str, str]:
    """Return the entities of a kind that a user has access to: target -> level."""
    return {row["target"]: row["level"] for row in tx.rows("access_of_person", kind=kind, person=person)}


def grant(tx: Tx, person: str, level: str, kind: Kind, target: str) -> None:
    """Grant a user access to an entity; `target` is its UUID or name, or empty for the controller."""
    person = canonical(person)
    require_or_external(tx, person)
    levels = LEVELS[kind]
    present = level_of(tx, person, kind, target)
    if present and levels.index(present) >= levels.index(level):
        raise NotValid(f'could not grant {kind} access: user already has "{level}" access or greater')
    tx.run("access_set", kind=kind, target=target, person=person, level=level)


def revoke(tx: Tx, person: str, level: str, kind: Kind, target: str) -> None:
    """Revoke a level of access and all levels above it; the user keeps the level below."""
    person = canonical(person)
    require_or_external(tx, person)
    if person == DEFAULT_USER:
        raise NotPermitted(f"could not revoke {kind} access: {person} is the owner of this controller")
    levels = LEVELS[kind]
    present = level_of(tx, person, kind, target)
    if not present or levels.index(present) < levels.index(level):
        text = f'could not revoke {kind} access: user "{person}" does not have "{level}" access'
        raise NotValid(text) if present else NoAccess(text)
    below = levels.index(level) - 1
    if below < 0 and kind is Kind.OFFER and person == EVERYONE:
        tx.run("access_set", kind=kind, target=target, person=person, level="")  # no row means `read`
    elif below < 0:
        tx.run("access_delete", kind=kind, target=target, person=person)
    else:
        tx.run("access_set", kind=kind, target=target, person=person, level=levels[below])


def level_of(tx: Tx, person: str, kind: Kind, target: str) -> str:
    """Return the level of access that a user was granted; empty for no access."""
    if person == DEFAULT_USER:
        return LEVELS[kind][-1]
    level = tx.scalar("access_of", kind=kind, target=target, person=person)
    if level is None and kind is Kind.OFFER and person == EVERYONE:
        return EVERYONES
    return str(level or "")


def effective_level(tx: Tx, person: str, kind: Kind, target: str = "") -> str:
    """Return a user's level of access, or an empty text; superusers have the highest level of every entity.

    Ownership of models does not count here: `services/entities/model/model_access.py` adds it.
    """
    top = LEVELS[Kind.CONTROLLER][-1]
    if kind is not Kind.CONTROLLER and level_of(tx, person, Kind.CONTROLLER, "") == top:
        return LEVELS[kind][-1]
    return level_of(tx, person, kind, target)


def is_enabled(tx: Tx, name: str) -> bool:
    """Return True when a user has the name and is not disabled."""
    if name == DEFAULT_USER:
        return True
    found = tx.find(Person, "person_get", name=name)
    return found is not None and not found.disabled
