"""The flags with which deploy and refresh name a charm, and what they print of the charm."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.services.entities.application.bindings import parse

CONFIG = flags.many(
    "config", "Configuration, key=value or a YAML file; repeatable", kind=Kind.KEY_VALUE_OR_FILE, default=""
)


def warn_all(cli: Cli, warnings: tuple[str, ...]) -> None:
    for text in warnings:
        cli.console.warn(text)


def bindings_of(text: str) -> dict[str, str]:
    return parse(text)
