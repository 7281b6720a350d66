"""remove-unit, remove-application. Layer: cli. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli import flags, removals, session
from pushjuju.cli.command import Cli, command
from pushjuju.core.errors import UsageError
from pushjuju.core.names import is_application, is_unit
from pushjuju.services import removal

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
    plan = removals.unit_lines(opened, args, destroy_storage=destroy_storage)
    told = removals.confirm(cli, opened, plan, what="unit removal", no_prompt=no_prompt, dry_run=dry_run)
    if dry_run:
        return
    removal.remove_units(opened.ctx, opened.uuid, list(args), forced, destroy_storage=destroy_storage)
    _finish(cli, opened, () if told else plan, args)


@command(
    "remove-application",
    usage="<application> [...]",
    summary="Remove applications from the model.",
    at_least=(1, "no application specified"),
    flags=_FLAGS,
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
    plan = removals.application_lines(opened, args, destroy_storage=destroy_storage)
    told = removals.confirm(
        cli, opened, plan, what="application removal", no_prompt=no_prompt, dry_run=dry_run
    )
    if dry_run:
        return
    removal.remove_application(opened.ctx, opened.uuid, list(args), forced, destroy_storage=destroy_storage)
    _finish(cli, opened, () if told else plan, args)


def _finish(cli: Cli, opened: session.Session, plan: Sequence[str], names: Sequence[str]) -> None:
    """Tell what was asked for, then work it off."""
    removals.tell(cli, plan)
    removals.settle(cli, opened, touched=names)
