"""Parses ids and endpoints of relations."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.charms.values import endpoints
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.requests.relation import integrate as service


def applications_of(args: Sequence[str]) -> list[str]:
    """Return the applications in `APP[:ENDPOINT]` words."""
    try:
        return [endpoints.parse_endpoint(arg)[0] for arg in args]
    except NotValid as error:
        raise UsageError(error.message) from None


def check_id(text: str) -> None:
    if not service.is_id(text):
        raise UsageError(f"relation ID {quote(text)} not valid")


def set_suspended(
    cli: Cli, args: Sequence[str], model: str, *, suspended: bool, message: str, no_wait: bool
) -> None:
    ids = [part.strip() for arg in args for part in arg.split(",")]
    for text in ids:
        check_id(text)
    opened = session.open_model(cli, model)
    touched = service.set_suspended(opened.ctx, opened.uuid, ids, suspended=suspended, reason=message)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
