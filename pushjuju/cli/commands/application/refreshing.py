"""The steps of `refresh`: turn flags into options, make the request, show the result, work on the model.

Mirrors: juju cmd/juju/application/refresh.go (3.6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.syntax import values
from pushjuju.cli.work import drive, hints, session
from pushjuju.core.base import Base
from pushjuju.core.errors import HookFailed
from pushjuju.services.requests.application import refresh as request

if TYPE_CHECKING:
    from pushjuju.cli.commands.application.charm_flags import RefreshFlags
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.model.sessions import Session
    from pushjuju.services.requests.application.new_charm import Stayed
    from pushjuju.services.requests.application.refresh import Refreshed, RefreshOptions


def refresh(cli: Cli, name: str, flags: RefreshFlags) -> None:
    """Change an application to another revision of its charm, and work until the model is at rest."""
    options = options_of(name, flags)
    opened = session.open_model(cli, flags.model)
    done = request.refresh(opened.ctx, opened.uuid, options, notices=cli.console)
    if done.stayed is not None:
        _tell_stayed(cli, options, done, done.stayed, by_revision="revision" in cli.given)
    else:
        kind = "local" if done.channel is None else "charm-hub"
        channel = f" in channel {done.channel}" if done.channel else ""
        cli.console.info(
            f'Added {kind} charm "{done.charm}", revision {done.revision}{channel}, to the model'
        )
    if done.works:
        _settle(cli, opened, name, flags)


def options_of(name: str, flags: RefreshFlags) -> RefreshOptions:
    config = values.settings(flags.config)
    return request.RefreshOptions(
        application=name,
        path=flags.path,
        switch=flags.switch,
        channel=flags.channel,
        revision=flags.revision,
        base=Base.parse(flags.base) if flags.base else None,
        force=flags.force,
        force_units=flags.force_units,
        force_base=flags.force_base,
        config=config.values,
        config_file=config.file,
        trust=flags.trust,
        resources=flags.resource,
        storage=values.storage(flags.storage),
        bind=values.bindings(flags.bind),
        build_scripts=flags.allow_build_scripts,
    )


def _tell_stayed(
    cli: Cli, options: RefreshOptions, done: Refreshed, stayed: Stayed, *, by_revision: bool
) -> None:
    """Print what changed of an application that has the newest charm already."""
    revision = f", revision {done.revision}" if by_revision else ""
    cli.console.info(f'charm "{done.charm}"{revision}: already up-to-date')
    if options.bind:
        cli.console.warn(f"--bind comes with another charm only: see `{cli.program} bind`")
    if options.storage:
        cli.console.warn(f"--storage comes with another charm only: see `{cli.program} add-storage`")
    if stayed.channel:
        cli.console.info(f'Note: all future refreshes will now use channel "{done.channel}"')
    if stayed.resources:
        cli.console.info(f"resources to be upgraded: {', '.join(stayed.resources)}")


def _settle(cli: Cli, opened: Session, name: str, flags: RefreshFlags) -> None:
    """Work on the model until it is at rest, and print the result for each unit."""
    waits = drive.waits(cli, no_wait=flags.no_wait)
    try:
        drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=flags.no_wait)
    except HookFailed as error:
        _tell_units(cli, opened, name)
        pairs = (("--path", flags.path), ("--switch", flags.switch))
        place = tuple(word for flag, value in pairs if value for word in (flag, value))
        if more := hints.to_new_charm(cli, opened.ctx, opened.uuid, name, place):
            error.hint = "\n".join(text for text in (error.hint, more) if text)
        raise
    if waits:
        _tell_units(cli, opened, name)


def _tell_units(cli: Cli, opened: Session, name: str) -> None:
    for line in request.progress(opened.ctx, opened.uuid, name):
        cli.console.info(line)
