"""Shared by the commands about branches."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Command
from pushjuju.cli.syntax.refusing import refused

_REASON = "branches are no part of Juju 3.6 unless a feature flag is set"

UTC = flags.switch("utc", "Display time as UTC in RFC3339 format")


def branch_word(name: str, *more: Any, **settings: Any) -> Command:
    return refused(name, _REASON, flags=(*flags.MODEL, *flags.LOGIN, *more), **settings)
