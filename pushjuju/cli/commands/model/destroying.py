"""destroy-model, destroy-controller, kill-controller, enable-destroy-controller.

Mirrors: juju cmd/juju/model/destroy.go, cmd/juju/controller/{destroy,kill,enabledestroy}.go (3.6)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pushjuju.cli.commands.model.model_table import emptied
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, hints, session
from pushjuju.core.errors import (
    Blocked,
    Conflict,
    HookFailed,
    NotFound,
    NotValid,
    PushjujuError,
    StoreError,
    UsageError,
)
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import controllers as service
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Application, Cleanup, Model
from pushjuju.store.rows.storage_records import Backing

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.tx import Tx

ENDS = "controller ends"  # what a plan is told: when
KILLS = "controller kills"  # ... that what is left of models then is ended directly
_LOOK_AGAIN_S = 0.2
_START_S = 10.0  # how long a background process may take to begin
_IDLE_S = 3.0  # how long nobody may work on a dying model before that is told
_STILL = "Model {model} goes on dying{until}; '{program} update-status' continues it."
_STILL_ALL = "The models go on dying; give the command again to end it."
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
_STORAGE = (
    flags.switch("destroy-storage", "Destroy all storage instances"),
    flags.switch("release-storage", "Release all storage instances from management, without destroying them"),
)
_NO_WAIT = flags.switch("no-wait", "Rush through destruction without waiting for each step to complete")


# --- models -----------------------------------------------------------------------------------------------


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
        *_STORAGE,
        flags.switch("force", "Force destroy model ignoring any errors"),
        _NO_WAIT,
    ),
    details="Removes all applications, machines and storage of a model, then the model itself.\n"
    "Asks for its name first, unless --no-prompt is given. Where there is persistent storage,\n"
    "--destroy-storage or --release-storage has to say what becomes of it.\n"
    "--force goes on past errors: a unit in error ends at once, without its hooks; --timeout says how long\n"
    "each other step may take (1m), as of a machine that does not answer.",
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
    """Destroy a model with all that is in it."""
    forced = _force("--timeout", force=force, no_wait=no_wait, timeout=timeout)
    said = _storage(destroy=destroy_storage, release=release_storage)
    opened = session.open_model(cli, args[0])
    ctx, model = opened.ctx, opened.model
    if models.is_controller(model):
        raise NotValid(f"\"{model.name}\" is a controller; use 'pushjuju destroy-controller' to destroy it")
    if not force:
        with ctx.store.read() as tx:
            blocks.require(tx, model.uuid, blocks.DESTROY)
    if not no_prompt and not cli.rehearsal:
        _confirm(cli, ctx, model, released=said is False)
    cli.console.info("Destroying model")
    waits = _begin(cli, ctx, [model], forced, destroy_storage=said)
    until = f", {end}" if (end := hints.deadline(ctx, model.uuid)) else ""
    cli.on_interrupt = _STILL.format(program=cli.program, model=model.qualified, until=until)
    if waits:
        cli.console.info(f"Waiting for model to be removed, {waits}...")
    if cli.rehearsal:
        return
    _await_removal(cli, ctx, model, forced=force)
    cli.console.info("Model destroyed.")


def _force(flag: str, *, force: bool, no_wait: bool, timeout: float | None) -> removal.Force | None:
    """Return how a destruction is forced, or None.

    Raises:
        UsageError: A flag that only goes with --force; the message is Juju's.
    """
    if timeout is not None and not force:
        raise UsageError(f"{flag} can only be used with --force (dangerous)")
    if timeout is not None and timeout < 0:
        raise UsageError(f"{flag} must not be negative")
    if no_wait and not force:
        raise UsageError("--no-wait without --force not valid")
    wait_s = 0.0 if no_wait else timeout if timeout is not None else removal.MAX_WAIT_S
    return removal.Force(wait_s=wait_s) if force else None


def _storage(*, destroy: bool, release: bool) -> bool | None:
    """Return what becomes of storage: True destroyed, False released, None: there must be none.

    Raises:
        UsageError: Both are asked for.
    """
    if destroy and release:
        raise UsageError("--destroy-storage and --release-storage cannot both be specified")
    return True if destroy else False if release else None


def _confirm(cli: Cli, ctx: Context, model: Model, *, released: bool) -> None:
    with ctx.store.read() as tx:
        lines = _affected(tx, model.uuid, released=released)
    cli.console.warn(
        f'This command will destroy the "{model.qualified}" model and affect the following resources. '
        "It cannot be stopped.\n\n" + "\n".join(lines)
    )
    cli.console.confirm_name(
        "\nTo continue, enter the name of the model to be destroyed: ",
        name=model.name,
        what="model destruction",
    )


def _affected(tx: Tx, model: str, *, released: bool) -> list[str]:
    """Return what goes with a model, line by line, as Juju's client tells it."""
    hosts = machines.list_machines(tx, model)
    names = [item.name for item in tx.list(Application, "application_list", model=model)]
    lines = []
    if hosts:
        lines.append(f" - {_count(len(hosts), 'machine')} will be destroyed")
        lines.append(f"  - machine list:{_quoted(f'{item.id} ({item.instance_id})' for item in hosts)}")
    lines.append(f" - {_count(len(names), 'application')} will be removed")
    if names:
        lines.append(f"  - application list:{_quoted(sorted(names, key=natural_key))}")
    kinds = [item.kind for item in tx.list(Backing, "backing_list", model=model)]
    stored = " and ".join(_count(kinds.count(kind), kind) for kind in ("filesystem", "volume"))
    return [*lines, f" - {stored} will be {'released' if released else 'destroyed'}"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}"


def _quoted(names: Iterable[str]) -> str:
    return "".join(f' "{name}"' for name in names)


def _begin(
    cli: Cli,
    ctx: Context,
    doomed: Sequence[Model],
    force: removal.Force | None,
    *,
    destroy_storage: bool | None,
) -> str:
    """Make models die, all of them or, after a refusal, none; return what waits for that, in words."""
    waits: list[str] = []
    hosts = left = 0
    with ctx.store.write() as tx:
        for model in doomed:
            found = models.get(tx, model.uuid)
            removal.destroy_model(tx, found, cli.clock.now(), force, destroy_storage=destroy_storage)
            waits += removal.blockers(tx, model.uuid)
            left += len(tx.list(Application, "application_list", model=model.uuid))
            hosts += len(machines.list_machines(tx, model.uuid))
    if session.current_model(ctx) in [model.qualified for model in doomed]:
        ctx.controller.set("current-model", None)
    return emptied([(hosts, "machine"), (left, "application")]) if waits else ""


def _await_removal(cli: Cli, ctx: Context, model: Model, *, forced: bool, until: float | None = None) -> None:
    """Wait until a model is gone, as Juju's client does, whoever works on it.

    Args:
        cli: The call.
        ctx: The controller.
        model: Which.
        forced: Whether failures of hooks count for nothing.
        until: A moment of the monotonic clock that ends the wait; None: there is none.

    Raises:
        NotFound: It is at rest and still there; the detail says what waits for what.
    """
    idle_s = started = 0.0
    told = ""
    while True:
        if drive.waits(cli):
            _work_on_removal(cli, ctx, model, forced=forced)
        elif time.monotonic() - started > _START_S:
            drive.background(cli, ctx)
            started = time.monotonic()
        with ctx.store.read() as tx:
            if tx.find(Model, "model_by_uuid", uuid=model.uuid) is None:
                return
            reasons = removal.blockers(tx, model.uuid)
            ends = tx.list(Cleanup, "cleanup_list", model=model.uuid)
        if reasons and not told and (told := hints.deadline(ctx, model.uuid)):
            cli.console.info(f"{reasons[0]}; {told} at the latest")
        served = time.monotonic() - started < _START_S or drive.waits(cli) or drive.in_background(ctx)
        working = served and models.being_worked(ctx, model.uuid)
        idle_s = 0.0 if ends or working else idle_s + _LOOK_AGAIN_S
        if idle_s > _IDLE_S or (until is not None and time.monotonic() > until):
            text = f"model {model.qualified} is not removed yet"
            raise NotFound(text, detail="\n".join(reasons), hint=cli.on_interrupt)
        time.sleep(_LOOK_AGAIN_S)


def _work_on_removal(cli: Cli, ctx: Context, model: Model, *, forced: bool) -> None:
    try:
        drive.settle(cli, ctx, model.uuid)
    except HookFailed:
        if not forced:
            raise


# --- controllers ------------------------------------------------------------------------------------------


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
        *_STORAGE,
        flags.duration("model-timeout", "Time for each step of a model's forced destruction; needs --force"),
        flags.switch("force", "Force destroy models ignoring any errors"),
        _NO_WAIT,
    ),
    details="All models must be gone, or --destroy-all-models makes them go. Then the controller's\n"
    "directory, with its store, its keys and its archives, is deleted.",
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
    """Destroy a controller."""
    forced = _force("--model-timeout", force=force, no_wait=no_wait, timeout=model_timeout)
    said = _storage(destroy=destroy_storage, release=release_storage)
    ctx = session.open_controller(cli, args[0])
    hosted = models.list_models(ctx)
    if not force:
        _require_unblocked(ctx)
    if hosted and not destroy_all_models:
        listed = "\n".join(f"\t{model.qualified} ({model.life})" for model in hosted)
        raise Conflict(_LIVE_MODELS.format(name=args[0], models=listed))
    if not no_prompt and not cli.rehearsal:
        _confirm_controller(cli, ctx, hosted)
    cli.console.info("Destroying controller")
    cli.on_interrupt = _STILL_ALL
    _begin(cli, ctx, hosted, forced, destroy_storage=said)
    if cli.rehearsal:
        cli.extra[ENDS] = "when its models are gone"
        return
    if hosted:
        cli.console.info("Waiting for model resources to be reclaimed")
    for number, model in enumerate(hosted):
        _tell_left(cli, ctx, hosted[number:])
        _await_removal(cli, ctx, model, forced=force)
    cli.console.info("All models reclaimed, cleaning up controller machines")
    _remove(cli, args[0])


def _require_unblocked(ctx: Context) -> None:
    """Check that no model of a controller has disabled commands.

    Raises:
        Blocked: One has; the text is Juju's.
    """
    from pushjuju.cli.commands.block.blocks import table

    if listed := blocks.of_controller(ctx):
        raise Blocked(_BLOCKED, detail=table(listed))


def _confirm_controller(cli: Cli, ctx: Context, hosted: Sequence[Model]) -> None:
    hosts = applications = 0
    with ctx.store.read() as tx:
        for model in hosted:
            hosts += len(machines.list_machines(tx, model.uuid))
            applications += len(tx.list(Application, "application_list", model=model.uuid))
    named = "".join(f'   - "{model.qualified}" ({model.life})\n' for model in hosted)
    name = ctx.controller.name
    cli.console.warn(
        f'This command will destroy the "{name}" controller and all its resources. '
        "It cannot be stopped.\n\n"
        f" - {_count(len(hosted), 'model')} will be destroyed\n{named}"
        f" - {_count(hosts, 'machine')} will be destroyed\n"
        f" - {_count(applications, 'application')} will be removed\n"
    )
    _ask_for_controller(cli, name)


def _ask_for_controller(cli: Cli, name: str) -> None:
    cli.console.confirm_name(
        "\nTo continue, enter the name of the controller to be destroyed: ",
        name=name,
        what="controller destruction",
    )


def _tell_left(cli: Cli, ctx: Context, left: Sequence[Model]) -> None:
    """Say what a controller waits for."""
    hosts = applications = there = 0
    with ctx.store.read() as tx:
        for model in left:
            there += tx.find(Model, "model_by_uuid", uuid=model.uuid) is not None
            hosts += len(machines.list_machines(tx, model.uuid))
            applications += len(tx.list(Application, "application_list", model=model.uuid))
    if there:
        counts = emptied([(there, "model"), (hosts, "machine"), (applications, "application")])
        cli.console.info(f"Waiting for {counts}")


def _remove(cli: Cli, name: str) -> None:
    """Delete a controller's directory; nothing of it may be open."""
    opened = cli.extra.pop(f"controller {name}", None)
    if opened is not None:
        opened.close()
    service.remove(session.data_dir(cli), name)


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
            "timeout", "Time for the orderly way before all is ended directly", short="t", default="5m"
        ),
    ),
    details="First as destroy-controller --destroy-all-models --destroy-storage --force does. What is not\n"
    "gone after the time, or cannot be: its instances are ended through the cloud directly, and machines\n"
    "that were given to us are left as they are. A controller whose store cannot be read is deleted alone.",
    see_also=("destroy-controller", "unregister"),
)
def kill_controller(cli: Cli, args: tuple[str, ...], *, no_prompt: bool, timeout: float) -> None:
    """Tear a controller down, whatever state it is in."""
    name = args[0]
    session.data_dir(cli).controller(name)
    try:
        ctx = session.open_controller(cli, name)
        hosted = models.list_models(ctx)
    except StoreError as error:
        return _kill_blind(cli, name, error, no_prompt=no_prompt)
    if not no_prompt and not cli.rehearsal:
        _confirm_controller(cli, ctx, hosted)
    cli.console.info(f'Destroying controller "{name}"')
    cli.on_interrupt = _STILL_ALL
    until = time.monotonic() + max(0.0, timeout)
    _begin(cli, ctx, hosted, removal.Force(wait_s=0.0), destroy_storage=True)
    if cli.rehearsal:
        cli.extra[ENDS] = f"after {timeout:g} s at the latest"
        cli.extra[KILLS] = True
        return None
    for number, model in enumerate(hosted):
        _tell_left(cli, ctx, hosted[number:])
        _kill_model(cli, ctx, model, until)
    cli.console.info("All models reclaimed, cleaning up controller machines")
    return _remove(cli, name)


def _kill_blind(cli: Cli, name: str, error: StoreError, *, no_prompt: bool) -> None:
    """Delete a controller whose store cannot be read: nobody can tell what machines it has."""
    cli.console.warn(
        f"{error.message}\nWhat machines the controller has cannot be told: they are left alone."
    )
    if cli.rehearsal:
        raise error
    if not no_prompt:
        _ask_for_controller(cli, name)
    _remove(cli, name)


def _kill_model(cli: Cli, ctx: Context, model: Model, until: float) -> None:
    """Let a model go by itself until the time is up, then end it through its cloud."""
    if time.monotonic() < until:
        try:
            _await_removal(cli, ctx, model, forced=True, until=until)
        except PushjujuError as error:
            cli.console.warn(error.message)
    with ctx.store.read() as tx:
        if tx.find(Model, "model_by_uuid", uuid=model.uuid) is None:
            return
    cli.console.info(f"Ending model {model.qualified} directly")
    from pushjuju.workers.provision.killing import end_model

    for problem in end_model(ctx, model, cli.console.warn):
        cli.console.warn(problem)


@command(
    "enable-destroy-controller",
    summary="Enable destroy-controller by removing disabled commands in the controller.",
    at_most=0,
    flags=(*flags.CONTROLLER, *flags.LOGIN),
    examples="    pushjuju enable-destroy-controller\n    pushjuju enable-destroy-controller -c home\n",
    see_also=("disable-command", "disabled-commands", "enable-command"),
)
def enable_destroy_controller(cli: Cli, _args: tuple[str, ...], *, controller: str) -> None:
    """Enable all commands of all models."""
    blocks.enable_everywhere(session.open_controller(cli, controller))
