"""Makes models of controllers current, on this computer and on others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.work import session
from pushjuju.client import target
from pushjuju.services.entities.model import models, sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.cli.syntax.command import Cli


def focus(cli: Cli, controller: str, model: str) -> None:
    """Make a model the current model of its controller; raise NotFound when there is no such model."""
    folder = session.data_dir(cli)
    if not folder.is_remote(controller):
        ctx = session.open_controller(cli, controller)
        return sessions.focus(ctx, models.resolve(ctx, model))
    found = target.Target.find(folder, controller)
    with found.controller() as connection:
        return found.focus(found.resolve(connection, model).qualified)


def tell_models(cli: Cli, names: Sequence[str]) -> None:
    """Print which models there are after a login; a single one has become current."""
    if len(names) == 1:
        cli.console.info(f'\nCurrent model set to "{names[0]}".')
    elif names:
        listed = "".join(f"\n  - {cli.program} switch {name}" for name in names)
        cli.console.info(
            f"\nThere are {len(names)} models available. "
            f'Use "{cli.program} switch" to select\none of them:{listed}'
        )
    else:
        cli.console.info(
            f'\nThere are no models available. You can add models with\n"{cli.program} add-model".'
        )
