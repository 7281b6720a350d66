"""grant, revoke and the users of a controller of another computer."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import datetime
from typing import Any

from pushjuju.cli.commands.user import access_words, user_table
from pushjuju.cli.commands.user import remove_user as remove_command
from pushjuju.cli.commands.user.add_user import tell_added
from pushjuju.cli.commands.user.change_user_password import read_password, tell_reset
from pushjuju.cli.remote.call import Call
from pushjuju.client import accounts
from pushjuju.client.connection import Connection
from pushjuju.core.clock import from_iso
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.requests.user import registration_string


def grant(call: Call) -> None:
    """Grant access to the controller, to models or to offers."""
    _change(call, "grant")


def revoke(call: Call) -> None:
    """Revoke access to the controller, to models or to offers."""
    _change(call, "revoke")


def _change(call: Call, action: str) -> None:
    user, level, names = access_words.word_of(call.args)
    kind = access_words.kind_of(action, level, names)
    wanted = {"user-tag": f"user-{user}", "action": action, "access": level}
    with call.target.controller() as connection:
        if kind is Kind.CONTROLLER:
            connection.each("Controller", "ModifyControllerAccess", {"changes": [wanted]})
        elif kind is Kind.OFFER:
            changes = [{**wanted, "offer-url": name} for name in names]
            connection.each("ApplicationOffers", "ModifyOfferAccess", {"changes": changes})
        else:
            uuids = [call.target.resolve(connection, name).uuid for name in names]
            changes = [{**wanted, "model-tag": f"model-{uuid}"} for uuid in uuids]
            connection.each("ModelManager", "ModifyModelAccess", {"changes": changes})


def enable_user(call: Call) -> None:
    _each(call, "EnableUser")
    call.cli.console.info(f'User "{call.args[0]}" enabled')


def disable_user(call: Call) -> None:
    _each(call, "DisableUser")
    call.cli.console.info(f'User "{call.args[0]}" disabled')


def remove_user(call: Call) -> None:
    name = call.args[0]
    if not call.flags.yes:
        remove_command.ask(call.cli, name, call.target.account.name)
    _each(call, "RemoveUser")
    call.cli.output.text(f'User "{name}" removed\n')


def _each(call: Call, method: str) -> list[dict[str, Any]]:
    with call.target.controller() as connection:
        return connection.each("UserManager", method, {"entities": [{"tag": f"user-{call.args[0]}"}]})


def users(call: Call) -> None:
    """List the users of the controller, or of a model."""
    account, exact, colour = call.target.account, call.flags.exact_time, call.cli.output.colour
    if call.args:
        target = replace(call.target, wanted=call.args[0].rpartition(":")[2])
        with target.controller() as connection:
            model = target.resolve(connection, target.wanted)
            found = connection.each(
                "ModelManager", "ModelInfo", {"entities": [{"tag": f"model-{model.uuid}"}]}
            )
        listed = {item["user"]: _shown(call, _of_model(item)) for item in found[0]["result"]["users"]}
        forms = user_table.model_formatters(user=account.user, colour=colour)
        return call.cli.output.write(listed, forms)
    with call.target.controller() as connection:
        every = _info(connection, {"include-disabled": call.flags.every})
    forms = user_table.formatters(controller=account.name, user=account.user, colour=colour)
    shown = [user_table.user_document(call.cli, entry, exact=exact) for entry in every]
    return call.cli.output.write(shown, forms)


def show_user(call: Call) -> None:
    name = call.args[0] if call.args else call.target.account.user
    with call.target.controller() as connection:
        (entry,) = _info(connection, {"entities": [{"tag": f"user-{name}"}], "include-disabled": True})
    document = user_table.user_document(call.cli, entry, exact=call.flags.exact_time)
    call.cli.output.text(user_table.one(call.cli.output.form, document))


def _shown(call: Call, entry: dict[str, Any]) -> dict[str, object]:
    return user_table.user_document(call.cli, entry, exact=call.flags.exact_time)


def _of_model(item: dict[str, Any]) -> dict[str, Any]:
    """Return a user of a model as `views.documents.model_users` does."""
    named = {"display-name": item["display-name"]} if item.get("display-name") else {}
    return {**named, "access": item["access"], "last-connection": _moment(item.get("last-connection"))}


def _user(item: dict[str, Any]) -> dict[str, Any]:
    """Return a user of the controller as `views.listings.users` does."""
    return {
        "user-name": item["username"],
        **({"display-name": item["display-name"]} if item.get("display-name") else {}),
        "access": item.get("access", ""),
        "date-created": _moment(item.get("date-created")),
        "last-connection": _moment(item.get("last-connection")),
        **({"disabled": True} if item.get("disabled") else {}),
    }


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None


def _info(connection: Connection, params: dict[str, Any]) -> list[dict[str, Any]]:
    return [_user(item["result"]) for item in connection.each("UserManager", "UserInfo", params)]


def add_user(call: Call) -> None:
    """Record a user, and print the line with which the user registers."""
    name, display = call.args[0], "".join(call.args[1:])
    with call.target.controller() as connection:
        wanted = {"username": name, "display-name": display}
        (found,) = connection.each("UserManager", "AddUser", {"users": [wanted]})
    tell_added(call.cli, name, display, _invitation(call, name, found))


def change_user_password(call: Call) -> None:
    """Set or reset the password of a user; the user's own new password is kept."""
    account = call.target.account
    name = call.args[0] if call.args else account.user
    tag = f"user-{name}"
    with call.target.controller() as connection:
        if call.flags.reset:
            (found,) = connection.each("UserManager", "ResetPassword", {"entities": [{"tag": tag}]})
            return tell_reset(call.cli, name, _invitation(call, name, found))
        password = read_password(call.cli, prompt=not call.flags.no_prompt)
        connection.each("UserManager", "SetPassword", {"changes": [{"tag": tag, "password": password}]})
    if name == account.user:
        accounts.save(call.target.folder, replace(account, password=password))
    yours = "Your password" if name == account.user else f'Password for "{name}"'
    return call.cli.console.info(f"{yours} has been changed.")


def _invitation(call: Call, name: str, found: dict[str, Any]) -> registration_string.Invitation:
    """Return the registration string for the secret key in an answer."""
    account, key = call.target.account, base64.b64decode(found["secret-key"])
    return registration_string.encoded(name, key, account.addresses, account.name)
