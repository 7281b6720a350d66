"""Commands of Juju that pushjuju refuses: they take Juju's flags and say in one line why they do nothing.

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
    """Make a command that pushjuju refuses; the other arguments are those of `Command`.

    Args:
        reason: Why pushjuju refuses the command: the rest of the error's line, without a full stop.
        flags: Juju's flags; their values are checked, then ignored.
    """

    def refuse(_cli: Cli, _args: tuple[str, ...]) -> None:
        raise refusal(name, reason)

    void = tuple(replace(spec, void=True) for spec in flags)
    details = f"Not supported: {reason}."
    summary = f"{settings.pop('summary').rstrip('.')} (not supported here)."
    return Command(name, refuse, flags=void, summary=summary, **{"details": details, **settings})


def refusal(name: str, reason: str) -> Refused:
    """Return the error of a command, or of a use of a command, that pushjuju does not support."""
    return Refused(f"{name} not supported by pushjuju: {reason}")
