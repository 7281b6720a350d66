"""Parses the settings of secret backends."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.portable.quote import quote, quote_list

REVEAL = flags.switch("reveal", "Include sensitive backend config content")

CONFIG = FlagSpec(name="config", kind=Kind.PATH, default="", help="Path to yaml-formatted configuration file")


def settings_of_words(words: Sequence[str]) -> dict[str, str]:
    """Parse `key=value` words; errors do not show values."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"key value {quote(word)} not valid")
        if not key:
            raise UsageError('expected "key=value", got a value without a key')
        if key in found:
            raise UsageError(f"key {quote(key)} specified more than once")
        found[key] = value
    return found


def settings_of_file(cli: Cli, path: str) -> dict[str, str]:
    if not path:
        return {}
    found = values.yaml_map(values.read_file(path, cli.console.stdin), path)
    odd = [key for key, value in found.items() if not isinstance(value, str)]
    if odd:
        raise NotValid(f"{path}: no text: {quote_list(odd)}")
    return {key: str(value) for key, value in found.items()}
