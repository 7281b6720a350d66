"""The command destroy-model. Mirrors: juju cmd/juju/model/destroy.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.cli.commands.model import model_removal
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import hints, session
from pushjuju.core.errors import NotValid
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import blocks, context
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.requests.model import destroy_model as request

_STILL = "Model {model} goes on dying{until}; '{program} update-status' continues it."


@command(
    "destroy-model",
    usage="[<controller name>:]<model name>",
    summary="Terminates all machines/containers and resources for a workload model.",
    at_least=(1, "no model specified"),
    at_most=1,
    flags=(
        *flags.LOGIN,
        *flags.NO_PROMPT,
        flags.duration("timeout", "Time for each step of a forced destruction; needs --force", short="t"),
        *model_removal.STORAGE_FLAGS,
        flags.switch("force", "Force destroy model ignoring any errors"),
        model_removal.NO_WAIT,
    ),
    details="Removes all applications, machines and storage of a model, then the model itself.\n"
    "Asks for its name first, unless --no-prompt is given. A model with persistent storage needs\n"
    "--destroy-storage or --release-storage. --force ignores errors: a unit in error ends at once, without\n"
    "its hooks; every other step may take the --timeout (1m), for example on a machine that does not answer.",
    examples="    pushjuju destroy-model test\n"
    "    pushjuju destroy-model test --no-prompt --destroy-storage\n"
    "    pushjuju destroy-model home:test --no-prompt --force --no-wait\n",
    see_also=("models", "add-model", "destroy-controller"),
)
def destroy_model(
    cli: Cli,
    args: tuple[str, ...],
    *,
    no_prompt: bool,
    timeout: float | None,
    destroy_storage: bool,
    release_storage: bool,
    force: bool,
    no_wait: bool,
) -> None:
    forced = model_removal.force_of("--timeout", force=force, no_wait=no_wait, timeout=timeout)
    said = model_removal.storage_fate(destroy=destroy_storage, release=release_storage)
    opened = session.open_model(cli, args[0])
    ctx, model = opened.ctx, opened.model
    if models.is_controller(model):
        raise NotValid(f"\"{model.name}\" is a controller; use 'pushjuju destroy-controller' to destroy it")
    if not force:
        sessions.require(ctx, model.uuid, blocks.DESTROY)
    if not no_prompt and not cli.rehearsal:
        _confirm(cli, ctx, model, released=said is False)
    cli.console.info("Destroying model")
    waits = model_removal.begin_removal(ctx, [model], forced, destroy_storage=said)
    until = f", {end}" if (end := hints.deadline(ctx, model.uuid)) else ""
    cli.on_interrupt = _STILL.format(program=cli.program, model=model.qualified, until=until)
    if waits:
        cli.console.info(f"Waiting for model to be removed, {waits}...")
    if cli.rehearsal:
        return
    model_removal.await_removal(cli, ctx, model, forced=force)
    cli.console.info("Model destroyed.")


def _confirm(cli: Cli, ctx: context.Context, model: sessions.Model, *, released: bool) -> None:
    lines = _affected(request.contents(ctx, model.uuid), released=released)
    cli.console.warn(
        f'This command will destroy the "{model.qualified}" model and affect the following resources. '
        "It cannot be stopped.\n\n" + "\n".join(lines)
    )
    cli.console.confirm_name(
        "\nTo continue, enter the name of the model to be destroyed: ",
        name=model.name,
        what="model destruction",
    )


def _affected(there: request.Contents, *, released: bool) -> list[str]:
    """Return the lines about what the end of a model removes, as Juju's client prints them."""
    hosts, names = there.machines, there.applications
    lines = []
    if hosts:
        lines.append(f" - {model_removal.count_text(len(hosts), 'machine')} will be destroyed")
        lines.append(f"  - machine list:{_quoted(f'{item.id} ({item.instance_id})' for item in hosts)}")
    lines.append(f" - {model_removal.count_text(len(names), 'application')} will be removed")
    if names:
        lines.append(f"  - application list:{_quoted(sorted(names, key=natural_key))}")
    stored = " and ".join(
        model_removal.count_text(there.stored.count(kind), kind) for kind in ("filesystem", "volume")
    )
    return [*lines, f" - {stored} will be {'released' if released else 'destroyed'}"]


def _quoted(names: Iterable[str]) -> str:
    return "".join(f' "{name}"' for name in names)
