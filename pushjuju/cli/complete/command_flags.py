"""The flags of commands, for shell completion."""

from __future__ import annotations

from pushjuju.cli.app.root import Root
from pushjuju.cli.syntax.command import GLOBAL_FLAGS


def flags_of(command: str) -> list[tuple[tuple[str, ...], bool, str, tuple[str, ...]]]:
    """Return a command's flags: names with dashes, True for a switch, help, choices."""
    found = Root().get_command(None, command)  # type: ignore[arg-type]
    specs = (*(found.specs if found else ()), *GLOBAL_FLAGS)
    return [
        (
            tuple(f"--{name}" if len(name) > 1 else f"-{name}" for name in spec.names),
            spec.boolean,
            spec.help,
            spec.choices,
        )
        for spec in specs
        if not spec.hidden
    ]
