"""remove-unit: remove application units from the model. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.commands.application.removal_flags import FLAGS
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import failures, removals, session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.requests import removals as request
from pushjuju.services.views import removal_plan


@command(
    "remove-unit",
    usage="<unit> [...]",
    summary="Remove application units from the model.",
    at_least=(1, "no units specified"),
    flags=(*FLAGS, flags.number("num-units", "For Kubernetes only", default=0)),
    details="Units leave their relations and run their last hooks; machines without units are removed too.\n"
    "A unit in error stays until it is resolved. `remove-relation` removes subordinates.\n" + removals.HOW,
    examples="    pushjuju remove-unit wordpress/2 wordpress/3\n"
    "    pushjuju remove-unit wordpress/2 --no-prompt --destroy-storage\n"
    "    pushjuju remove-unit wordpress/2 --force --no-wait\n",
    see_also=("remove-application",),
)
def remove_unit(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    no_prompt: bool,
    dry_run: bool,
    destroy_storage: bool,
    force: bool,
    no_wait: bool,
    num_units: int,
) -> None:
    forced = removals.force(force=force, no_wait=no_wait)
    if num_units:
        raise UsageError("--num-units is only allowed with k8s models")
    for arg in args:
        if not is_unit(arg):
            raise UsageError(f'invalid unit name "{arg}"')
    opened = session.open_model(cli, model)
    look = partial(removal_plan.unit_lines, opened.ctx, opened.uuid, destroy_storage=destroy_storage)
    plan = removals.Plan.of(args, look, failed="removing unit {} failed")
    told = removals.confirm(cli, opened, plan, what="unit removal", no_prompt=no_prompt, dry_run=dry_run)
    if dry_run:
        return
    remove = partial(request.remove_units, opened.ctx, opened.uuid)
    homes = failures.around_of(opened.ctx, opened.uuid, args)  # read before the removal, which may end these
    subordinates = request.subordinates_of(opened.ctx, opened.uuid, args)
    plan.carry_out(lambda names: remove(names, forced, destroy_storage=destroy_storage))
    removals.finish(cli, opened, plan, told=told, touched=(*args, *homes, *subordinates))
