"""logout: forgets the password of a controller. Mirrors: juju cmd/juju/user/logout.go (3.6)"""

from __future__ import annotations

from dataclasses import replace

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.client import accounts
from pushjuju.core.errors import NotPermitted
from pushjuju.services.requests.controller import controllers as service


@command(
    "logout",
    summary="Logs a Juju user out of a controller.",
    at_most=0,
    flags=(
        *flags.AT_CONTROLLER,
        flags.switch("force", "Accepted and ignored: the password is known to the user", void=True),
    ),
    details="The password of a controller on another computer is deleted here; `login` asks for it again.\n"
    "On the host of a controller there is no login: who may read the data directory is admin.",
    see_also=("login", "unregister"),
)
def logout(cli: Cli, _args: tuple[str, ...], *, controller: str) -> None:
    folder = session.data_dir(cli)
    name = service.current(folder, controller or None, cli.env)
    if not folder.is_remote(name):
        raise NotPermitted(
            f'there is no login to controller "{name}" that could end',
            detail="The controller is on this computer. Whoever can read its data directory is admin.",
        )
    accounts.save(folder, replace(accounts.find(folder, name), password=""))
    left = sum(1 for other in folder.remotes() if accounts.find(folder, other).password)
    still = f"still logged into {left} controller{'s' if left > 1 else ''}"
    cli.console.info(f"Logged out. You are {still if left else 'no longer logged into any controllers'}.")
