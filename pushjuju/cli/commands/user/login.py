"""login: logs a Juju user in to a controller. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.work import session
from pushjuju.core.errors import NotPermitted, UsageError
from pushjuju.services.entities.model import models, sessions

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
        flags.switch("no-prompt", "Accepted and ignored: there is no password to read"),
        flags.switch("trust", "There is no certificate to trust; only with --no-prompt"),
    ),
    details="A user who can read the data directory is admin, so no login is needed. The command makes the\n"
    "controller current. Another user, or a host, is refused.",
    examples="    pushjuju login\n    pushjuju login -c home\n",
    see_also=("logout", "whoami", "switch"),
)
def login(
    cli: Cli, args: tuple[str, ...], *, controller: str, user: str, no_prompt: bool, trust: bool
) -> None:
    """Make a controller current."""
    if trust and not no_prompt:
        raise UsageError("--trust can only be specified with --no-prompt")
    if args and controller:
        raise UsageError("cannot specify both a host name and a controller name")
    folder = session.data_dir(cli)
    if args and args[0] not in folder.controllers():
        raise refusal("login", f'"{args[0]}" is not the name of a controller of this computer')
    ctx = session.open_controller(cli, controller or (args[0] if args else ""))
    if user and user != ctx.user:
        raise NotPermitted(
            f'cannot log into controller "{ctx.controller.name}": permission denied',
            detail=f"No login is needed on this computer: you are {ctx.user}.",
        )
    with session.moving(cli):
        folder.set_current_controller(ctx.controller.name)
        cli.console.info(f'Welcome, {ctx.user}. You are now logged into "{ctx.controller.name}".')
        _focus(cli, ctx)


def _focus(cli: Cli, ctx: Context) -> None:
    """Make the only model current, or list the models when there are several."""
    if sessions.current_model(ctx):
        return
    hosted = models.list_models(ctx)
    if len(hosted) == 1:
        sessions.focus(ctx, hosted[0])
        cli.console.info(f'\nCurrent model set to "{hosted[0].qualified}".')
    elif hosted:
        listed = "".join(f"\n  - {cli.program} switch {model.qualified}" for model in hosted)
        cli.console.info(
            f"\nThere are {len(hosted)} models available. "
            f'Use "{cli.program} switch" to select\none of them:{listed}'
        )
    else:
        cli.console.info(
            f'\nThere are no models available. You can add models with\n"{cli.program} add-model".'
        )
