"""What upgrade-model and upgrade-controller share."""

from __future__ import annotations

from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.cli.syntax import flags
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.core.values import regex

_VERSION = regex(r"(\d+)\.(\d+)(?:\.(\d+)|-[a-z]+\d+)(?:\.\d+)?")

_STREAMS = ("released", "proposed", "devel", "testing")

NO_AGENTS = "There are no agents: of no use"

UPGRADE = (
    flags.text("agent-version", "Upgrade to this version"),
    flags.text("agent-stream", "Stream to look for versions in"),
)

MORE = (
    flags.switch("dry-run", "Only report what would be upgraded", void=True),
    flags.switch("reset-previous-upgrade", "No upgrade is ever left unfinished here: of no use", void=True),
    flags.switch("yes", "There is no question to answer: of no use", short="y", void=True),
    flags.switch("ignore-agent-versions", NO_AGENTS, void=True),
    flags.duration("timeout", "It never lasts: of no use", default="10m", void=True),
)

DETAILS = (
    "There are no agents on machines: each contact sends what runs there. 'pushjuju version' shows the\n"
    "version of Juju that pushjuju emulates; to get a newer version, install a newer pushjuju."
)


def check_version(version: str, stream: str) -> None:
    """Refuse an invalid version, and every version but the emulated one."""
    if stream and stream not in _STREAMS:
        raise UsageError(f'agent stream "{stream}" not valid', hint=f"known streams: {', '.join(_STREAMS)}")
    if not version:
        return
    if not _VERSION.fullmatch(version):
        raise UsageError(f'invalid version "{version}"')
    if _numbers(version) != _numbers(JUJU_VERSION):
        raise NotFound(
            f"no matching agent versions available: this pushjuju offers {JUJU_VERSION}",
            hint="install a newer pushjuju for a newer version",
        )


def _numbers(version: str) -> tuple[Any, ...]:
    match = _VERSION.match(version)
    return match.groups() if match else (version,)
