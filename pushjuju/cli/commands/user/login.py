"""login: logs a Juju user in to a controller. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking
from pushjuju.cli.work import focusing, logins, session
from pushjuju.client import accounts
from pushjuju.core.errors import NotFound, NotPermitted, UsageError
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.requests.controller import controllers as service

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


@command(
    "login",
    usage="[controller host name or alias]",
    summary="Logs a Juju user in to a controller.",
    at_most=1,
    flags=(
        *flags.LOGIN,
        flags.text("controller", "Controller to operate in", short="c"),
        flags.text("user", "Log in as this local user", short="u"),
        flags.switch("no-prompt", "Read the password from the standard input, without a question"),
        flags.switch("trust", "The certificate is known from `register`; only with --no-prompt"),
    ),
    details="The command makes the controller current. A user who can read the data directory is admin, so\n"
    "no login is needed on the host of a controller, and another user is refused. For a controller of\n"
    "another computer, which `register` has added, the command asks for the password and keeps it.",
    examples="    pushjuju login\n    pushjuju login -c home\n    pushjuju login -c team -u kim\n",
    see_also=("logout", "whoami", "switch"),
)
def login(
    cli: Cli, args: tuple[str, ...], *, controller: str, user: str, no_prompt: bool, trust: bool
) -> None:
    if trust and not no_prompt:
        raise UsageError("--trust can only be specified with --no-prompt")
    if args and controller:
        raise UsageError("cannot specify both a host name and a controller name")
    folder = session.data_dir(cli)
    name = controller or (args[0] if args else "")
    if args and name not in (*folder.controllers(), *folder.remotes()):
        hint = "pushjuju register STRING    adds a controller of another computer"
        raise NotFound(f"controller {name} not found", hint=hint)
    chosen = service.current(folder, name or None, cli.env)
    if folder.is_remote(chosen):
        return _log_in_from_afar(cli, folder, chosen, user, prompt=not no_prompt)
    ctx = session.open_controller(cli, chosen)
    if user and user != ctx.user:
        raise NotPermitted(
            f'cannot log into controller "{ctx.controller.name}": permission denied',
            detail=f"No login is needed on this computer: you are {ctx.user}.",
        )
    with session.moving(cli):
        folder.set_current_controller(ctx.controller.name)
        cli.console.info(f'Welcome, {ctx.user}. You are now logged into "{ctx.controller.name}".')
        _focus(cli, ctx)
    return None


def _log_in_from_afar(cli: Cli, folder: sessions.DataDir, name: str, user: str, *, prompt: bool) -> None:
    """Log in to a controller of another computer with a password that the user types."""
    known = accounts.find(folder, name)
    user = user or known.user
    if prompt:
        what = f"the password of {user} on {name}"
        password = Asking(cli.console.stdin, cli.console.stderr).password(what)
    else:
        password = cli.console.stdin.readline().rstrip("\n")
    logins.log_in(cli, replace(known, user=user, password=password))


def _focus(cli: Cli, ctx: Context) -> None:
    """Make the only model current, or list the models when there are several."""
    if sessions.current_model(ctx):
        return
    hosted = models.list_models(ctx)
    if len(hosted) == 1:
        sessions.focus(ctx, hosted[0])
    focusing.tell_models(cli, [model.qualified for model in hosted])
