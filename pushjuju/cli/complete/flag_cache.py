"""Keeps the flags of commands for shell completion: reading them from the commands imports click.

A file of the user's cache has the flags of one command, as text, since even the import of json takes long.
The first line names the files that the flags are from, so that an upgrade reads them anew.
"""

from __future__ import annotations

import os

from pushjuju import __version__
from pushjuju.cli.commands import registry

Flags = list[tuple[tuple[str, ...], bool, str, tuple[str, ...]]]
_FIELD, _ITEM = "\t", "\x1f"
_SHARED = ("syntax/flags.py", "syntax/command.py")


def load(command: str) -> Flags | None:
    """Return the flags of a command as they were kept, or None."""
    try:
        with open(_place(command), encoding="utf-8") as file:  # noqa: PTH123 - start-up time
            stamp, *lines = file.read().splitlines()
        if stamp != _stamp(command):
            return None
        return [_read(line) for line in lines]
    except (OSError, ValueError, LookupError):
        return None


def keep(command: str, flags: Flags) -> None:
    """Keep the flags of a command; a cache that cannot be written is no error."""
    place = _place(command)
    try:
        os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)  # noqa: PTH103, PTH120 - start-up time
        name = f"{place}.{os.getpid()}"
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("\n".join([_stamp(command), *(_line(*flag) for flag in flags)]))
        os.replace(name, place)  # noqa: PTH105
    except (OSError, LookupError):
        return


def _line(names: tuple[str, ...], switch: bool, about: str, choices: tuple[str, ...]) -> str:
    text = " ".join(about.split())
    return _FIELD.join((_ITEM.join(names), "1" if switch else "", text, _ITEM.join(choices)))


def _read(line: str) -> tuple[tuple[str, ...], bool, str, tuple[str, ...]]:
    names, switch, about, choices = line.split(_FIELD)
    return tuple(names.split(_ITEM)), bool(switch), about, tuple(filter(None, choices.split(_ITEM)))


def _place(command: str) -> str:
    env = os.environ
    base = env.get("PUSHJUJU_CACHE") or os.path.join(  # noqa: PTH118 - start-up time
        env.get("XDG_CACHE_HOME") or os.path.join(env.get("HOME", "/nonexistent"), ".cache"),  # noqa: PTH118
        "pushjuju",
    )
    return os.path.join(base, "completion", command)  # noqa: PTH118


def _stamp(command: str) -> str:
    """Return a text that changes with the files of which the flags are."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    own = f"commands/{registry.words()[command].replace('.', '/')}.py"
    times = (str(os.stat(f"{folder}/{name}").st_mtime_ns) for name in (own, *_SHARED))  # noqa: PTH116
    return " ".join((__version__, folder, *times))
