"""Words of Juju that have no meaning here: they take Juju's flags and say in one line why nothing is done.

A refusal prints nothing on stdout, one line on stderr, and ends with exit status 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pushjuju.cli.syntax.command import Cli, Command
from pushjuju.cli.syntax.gnuflag import FlagSpec
from pushjuju.core.errors import Refused


def refused(name: str, reason: str, *, flags: Iterable[FlagSpec] = (), **settings: Any) -> Command:
    """Make a command that is refused; the settings are those of `Command`.

    Args:
        reason: The rest of the line, without a full stop.
        flags: Juju's flags; their values are checked, and then of no use.
    """

    def refuse(_cli: Cli, _args: tuple[str, ...]) -> None:
        raise refusal(name, reason)

    void = tuple(replace(spec, void=True) for spec in flags)
    details = f"Not supported: {reason}."
    summary = f"{settings.pop('summary').rstrip('.')} (not supported here)."
    return Command(name, refuse, flags=void, summary=summary, **{"details": details, **settings})


def refusal(name: str, reason: str) -> Refused:
    """Return the error of a word, or of a form of one, that has no meaning here."""
    return Refused(f"{name} not supported by pushjuju: {reason}")
