"""Users of a controller, and what they may do.

There is no server to log in to: every user who can read the data directory works the controller as admin.
Users are kept as Juju keeps them, with their access, for a server to come.

Mirrors: juju apiserver/facades/client/usermanager, core/permission (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.errors import AlreadyExists, NotPermitted, NotValid, not_found
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.store.rows.user_records import Person
from pushjuju.store.tx import Tx

_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.+-]*[a-zA-Z0-9])?")
EVERYONE = "everyone@external"  # all external users
EVERYONES = "read"  # ... may do this to every offer, unless it was revoked
_LOCAL = "@local"
_LONGEST = 255
_LONGEST_DISPLAY = 1024


class Kind(StrEnum):
    """The kind of entity that access is granted to."""

    CONTROLLER = "controller"
    CLOUD = "cloud"
    MODEL = "model"
    OFFER = "offer"


# Each level contains those in front of it.
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
    """Return True when there is a user of that name."""
    return name == DEFAULT_USER or tx.find(Person, "person_get", name=name) is not None


def require(tx: Tx, name: str) -> None:
    """Check that there is a user of that name."""
    if not exists(tx, name):
        raise not_found("user", name)


def check(ctx: Context, name: str) -> None:
    """Check that a controller has a user."""
    with ctx.store.read() as tx:
        require(tx, name)


def require_or_external(tx: Tx, name: str) -> None:
    """Check that a user may be given something: a local one must be there, an external one need not.

    Mirrors: juju state/useraccess.go addUserAccess (3.6)
    """
    if not is_external(name):
        require(tx, name)


def add(ctx: Context, name: str, display_name: str) -> None:
    """Add a user, who may log in and no more."""
    if not is_name(name):
        raise NotValid(f'failed to create user: invalid user name "{name}"')
    if len(display_name) > _LONGEST_DISPLAY or not display_name.isprintable():
        raise NotValid("failed to create user: invalid display name")
    with ctx.store.write() as tx:
        if exists(tx, name):
            raise AlreadyExists("failed to create user: username unavailable")
        tx.insert(
            "person",
            Person(
                name=name,
                display_name=display_name,
                created=to_iso(ctx.clock.now()),
                created_by=ctx.user,
            ),
        )
        tx.run("access_set", kind=Kind.CONTROLLER, target="", person=name, level="login")


def remove(ctx: Context, name: str) -> None:
    """Remove a user for good, with all access."""
    with ctx.store.write() as tx:
        _require_other(tx, name, f'failed to delete user "{name}": cannot delete controller owner "{name}"')
        owned = [row["name"] for row in tx.rows("model_list") if row["owner"] == name]
        if owned:
            raise NotValid(
                f'failed to delete user "{name}": models belong to the user: {", ".join(owned)}',
                hint="pushjuju destroy-model OWNER/MODEL",
            )
        tx.run("access_forget_person", person=name)
        tx.run("person_delete", name=name)


def set_enabled(ctx: Context, name: str, *, enabled: bool) -> None:
    """Let a user in again, or no more."""
    word = "enable" if enabled else "disable"
    with ctx.store.write() as tx:
        _require_other(tx, name, f"failed to {word} user: cannot {word} controller model owner")
        tx.run("person_set_disabled", name=name, disabled=int(not enabled))


def _require_other(tx: Tx, name: str, text: str) -> None:
    require(tx, name)
    if name == DEFAULT_USER:
        raise NotPermitted(text)


def documents(ctx: Context, *, disabled: bool = False) -> list[dict[str, Any]]:
    """Return the users as `users` shows them; times are moments.

    Args:
        disabled: Whether those that are disabled come too.
    """
    with ctx.store.read() as tx:
        people = [item for item in tx.list(Person, "person_list") if disabled or not item.disabled]
        levels = {row["person"]: row["level"] for row in _rows(tx, Kind.CONTROLLER, "")}
    listed = [_admin(ctx), *(_entry(item, levels.get(item.name, "")) for item in people)]
    return sorted(listed, key=lambda item: str(item["user-name"]))


def document(ctx: Context, name: str) -> dict[str, Any]:
    """Return one user as `show-user` does; of external ones only their access is known."""
    name = canonical(name)
    if is_external(name):
        with ctx.store.read() as tx:
            return {"user-name": name, "access": _of_external(tx, name)}
    for entry in documents(ctx, disabled=True):
        if entry["user-name"] == name:
            return entry
    raise not_found("user", name)


def _of_external(tx: Tx, name: str) -> str:
    """Return what an external user may do to the controller: what all of them may, or more.

    Mirrors: juju apiserver/common/permissions.go GetPermission (3.6)
    """
    levels = ("", *LEVELS[Kind.CONTROLLER])
    found = (_present(tx, one, Kind.CONTROLLER, "") for one in (name, EVERYONE))
    return max(found, key=levels.index)


def _admin(ctx: Context) -> dict[str, Any]:
    created = str(ctx.controller.settings().get("created", ""))
    return {
        "user-name": DEFAULT_USER,
        "display-name": DEFAULT_USER,
        "access": LEVELS[Kind.CONTROLLER][-1],
        "date-created": _moment(created),
        "last-connection": ctx.clock.now(),
    }


def _entry(person: Person, level: str) -> dict[str, Any]:
    found: dict[str, Any] = {"user-name": person.name}
    if person.display_name:
        found["display-name"] = person.display_name
    found.update({"access": level, "date-created": _moment(person.created), "last-connection": None})
    if person.disabled:
        found["disabled"] = True
    return found


def _moment(text: str) -> datetime | None:
    return from_iso(text) if text else None


# --- access -----------------------------------------------------------------------------------------------


def _rows(tx: Tx, kind: Kind, target: str) -> Sequence[Any]:
    return tx.rows("access_list", kind=kind, target=target)


def access_to(tx: Tx, kind: Kind, target: str) -> dict[str, str]:
    """Return user -> level for a model, a cloud or an offer."""
    return {row["person"]: row["level"] for row in _rows(tx, kind, target)}


def targets_of(tx: Tx, person: str, kind: Kind) -> dict[str, str]:
    """Return what a user has access to: target -> level."""
    return {row["target"]: row["level"] for row in tx.rows("access_of_person", kind=kind, person=person)}


def grant(tx: Tx, person: str, level: str, kind: Kind, target: str) -> None:
    """Give a user access."""
    person = canonical(person)
    require_or_external(tx, person)
    levels = LEVELS[kind]
    present = _present(tx, person, kind, target)
    if present and levels.index(present) >= levels.index(level):
        raise NotValid(f'could not grant {kind} access: user already has "{level}" access or greater')
    tx.run("access_set", kind=kind, target=target, person=person, level=level)


def revoke(tx: Tx, person: str, level: str, kind: Kind, target: str) -> None:
    """Take access from a user, down to what is just below."""
    person = canonical(person)
    require_or_external(tx, person)
    if person == DEFAULT_USER:
        raise NotPermitted(f"could not revoke {kind} access: {person} works this controller")
    levels = LEVELS[kind]
    present = _present(tx, person, kind, target)
    if not present or levels.index(present) < levels.index(level):
        raise NotValid(f'could not revoke {kind} access: user "{person}" does not have "{level}" access')
    below = levels.index(level) - 1
    if below < 0 and kind is Kind.OFFER and person == EVERYONE:
        tx.run("access_set", kind=kind, target=target, person=person, level="")  # less than without a row
    elif below < 0:
        tx.run("access_delete", kind=kind, target=target, person=person)
    else:
        tx.run("access_set", kind=kind, target=target, person=person, level=levels[below])


def _present(tx: Tx, person: str, kind: Kind, target: str) -> str:
    if person == DEFAULT_USER:
        return LEVELS[kind][-1]
    level = tx.scalar("access_of", kind=kind, target=target, person=person)
    if level is None and kind is Kind.OFFER and person == EVERYONE:
        return EVERYONES
    return str(level or "")
