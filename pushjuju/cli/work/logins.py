"""Logs in to controllers on other computers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pushjuju.cli.work import focusing, session
from pushjuju.client import accounts, target
from pushjuju.core.errors import NotValid

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.terminal.questions import Asking
    from pushjuju.client.accounts import Account


def log_in(cli: Cli, account: Account) -> None:
    """Log in, keep the account, and make the controller current; with a single model, the model, too."""
    folder = session.data_dir(cli)
    made = target.Target(folder=folder, account=account)
    with made.controller() as connection:
        names = [model.qualified for model in target.models(connection)]
        account = connection.account
        access, version = connection.access, str(connection.login.get("server-version", ""))
    current = account.current_model if account.current_model in names else ""
    chosen = names[0] if len(names) == 1 and not current else current
    accounts.save(folder, replace(account, current_model=chosen, access=access, version=version))
    with session.moving(cli):
        folder.set_current_controller(account.name)
    cli.console.info(f'Welcome, {account.user}. You are now logged into "{account.name}".')
    if not current:
        focusing.tell_models(cli, names)


def new_password(asking: Asking) -> str:
    """Return the new password that a user types twice."""
    first, again = asking.password("a new password"), asking.password("the new password again")
    if first != again:
        raise NotValid("Passwords do not match")
    return first
