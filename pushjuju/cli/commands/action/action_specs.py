"""The actions of an application's charm."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications


def action_specs(opened: session.Session, name: str) -> dict[str, Any]:
    with opened.ctx.store.read() as tx:
        return dict(actions.specs(tx, applications.get(tx, opened.uuid, name)))


def application_of(args: tuple[str, ...]) -> str:
    if not is_application(args[0]):
        raise UsageError(f"invalid application name {quote(args[0])}")
    return args[0]
