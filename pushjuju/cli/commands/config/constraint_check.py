"""Checks new constraints against what the cloud can fulfil."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.services.entities.model import sessions
from pushjuju.workers.provision import precheck


def check_change(cli: Cli, opened: sessions.Session, asked: Mapping[str, Any], what: str) -> None:
    if asked:
        precheck.check_constraints(opened.ctx, opened.uuid, asked, what=what, warn=cli.console.warn)
