"""add-user and change-user-password on a controller of another computer."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

from pushjuju.cli.commands.user.add_user import tell_added
from pushjuju.cli.commands.user.change_user_password import read_password, tell_reset
from pushjuju.cli.remote.call import Call
from pushjuju.client import accounts
from pushjuju.services.requests.user import registration_string


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
