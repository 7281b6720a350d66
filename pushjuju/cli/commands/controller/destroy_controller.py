"""The command destroy-controller. Mirrors: juju cmd/juju/controller/destroy.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.block.list_disabled_commands import table
from pushjuju.cli.commands.controller import controller_removal
from pushjuju.cli.commands.model.model_removal import (
    NO_WAIT,
    STORAGE_FLAGS,
    await_removal,
    begin_removal,
    force_of,
    storage_fate,
)
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import Blocked, Conflict
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models
from pushjuju.services.views.listings import blocks

_LIVE_MODELS = """\
failed to destroy controller "{name}"

The controller has live models. If you want
to destroy all models in the controller,
run this command again with the --destroy-all-models
option.

Models:
{models}
"""

_BLOCKED = """\
there are models with disabled commands preventing controller destruction

To enable controller destruction, please run:

    pushjuju enable-destroy-controller

"""


@command(
    "destroy-controller",
    usage="<controller name>",
    summary="Destroys a controller.",
    at_least=(1, "no controller specified"),
    at_most=1,
    flags=(
        *flags.LOGIN,
        *flags.NO_PROMPT,
        flags.switch("destroy-all-models", "Destroy all models in the controller"),
        *STORAGE_FLAGS,
        flags.duration("model-timeout", "Time for each step of a model's forced destruction; needs --force"),
        flags.switch("force", "Force destroy models ignoring any errors"),
        NO_WAIT,
    ),
    details="The controller must have no models, unless --destroy-all-models is given, which destroys them\n"
    "first. Then the controller's directory is deleted, with its store, its keys and its archives.",
    examples="    pushjuju destroy-controller home --destroy-all-models\n",
    see_also=("kill-controller", "unregister", "enable-destroy-controller"),
)
def destroy_controller(
    cli: Cli,
    args: tuple[str, ...],
    *,
    no_prompt: bool,
    destroy_all_models: bool,
    destroy_storage: bool,
    release_storage: bool,
    model_timeout: float | None,
    force: bool,
    no_wait: bool,
) -> None:
    forced = force_of("--model-timeout", force=force, no_wait=no_wait, timeout=model_timeout)
    said = storage_fate(destroy=destroy_storage, release=release_storage)
    ctx = session.open_controller(cli, args[0])
    ctx.controller.require_shared_blobs()  # before anything is removed
    hosted = models.list_models(ctx)
    if not force:
        _require_unblocked(ctx)
    if hosted and not destroy_all_models:
        listed = "\n".join(f"\t{model.qualified} ({model.life})" for model in hosted)
        raise Conflict(_LIVE_MODELS.format(name=args[0], models=listed))
    if not no_prompt and not cli.rehearsal:
        controller_removal.confirm_controller(cli, ctx, hosted)
    cli.console.info("Destroying controller")
    cli.on_interrupt = controller_removal.STILL_ALL
    begin_removal(ctx, hosted, forced, destroy_storage=said)
    if cli.rehearsal:
        cli.extra[controller_removal.ENDS] = "when its models are gone"
        return
    if hosted:
        cli.console.info("Waiting for model resources to be reclaimed")
    for number, model in enumerate(hosted):
        controller_removal.tell_left(cli, ctx, hosted[number:])
        await_removal(cli, ctx, model, forced=force)
    cli.console.info("All models reclaimed, cleaning up controller machines")
    controller_removal.remove_directory(cli, args[0])


def _require_unblocked(ctx: context.Context) -> None:
    """Check that no model of a controller has disabled commands."""
    if listed := blocks.of_controller(ctx):
        raise Blocked(_BLOCKED, detail=table(listed))
