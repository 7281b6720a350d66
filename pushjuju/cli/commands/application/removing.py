"""remove-unit, remove-application. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, removals, session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.lifecycle import removal

_FLAGS = (
    *flags.MODEL,
    *flags.LOGIN,
    *flags.NO_PROMPT,
    *removals.FLAGS,
    flags.switch("destroy-storage", "Destroy storage attached to units of the application"),
    flags.switch("force", "Completely remove and disregard any errors"),
)


@command(
    "remove-unit",
    usage="<unit> [...]",
    summary="Remove application units from the model.",
    at_least=(1, "no units specified"),
    flags=(*_FLAGS, flags.number("num-units", "For Kubernetes only", default=0)),
    details="The units leave their relations and run their last hooks; machines that become empty go too.\n"
    "A unit in error stays until it is resolved. Subordinates go by `remove-relation`.\n" + removals.HOW,
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
    """Remove units."""
    forced = removals.force(force=force, no_wait=no_wait)
    if num_units:
        raise UsageError("--num-units is only allowed with k8s models")
    for arg in args:
        if not is_unit(arg):
            raise UsageError(f'invalid unit name "{arg}"')
    opened = session.open_model(cli, model)
    look = partial(removals.unit_lines, opened, destroy_storage=destroy_storage)
    plan = removals.Plan.of(args, look, failed="removing unit {} failed")
    told = removals.confirm(cli, opened, plan, what="unit removal", no_prompt=no_prompt, dry_run=dry_run)
    if dry_run:
        return
    remove = partial(removal.remove_units, opened.ctx, opened.uuid)
    homes = drive.around_of(opened.ctx, opened.uuid, args)  # they may go as well
    plan.carry_out(lambda names: remove(names, forced, destroy_storage=destroy_storage))
    removals.finish(cli, opened, plan, told=told, touched=(*args, *homes))


@command(
    "remove-application",
    usage="<application> [...]",
    summary="Remove applications from the model.",
    at_least=(1, "no application specified"),
    flags=_FLAGS,
    details="Relations end first, then units run their last hooks; machines that become empty go too.\n"
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
    """Remove applications."""
    forced = removals.force(force=force, no_wait=no_wait)
    for arg in args:
        if not is_application(arg):
            raise UsageError(f'invalid application name "{arg}"')
    opened = session.open_model(cli, model)
    look = partial(removals.application_lines, opened, destroy_storage=destroy_storage)
    plan = removals.Plan.of(args, look, failed="removing application {} failed")
    told = removals.confirm(
        cli, opened, plan, what="application removal", no_prompt=no_prompt, dry_run=dry_run
    )
    if dry_run:
        return
    remove = partial(removal.remove_application, opened.ctx, opened.uuid)
    homes = drive.around_of(opened.ctx, opened.uuid, args)  # they may go as well
    plan.carry_out(lambda names: remove(names, forced, destroy_storage=destroy_storage))
    removals.finish(cli, opened, plan, told=told, touched=(*args, *homes))
