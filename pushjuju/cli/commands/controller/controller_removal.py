"""Steps of the commands that end a controller: ask, list remaining models, delete the directory."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.commands.model.model_removal import count_text
from pushjuju.cli.commands.model.model_table import emptied
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.requests.controller import controllers as service
from pushjuju.services.requests.model import destroy_model

ENDS = "controller ends"  # key in `Cli.extra` of the time limit, for `plan`

STILL_ALL = "The models go on dying; give the command again to end it."


def confirm_controller(cli: Cli, ctx: context.Context, hosted: Sequence[sessions.Model]) -> None:
    hosts, applications = destroy_model.counts(ctx, hosted)
    named = "".join(f'   - "{model.qualified}" ({model.life})\n' for model in hosted)
    name = ctx.controller.name
    cli.console.warn(
        f'This command will destroy the "{name}" controller and all its resources. '
        "It cannot be stopped.\n\n"
        f" - {count_text(len(hosted), 'model')} will be destroyed\n{named}"
        f" - {count_text(hosts, 'machine')} will be destroyed\n"
        f" - {count_text(applications, 'application')} will be removed\n"
    )
    ask_for_controller(cli, name)


def ask_for_controller(cli: Cli, name: str) -> None:
    cli.console.confirm_name(
        "\nTo continue, enter the name of the controller to be destroyed: ",
        name=name,
        what="controller destruction",
    )


def tell_left(cli: Cli, ctx: context.Context, left: Sequence[sessions.Model]) -> None:
    """Print what the removal of a controller waits for."""
    if there := sum(models.exists(ctx, model.uuid) for model in left):
        hosts, applications = destroy_model.counts(ctx, left)
        waited = emptied([(there, "model"), (hosts, "machine"), (applications, "application")])
        cli.console.info(f"Waiting for {waited}")


def remove_directory(cli: Cli, name: str) -> None:
    """Delete a controller's directory; the caller has closed its files."""
    opened = cli.extra.pop(f"controller {name}", None)
    if opened is not None:
        opened.close()
    service.remove(session.data_dir(cli), name)
