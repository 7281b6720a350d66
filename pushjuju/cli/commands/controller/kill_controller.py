"""The command kill-controller. Mirrors: juju cmd/juju/controller/kill.go (3.6)"""

from __future__ import annotations

import time

from pushjuju.cli.commands.controller import controller_removal
from pushjuju.cli.commands.model.model_removal import await_removal, begin_removal
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import PushjujuError, StoreError
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.controller import controllers
from pushjuju.workers.provision import killing

KILLS = "controller kills"  # key in `Cli.extra`, for `plan`: models to end directly


@command(
    "kill-controller",
    usage="<controller name>",
    summary="Forcibly terminate all machines and other associated resources for a controller.",
    at_least=(1, "no controller specified"),
    at_most=1,
    flags=(
        *flags.LOGIN,
        *flags.NO_PROMPT,
        flags.duration(
            "timeout",
            "Time for an orderly end before the instances are ended directly",
            short="t",
            default="5m",
        ),
    ),
    details="First does what destroy-controller --destroy-all-models --destroy-storage --force does. For\n"
    "models that remain after the timeout, the cloud ends the instances directly; manual machines\n"
    "are left as they are. When the store of a controller is lost or damaged, only the controller's\n"
    "directory is deleted.",
    see_also=("destroy-controller", "unregister"),
)
def kill_controller(cli: Cli, args: tuple[str, ...], *, no_prompt: bool, timeout: float) -> None:
    name = args[0]
    session.data_dir(cli).controller(name)
    try:
        ctx = session.open_controller(cli, name)
        hosted = models.list_models(ctx)
    except StoreError as error:
        controllers.require_lost(session.data_dir(cli).controller(name), error)
        return _kill_blind(cli, name, error, no_prompt=no_prompt)
    ctx.controller.require_shared_blobs()  # before anything is removed
    if not no_prompt and not cli.rehearsal:
        controller_removal.confirm_controller(cli, ctx, hosted)
    cli.console.info(f'Destroying controller "{name}"')
    cli.on_interrupt = controller_removal.STILL_ALL
    until = time.monotonic() + max(0.0, timeout)
    begin_removal(ctx, hosted, removal.Force(wait_s=0.0), destroy_storage=True)
    if cli.rehearsal:
        cli.extra[controller_removal.ENDS] = f"after {timeout:g} s at the latest"
        cli.extra[KILLS] = True
        return None
    for number, model in enumerate(hosted):
        controller_removal.tell_left(cli, ctx, hosted[number:])
        _kill_model(cli, ctx, model, until)
    cli.console.info("All models reclaimed, cleaning up controller machines")
    return controller_removal.remove_directory(cli, name)


def _kill_blind(cli: Cli, name: str, error: StoreError, *, no_prompt: bool) -> None:
    """Delete a controller whose store cannot be read; its machines are unknown and stay."""
    cli.console.warn(f"{error.message}\nThe machines of the controller are unknown and are left alone.")
    if cli.rehearsal:
        raise error
    if not no_prompt:
        controller_removal.ask_for_controller(cli, name)
    controller_removal.remove_directory(cli, name)


def _kill_model(cli: Cli, ctx: context.Context, model: sessions.Model, until: float) -> None:
    """Wait for the end of a model until the timeout, then end its instances through the cloud."""
    if time.monotonic() < until:
        try:
            await_removal(cli, ctx, model, forced=True, until=until)
        except PushjujuError as error:
            cli.console.warn(error.message)
    if not models.exists(ctx, model.uuid):
        return
    cli.console.info(f"Ending model {model.qualified} directly")

    for problem in killing.end_model(ctx, model, cli.console.warn):
        cli.console.warn(problem)
