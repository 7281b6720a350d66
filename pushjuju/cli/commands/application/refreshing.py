"""The part of `refresh` between its flags and the service: which charm, from where.

Mirrors: juju cmd/juju/application/refresh.go, refresher (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.charms.format.arguments import is_path
from pushjuju.charms.format.url import name_in
from pushjuju.cli.commands.charm import charm_sources
from pushjuju.cli.work import drive, hints
from pushjuju.core.base import Base
from pushjuju.core.channel import Channel
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import HookFailed, NotFound, NotValid
from pushjuju.core.status import StatusKind
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.application import applications, resources, units
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import architectures
from pushjuju.services.requests import refresh as service
from pushjuju.services.supply import origins
from pushjuju.services.supply.store_charms import CharmRequest

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.session import Session
    from pushjuju.services.requests.refresh import RefreshRequest
    from pushjuju.store.rows.origin_records import ApplicationOrigin
    from pushjuju.store.rows.records import Application


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The application that is refreshed, as it is now."""

    application: Application
    charm: str
    origin: ApplicationOrigin | None
    resources: frozenset[str]


def look(opened: Session, name: str) -> Known:
    """Return an application with where its charm came from.

    Raises:
        NotFound: The application does not exist.
    """
    with opened.ctx.store.read() as tx:
        application = applications.get(tx, opened.uuid, name)
        rows = resources.of_application(tx, application)
        return Known(
            application=application,
            charm=name_in(application.charm_url),
            origin=origins.find(tx, opened.uuid, name),
            resources=frozenset(row.name for row in rows if row.fingerprint),
        )


def get_charm(cli: Cli, opened: Session, known: Known, options: Mapping[str, Any], folder: Path) -> Any:
    """Return the charm that an application is to have.

    Raises:
        NotFound, NotValid, HubError: The charm cannot be had; the message is Juju's.
    """
    place = options["path"] or (options["switch"] if is_local(options["switch"]) else "")
    if place:
        if options["channel"]:
            raise NotValid("--channel chooses among a store's charms, not for one at a path")
        base = Base.parse(options["base"] or known.application.base)

        def choose(_charm: object) -> tuple[Base, str]:
            return base, architectures.of_application(opened.ctx, opened.uuid, known.application)

        found = charm_sources.from_place(cli, place, folder, choose, scripts=options["allow_build_scripts"])
        return replace(found, files=options["resource"])
    if known.origin is None and not options["switch"]:
        raise NotValid(
            "refreshing a local charm requires either --path or --switch",
            hint=f"{cli.program} refresh {known.application.name} --path ./{known.charm}",
        )
    request = _request(known, options)
    found = charm_sources.from_store(cli, opened, request, options["resource"], folder, keep=known.resources)
    if found.name != known.charm and not options["switch"]:
        raise NotValid(f'cannot refresh "{known.charm}" to "{found.name}"')
    return found


def is_local(text: str) -> bool:
    """Return True when `--switch` names a path or a repository, not a store's charm."""
    return bool(text) and (is_path(text) or charm_sources.is_brought(text))


def _request(known: Known, options: Mapping[str, Any]) -> Any:
    base = Base.parse(options["base"] or known.application.base)
    origin = known.origin
    if options["switch"] or origin is None:
        return CharmRequest(
            url=options["switch"],
            channel=options["channel"],
            revision=options["revision"],
            base=base,
            arch=origin.arch if origin else DEFAULT_ARCH,
            keep_base=True,
            force=options["force_base"],
        )
    channel = Channel.parse(origin.channel)
    if options["channel"]:
        channel = Channel.parse(options["channel"]).following(channel)
    return CharmRequest(
        url=known.charm,
        channel=str(channel),
        revision=options["revision"],
        base=base,
        arch=origin.arch,
        keep_base=True,
        force=options["force_base"],
        held=origins.held(origin),
    )


def tell_added(cli: Cli, found: charm_sources.Acquired, revision: int) -> None:
    """Say which charm the model has now."""
    channel = f" in channel {found.origin.channel}" if found.origin else ""
    cli.console.info(f"Added {found.text}, revision {revision}{channel}, to the model")


def stays(known: Known, found: charm_sources.Acquired) -> bool:
    """Return True when the application has that very charm already."""
    return found.origin is not None and found.origin.url == known.application.charm_url


def stay(
    cli: Cli, opened: Session, request: RefreshRequest, found: charm_sources.Acquired, *, by_revision: bool
) -> bool:
    """Change what goes with a charm that is there already; return False when there is nothing to work on.

    Raises:
        NotValid, NotFound: Something does not fit; nothing is changed.
    """
    assert found.origin is not None, "only a store's charm is known to be the same"
    done = service.stay(opened.ctx, opened.uuid, request)
    revision = f", revision {found.origin.charm.revision}" if by_revision else ""
    cli.console.info(f'charm "{found.name}"{revision}: already up-to-date')
    if request.bind:
        cli.console.warn(f"--bind comes with another charm only: see `{cli.program} bind`")
    if request.storage:
        cli.console.warn(f"--storage comes with another charm only: see `{cli.program} add-storage`")
    if done.channel:
        cli.console.info(f"Note: all future refreshes will now use channel {_quoted(found.origin.channel)}")
    if done.resources:
        cli.console.info(f"resources to be upgraded: {', '.join(done.resources)}")
    return bool(
        done.resources or request.values or request.file or request.trust is not None or request.force_units
    )


def _quoted(channel: Channel) -> str:
    return f'"{channel}"'


def check_switch(known: Known, options: Mapping[str, Any]) -> None:
    """Refuse flags that have no meaning for this application.

    Raises:
        NotFound: A revision is asked for of a charm that no store has.
    """
    if options["revision"] >= 0 and known.origin is None:
        raise NotFound(f'the charm of application "{known.application.name}" comes from no store')


def settle(cli: Cli, opened: Session, name: str, options: Mapping[str, Any], *, no_wait: bool) -> None:
    """Work the model until it is at rest, and print the result for each unit.

    Raises:
        HookFailed: Something of the application is in error.
    """
    waits = drive.waits(cli, no_wait=no_wait)
    try:
        drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)
    except HookFailed as error:
        tell_units(cli, opened, name)
        if more := hints.to_new_charm(cli, opened.ctx, opened.uuid, name, _place(options)):
            error.hint = "\n".join(text for text in (error.hint, more) if text)
        raise
    if waits:
        tell_units(cli, opened, name)


def _place(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words with which the user named the charm."""
    return tuple(
        word for key in ("path", "switch") if options[key] for word in (f"--{key}", str(options[key]))
    )


def tell_units(cli: Cli, opened: Session, name: str) -> None:
    """Print the revision and status that each unit has got to; subordinates and principals alike."""
    model = opened.uuid
    with opened.ctx.store.read() as tx:
        application = applications.get(tx, model, name)
        for unit in sorted(units.of_application(tx, model, name), key=lambda item: natural_key(item.name)):
            workload = statuses.get_status(tx, model, StatusKind.WORKLOAD, unit.name)
            agent = statuses.get_status(tx, model, StatusKind.AGENT, unit.name)
            if workload is None or agent is None:
                continue
            shown, _ = statuses.shown_unit(workload, agent)
            if not unit.charm_url:
                what = "has no charm yet"
            elif unit.charm_url == application.charm_url:
                what = f"has revision {charms.record(tx, model, unit.charm_url).revision}"
            else:
                what = f"still has revision {charms.record(tx, model, unit.charm_url).revision}"
            text = f": {shown.message}" if shown.message else ""
            cli.console.info(f"unit {unit.name} {what}, {shown.status}{text}")
