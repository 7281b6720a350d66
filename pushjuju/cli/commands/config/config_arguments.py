"""Parses the arguments of the config commands: get one, get all, set, reset, set from a file.

Pure. Mirrors: juju cmd/juju/config/config.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pushjuju.cli.syntax.values import pairs
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigArgs:
    """What a config command is to do."""

    key: str = ""  # the key to get; empty for all keys
    values: Mapping[str, str] = field(default_factory=dict)
    reset: tuple[str, ...] = ()
    file: str = ""  # the YAML file with the values to set; empty for none

    @property
    def change(self) -> bool:
        """Return True when the arguments change a setting."""
        return bool(self.values or self.reset or self.file)


def parse(args: Sequence[str], *, file: str = "", reset: Sequence[str] = ()) -> ConfigArgs:
    """Parse the arguments after the name of the entity."""
    keys = [arg for arg in args if "=" not in arg]
    changes = pairs(arg for arg in args if "=" in arg)
    actions = [
        word
        for word, options in (
            ("get value", bool(keys)),
            ("reset keys", bool(reset)),
            ("set from file", bool(file)),
            ("set values", bool(changes)),
        )
        if options
    ]
    if keys and len(actions) > 1:
        raise UsageError(f"cannot {_listed(actions)} simultaneously")
    if len(keys) > 1:
        raise UsageError("cannot specify multiple keys to get")
    for key in reset:
        if "=" in key:
            raise UsageError(
                f"--reset accepts a comma delimited set of keys {quote('a,b,c')}, received: {quote(key)}"
            )
        if key in changes:
            raise UsageError(f"cannot set and reset key {quote(key)} simultaneously")
    return ConfigArgs(
        key=keys[0] if keys else "", values=changes, reset=tuple(filter(None, reset)), file=file
    )


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}"
