"""remove-machine: removes one or more machines from a model. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import removals, session
from pushjuju.services.requests import removals as request
from pushjuju.services.views import removal_plan


@command(
    "remove-machine",
    usage="<machine number> ...",
    summary="Removes one or more machines from a model.",
    at_least=(1, "no machines specified"),
    flags=(
        *flags.IN_MODEL,
        *flags.NO_PROMPT,
        *removals.FLAGS,
        flags.switch("force", "Completely remove a machine and all its dependencies"),
        flags.switch("keep-instance", "Do not stop the running cloud instance"),
    ),
    details="A machine with units or containers is not removed; --force removes these too.\n" + removals.HOW,
    examples="    pushjuju remove-machine 5\n"
    "    pushjuju remove-machine 6 --force\n"
    "    pushjuju remove-machine 6 --force --no-wait\n"
    "    pushjuju remove-machine 7 --keep-instance\n",
    see_also=("add-machine",),
)
def remove_machine(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    no_prompt: bool,
    dry_run: bool,
    force: bool,
    no_wait: bool,
    keep_instance: bool,
) -> None:
    forced = removals.force(force=force, no_wait=no_wait)
    ids = [values.machine_id(arg) for arg in args]
    opened = session.open_model(cli, model)
    look = partial(removal_plan.machine_lines, opened.ctx, opened.uuid, keep_instance=keep_instance)
    plan = removals.Plan.of(ids, look, failed="removing machine failed")
    besides = [line for line in plan.text() if not line.startswith(removal_plan.DISK)]
    told = removals.confirm(
        cli,
        opened,
        plan,
        what="machine removal",
        no_prompt=no_prompt,
        dry_run=dry_run,
        needs_force=not force and len(besides) > len(ids),  # the removal ends containers and units too
    )
    if dry_run:
        return
    remove = partial(request.remove_machines, opened.ctx, opened.uuid)
    there = removal_plan.unit_names(opened.ctx, opened.uuid, ids)
    plan.carry_out(lambda names: remove(names, force=forced, keep_instance=keep_instance))
    removals.finish(cli, opened, plan, told=told, touched=(*ids, *there))
