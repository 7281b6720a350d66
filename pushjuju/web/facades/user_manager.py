"""UserManager: users and their passwords. Mirrors: juju apiserver/facades/client/usermanager (3.6)"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.services.requests.user import passwords, users
from pushjuju.services.views.listings import users as listing
from pushjuju.web import errors, tags, times
from pushjuju.web.call import each, is_superuser, reach, require_self, result_of
from pushjuju.web.errors import Error, ErrorResults
from pushjuju.web.facades import model_shapes
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.common import Entities, Entity, ResultOf, ResultsOf

UserInfo = TypedDict(
    "UserInfo",
    {
        "username": str,
        "display-name": str,
        "access": str,
        "created-by": str,
        "date-created": str,
        "last-connection": NotRequired[str | None],
        "disabled": bool,
    },
)
UserInfoResult = ResultOf[UserInfo]
UserInfoResults = ResultsOf[UserInfoResult]
AddUserResult = TypedDict(
    "AddUserResult", {"tag": NotRequired[str], "secret-key": NotRequired[str], "error": NotRequired[Error]}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddUserParams:
    username: str = ""
    display_name: str = ""
    password: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPassword:
    tag: str = ""
    password: str = ""


@facade("UserManager")
class UserManager(Facade):
    """The users of the controller."""

    @method(Needs.LOGIN)
    def user_info(self, entities: list[Entity], *, include_disabled: bool) -> UserInfoResults:
        """Return users: the named ones, or all; a caller who is not a superuser sees only itself."""
        if not entities:
            mine = is_superuser(self.ctx)
            listed = listing.documents(self.ctx, disabled=include_disabled)
            return {
                "results": [
                    {"result": _info(item)} for item in listed if mine or item["user-name"] == self.user
                ]
            }
        return {"results": [result_of(self._info, item.tag) for item in entities]}

    def _info(self, tag: str) -> UserInfoResult:
        try:
            name = tags.user(tag)
            require_self(self.ctx, name)
            return {"result": _info(listing.document(self.ctx, name))}
        except NotFound:  # libjuju takes this error for "no such user"
            raise errors.denied() from None

    @bulk("users", Needs.SUPERUSER, changes=True)
    def add_user(self, item: AddUserParams) -> AddUserResult:
        """Add users; those without a password register with the secret key."""
        key = users.add(self.ctx, item.username, item.display_name, item.password)
        found: AddUserResult = {"tag": f"user-{item.username}"}
        return {**found, "secret-key": _text(key)} if key else found

    @bulk("entities", Needs.SUPERUSER, changes=True)
    def remove_user(self, tag: str) -> None:
        users.remove(self.ctx, tags.user(tag))

    @bulk("entities", Needs.SUPERUSER, changes=True)
    def enable_user(self, tag: str) -> None:
        """Enable users, who may log in again."""
        users.set_enabled(self.ctx, tags.user(tag), enabled=True)

    @bulk("entities", Needs.SUPERUSER, changes=True)
    def disable_user(self, tag: str) -> None:
        """Disable users, who can no longer log in."""
        users.set_enabled(self.ctx, tags.user(tag), enabled=False)

    @method(Needs.LOGIN, changes=True)
    def set_password(self, changes: list[EntityPassword]) -> ErrorResults:
        """Set passwords: the caller's own, or those of all users for a superuser."""
        done: set[str] = set()
        return {"results": [each(self._set_password, item, done) for item in changes]}

    def _set_password(self, item: EntityPassword, done: set[str]) -> None:
        """Set a password; once for a user, as each hash takes a thread of the server for a while."""
        name = tags.user(item.tag)
        require_self(self.ctx, name)
        if name in done:
            raise NotValid(f"the request sets the password of user {name} twice")
        done.add(name)
        passwords.set_password(self.ctx, name, item.password)

    @bulk("entities", Needs.SUPERUSER, changes=True)
    def reset_password(self, tag: str) -> AddUserResult:
        """Remove passwords; users choose new passwords with the returned secret keys."""
        return {"tag": tag, "secret-key": _text(passwords.new_key(self.ctx, tags.user(tag)))}

    @method(Needs.LOGIN)
    def model_user_info(self, params: Entities) -> dict[str, object]:
        """Return the users of models: all for an administrator of the model, else the caller."""
        found: list[dict[str, object]] = []
        for item in params.entities:
            try:
                model = reach(self.ctx, tags.model_to_reach(item.tag))
                found += [{"result": user} for user in model_shapes.users_of(self.ctx, model)]
            except PushjujuError as error:
                found.append({"error": errors.told(error)})
        return {"results": found}


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def _info(known: Mapping[str, Any]) -> UserInfo:
    disabled = bool(known.get("disabled"))
    created, seen = known.get("date-created"), known.get("last-connection")
    return {
        "username": known["user-name"],
        "display-name": str(known.get("display-name", "")),
        "access": "" if disabled else str(known.get("access", "")),
        "created-by": "admin",
        "date-created": times.text(created) if created else times.NEVER,
        "last-connection": times.text(seen) if seen else None,
        "disabled": disabled,
    }
