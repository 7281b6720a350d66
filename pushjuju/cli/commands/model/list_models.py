"""The command models. Mirrors: juju cmd/juju/model, controller (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.model import model_table as formatters
from pushjuju.cli.commands.model.model_table import with_times
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.entities.basis import users
from pushjuju.services.views import documents


@command(
    "models",
    summary="Lists models a user can access on a controller.",
    aliases=("list-models",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.AT_CONTROLLER,
        flags.text("user", "The user to list models for"),
        flags.switch("all", "Lists all models, also those of others", dest="every"),
        flags.switch("uuid", "Display UUID for models"),
        flags.switch("exact-time", "Use full timestamps"),
    ),
    examples="    pushjuju models\n"
    "    pushjuju models -c home --format json\n"
    "    pushjuju models --uuid --exact-time\n",
    see_also=("add-model", "show-model", "switch"),
)
def list_models(
    cli: Cli, _args: tuple[str, ...], *, controller: str, user: str, every: bool, uuid: bool, exact_time: bool
) -> None:
    if user and not users.is_name(user.partition("@")[0]):
        raise UsageError(f'user "{user}" not valid')
    ctx = session.open_controller(cli, controller)
    listed = documents.models_document(ctx, user=user, every=every)
    document = with_times(cli, listed, exact=exact_time)
    counts = {uuid: _counts(*numbers) for uuid, numbers in documents.model_counts(ctx).items()}
    forms = formatters.formatters(
        counts, controller=ctx.controller.name, user=ctx.user, uuid=uuid, colour=cli.output.colour
    )
    cli.output.write(document, forms)
    if not document["models"]:
        tell_none(cli)


def tell_none(cli: Cli) -> None:
    """Print that there are no models."""
    cli.console.info(
        f'\nThere are no models hosted on this controller.\nUse "{cli.program} add-model" to add one.'
    )


def _counts(machines: int, cores: int, units: int) -> formatters.Counts:
    """Return the counts for the table; a dash where the model has no cores or units."""
    return formatters.Counts(machines=machines, cores=cores or None, units=units or None)
