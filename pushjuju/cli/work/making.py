"""Controllers that commands make: the one that was asked for, and the first one of a person."""

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
_UNFINISHED = "unfinished controller"  # the mark of a controller that this call makes
_FIRST = "first model"  # the session of a controller that this call made


def open_or_make_model(cli: Cli, text: str = "") -> sessions.Session:
    """Open a model as `open_model` does; without any controller make one on this computer, and say so."""
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
    """Take away the first controller again, if the block made it and then fails: nothing is half done.

    Args:
        anyway: Also when it does not fail: nothing was to be done.
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
) -> str:
    """Make a controller and return its name; it becomes the current one unless `switch` is false.

    It counts as unfinished until the call ends, so that the next one takes it away if this one is killed.
    """
    folder = session.data_dir(cli)
    host = scope.host(cli)

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
        begin=begin,
    )
    if switch:
        with session.moving(cli):
            folder.set_current_controller(made.name)
    return made.name
