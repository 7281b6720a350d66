"""remove-application: remove applications from the model. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.commands.application.removal_flags import FLAGS
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import failures, removals, session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.services.requests import removals as request
from pushjuju.services.views import removal_plan


@command(
    "remove-application",
    usage="<application> [...]",
    summary="Remove applications from the model.",
    at_least=(1, "no application specified"),
    flags=FLAGS,
    details="Relations end first, then units run their last hooks; machines without units are removed too.\n"
    "A unit in error stays until it is resolved.\n" + removals.HOW,
    examples="    pushjuju remove-application wordpress\n"
    "    pushjuju remove-application wordpress mysql --no-prompt --destroy-storage\n"
    "    pushjuju remove-application wordpress --force --no-wait\n"
    "    pushjuju remove-application wordpress --dry-run\n",
    see_also=("remove-unit",),
)
def remove_application(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    no_prompt: bool,
    dry_run: bool,
    destroy_storage: bool,
    force: bool,
    no_wait: bool,
) -> None:
    forced = removals.force(force=force, no_wait=no_wait)
    for arg in args:
        if not is_application(arg):
            raise UsageError(f'invalid application name "{arg}"')
    opened = session.open_model(cli, model)
    look = partial(removal_plan.application_lines, opened.ctx, opened.uuid, destroy_storage=destroy_storage)
    plan = removals.Plan.of(args, look, failed="removing application {} failed")
    told = removals.confirm(
        cli, opened, plan, what="application removal", no_prompt=no_prompt, dry_run=dry_run
    )
    if dry_run:
        return
    remove = partial(request.remove_applications, opened.ctx, opened.uuid)
    homes = failures.around_of(opened.ctx, opened.uuid, args)  # the removal may end these
    subordinates = request.subordinates_of(opened.ctx, opened.uuid, args)
    plan.carry_out(lambda names: remove(names, forced, destroy_storage=destroy_storage))
    removals.finish(cli, opened, plan, told=told, touched=(*args, *homes, *subordinates))
