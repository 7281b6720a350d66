"""Controllers that commands make: those of bootstrap, and the first controller of a user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import scope, session
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.controller import controllers, new_controllers
from pushjuju.services.requests.model import add_model as request

FIRST_CLOUD = "local"
FIRST_MODEL = "default"
_UNFINISHED = "unfinished controller"  # key in `Cli.extra` of a controller that this call made
_FIRST = "first model"  # key in `Cli.extra` of the session of that controller


def open_or_make_model(cli: Cli, text: str = "") -> sessions.Session:
    """Open a model as `open_model` does; when there is no controller, make one on this computer."""
    if session.any_controller(cli, text):
        return session.open_model(cli, text)
    make_controller(cli, FIRST_CLOUD, FIRST_CLOUD)
    ctx = session.open_controller(cli, FIRST_CLOUD)
    model = request.add_model(ctx, request.AddModelOptions(name=FIRST_MODEL))
    sessions.focus(ctx, model)
    cli.console.info(
        f'No controller yet: made controller "{FIRST_CLOUD}" for machines on this computer, '
        f'with model "{FIRST_MODEL}"'
    )
    made = sessions.Session(ctx=ctx, model=model)
    cli.extra[_FIRST] = made
    return made


@contextmanager
def undone_if_refused(cli: Cli, *, anyway: bool = False) -> Iterator[None]:
    """Remove the first controller again when the block made it and then fails.

    Args:
        anyway: Remove the controller even when the block succeeds, because nothing was deployed.
    """
    failed = True
    try:
        yield
        failed = False
    finally:
        made = cli.extra.pop(_FIRST, None)
        if (
            isinstance(made, sessions.Session)
            and (failed or anyway)
            and not controllers.used(made.ctx.controller)
        ):
            cli.extra.pop(f"controller {FIRST_CLOUD}", None)
            made.ctx.close()
            controllers.remove(session.data_dir(cli), FIRST_CLOUD)
            cli.console.info(f'Controller "{FIRST_CLOUD}" was removed again: nothing was deployed')
        mark = cli.extra.pop(_UNFINISHED, None)
        if isinstance(mark, controllers.Unfinished):
            mark.close()


def make_controller(
    cli: Cli,
    cloud: str,
    name: str | None,
    *,
    config: dict[str, object] | None = None,
    switch: bool = True,
    credential: str = "",
    database: new_controllers.Database | None = None,
) -> str:
    """Make a controller and return its name; it becomes current unless `switch` is False.

    The controller counts as unfinished until this call ends: if a signal kills the call, the next call
    removes it.
    """
    folder = session.data_dir(cli)
    host, caller = scope.host(cli), session.caller(cli)

    def begin(chosen: str) -> None:
        cli.extra[_UNFINISHED] = controllers.marked(folder, chosen)

    made = new_controllers.bootstrap(
        folder,
        cloud,
        name,
        now=cli.clock.now(),
        config=config,
        host=host,
        credential=credential,
        database=database,
        begin=begin,
        caller=caller,
    )
    session.opened_by(cli, made.name, caller)
    if switch:
        with session.moving(cli):
            folder.set_current_controller(made.name)
    return made.name
