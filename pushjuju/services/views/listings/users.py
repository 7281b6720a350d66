"""Documents of users. Mirrors: juju apiserver/facades/client/usermanager UserInfo (3.6)"""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import not_found
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.basis.users import EVERYONE, LEVELS, Kind
from pushjuju.store.rows.user_records import Person, UserLogin
from pushjuju.store.tx import Tx


def documents(ctx: Context, *, disabled: bool = False) -> list[dict[str, object]]:
    """Return the users, also disabled ones, as `users` shows them; times are datetimes, or None."""
    with ctx.store.read() as tx:
        people = [item for item in tx.list(Person, "person_list") if disabled or not item.disabled]
        levels = users.access_to(tx, Kind.CONTROLLER, "")
        logins = {item.name: item.last_connection for item in tx.list(UserLogin, "user_login_list")}
    entries = (_entry(item, levels.get(item.name, ""), logins.get(item.name)) for item in people)
    listed = [_admin(ctx), *entries]
    return sorted(listed, key=lambda item: str(item["user-name"]))


def document(ctx: Context, name: str) -> dict[str, object]:
    """Return a user as `show-user` shows it; an external user has only a name and access."""
    name = users.canonical(name)
    if users.is_external(name):
        with ctx.store.read() as tx:
            return {"user-name": name, "access": _of_external(tx, name)}
    for entry in documents(ctx, disabled=True):
        if entry["user-name"] == name:
            return entry
    raise not_found("user", name)


def _of_external(tx: Tx, name: str) -> str:
    """Return an external user's access to the controller: the higher of the user's own and everyone's.

    Mirrors: juju apiserver/common/permissions.go GetPermission (3.6)
    """
    levels = ("", *LEVELS[Kind.CONTROLLER])
    found = (users.level_of(tx, one, Kind.CONTROLLER, "") for one in (name, EVERYONE))
    return max(found, key=levels.index)


def _admin(ctx: Context) -> dict[str, object]:
    created = str(ctx.controller.settings().get("created", ""))
    return {
        "user-name": DEFAULT_USER,
        "display-name": DEFAULT_USER,
        "access": LEVELS[Kind.CONTROLLER][-1],
        "date-created": from_iso(created) if created else None,
        "last-connection": ctx.clock.now(),
    }


def _entry(person: Person, level: str, connected: datetime | None) -> dict[str, object]:
    found: dict[str, object] = {"user-name": person.name}
    if person.display_name:
        found["display-name"] = person.display_name
    found.update({"access": level, "date-created": person.created, "last-connection": connected})
    if person.disabled:
        found["disabled"] = True
    return found
