"""set-credential, upgrade-model, upgrade-controller, and what is refused of models.

Mirrors: juju cmd/juju/model/{modelcredential,dump,dumpdb}.go, cmd/juju/commands/upgrademodel.go (3.6)
"""

from __future__ import annotations

import re
from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refused
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.services.entities.cloud import clouds

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+)|-[a-z]+\d+)(?:\.\d+)?")
_STREAMS = ("released", "proposed", "devel", "testing")
_NO_AGENTS = "There are no agents: of no use"

migrate = refused(
    "migrate",
    "two stores cannot exchange a model yet",
    usage="<model-name> <target-controller-name>",
    summary="Migrate a workload model to another controller.",
    at_least=(2, "target controller not specified"),
    at_most=2,
    flags=(*flags.LOGIN, flags.switch("dry-run", "Validate the migration only")),
)
dump_model = refused(
    "dump-model",
    "a developer's word; export-bundle tells what is in a model",
    summary="Displays the database agnostic representation of the model.",
    at_most=0,
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, flags.switch("simplified", "Dump a simplified partial model")),
)
dump_db = refused(
    "dump-db",
    "a developer's word; the store is one SQLite file, which create-backup copies",
    summary="Displays the mongo documents of the model.",
    at_most=0,
    formats=("yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN),
)


@command(
    "set-credential",
    usage="<cloud name> <credential name>",
    summary="Relates a remote credential to a model.",
    at_least=(2, "Usage: pushjuju set-credential [options] <cloud name> <credential name>"),
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN),
    details="Machines that are there are worked with the new credential from now on.",
    examples="    pushjuju set-credential lab kim\n",
    see_also=("credentials", "show-credential", "update-credential"),
)
def set_credential(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Use another credential for a model."""
    from pushjuju.cli.work import drive
    from pushjuju.core.clouds import StoredCredential
    from pushjuju.plugins.manager import PluginHost
    from pushjuju.services.entities.machine import credential_validity
    from pushjuju.workers.machine import credentials as trial

    cloud, name = args
    opened = session.open_model(cli, model)
    if cloud != opened.model.cloud:
        raise NotValid(f'cloud "{cloud}" does not match the cloud "{opened.model.cloud}" of the model')
    places = clouds.folders(opened.ctx.datadir, opened.ctx.controller)
    found = clouds.open_credential(places, cloud, name)
    host = PluginHost(environ=cli.env, warn=cli.console.warn)
    stored = StoredCredential(auth_type=found.auth_type, attributes=dict(found.attributes))
    if problems := trial.problems(opened.ctx, host, opened.model, name, stored, warn=cli.console.warn):
        raise NotValid(f'credential "{name}" cannot be used for model {opened.model.name}: {problems[0]}')
    woken = credential_validity.set_credential(opened.ctx, opened.uuid, name)
    cli.console.info(
        f"Changed cloud credential on model {opened.model.qualified!r} to {name!r}.".replace("'", '"')
    )
    if woken:
        drive.background(cli, opened.ctx)


_UPGRADE = (
    flags.text("agent-version", "Upgrade to this version"),
    flags.text("agent-stream", "Stream to look for versions in"),
)
_MORE = (
    flags.switch("dry-run", "Only report what would be upgraded", void=True),
    flags.switch("reset-previous-upgrade", "No upgrade is ever left unfinished here: of no use", void=True),
    flags.switch("yes", "There is no question to answer: of no use", short="y", void=True),
    flags.switch("ignore-agent-versions", _NO_AGENTS, void=True),
    flags.duration("timeout", "It never lasts: of no use", default="10m", void=True),
)
_DETAILS = (
    "There are no agents on machines: everything that runs there comes with the next contact. What pushjuju\n"
    "offers of Juju is the version that 'pushjuju version' shows, and a newer pushjuju brings a newer one."
)


@command(
    "upgrade-model",
    summary="Upgrades Juju on all machines in a model.",
    at_most=0,
    flags=(*flags.MODEL, *flags.LOGIN, *_UPGRADE, *_MORE),
    details=_DETAILS,
    examples="    pushjuju upgrade-model --dry-run\n",
    see_also=("upgrade-controller", "version"),
)
def upgrade_model(
    cli: Cli, _args: tuple[str, ...], *, model: str, agent_version: str, agent_stream: str
) -> None:
    """Say that a model is as new as pushjuju is."""
    _check(agent_version, agent_stream)
    session.open_model(cli, model)
    cli.console.info("no upgrades available")


@command(
    "upgrade-controller",
    summary="Upgrades Juju on a controller.",
    at_most=0,
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        *_UPGRADE,
        flags.switch("build-agent", _NO_AGENTS, void=True),
        *_MORE,
    ),
    details=f"{_DETAILS}\nThe store is brought up to date by itself when a newer pushjuju opens it.",
    see_also=("upgrade-model", "version"),
)
def upgrade_controller(
    cli: Cli, _args: tuple[str, ...], *, controller: str, agent_version: str, agent_stream: str
) -> None:
    """Say that a controller is as new as pushjuju is."""
    _check(agent_version, agent_stream)
    session.open_controller(cli, controller)
    cli.console.info("no upgrades available")


def _check(version: str, stream: str) -> None:
    """Refuse a version that is no version, and every one but our own.

    Raises:
        UsageError: Version or stream make no sense.
        NotFound: There is no such version here.
    """
    if stream and stream not in _STREAMS:
        raise UsageError(f'agent stream "{stream}" not valid', hint=f"known ones: {', '.join(_STREAMS)}")
    if not version:
        return
    if not _VERSION.fullmatch(version):
        raise UsageError(f'invalid version "{version}"')
    if _numbers(version) != _numbers(JUJU_VERSION):
        raise NotFound(
            f"no matching agent versions available: this pushjuju offers {JUJU_VERSION}",
            hint="install a newer pushjuju for a newer one",
        )


def _numbers(version: str) -> tuple[Any, ...]:
    match = _VERSION.match(version)
    return match.groups() if match else (version,)
