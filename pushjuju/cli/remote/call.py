"""A call of a command for a controller of another computer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli, Command
    from pushjuju.client.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a remote form gets."""

    cli: Cli
    command: Command
    values: Mapping[str, Any]  # the values of all flags of the command line
    target: Target
    args: tuple[str, ...]  # the positional arguments, which the command itself has checked
    flags: Any  # an object with the values of the command's flags
