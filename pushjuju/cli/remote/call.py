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
    """What a remote form gets.

    Attributes:
        values: The values of all flags of the command line.
        args: The positional arguments, which the command itself has checked.
        flags: An object with the values of the command's flags.
    """

    cli: Cli
    command: Command
    values: Mapping[str, Any]
    target: Target
    args: tuple[str, ...]
    flags: Any
