"""What was probably meant by a name that does not exist. Layer: cli; imported when a command has failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pushjuju.cli.root import closest
from pushjuju.cli.suggest import distance

if TYPE_CHECKING:
    from pushjuju.cli.command import Cli
    from pushjuju.cli.session import Session

_LONGEST = 100  # letters of a name that is worth a comparison
_MOST = 5000  # names to compare with
_QUERIES = {
    "application": "application_list",
    "unit": "unit_list",
    "storage": "storage_instance_list",
}
# What an error says of a name that is not there -> what kind of name it is.
_TEXTS = (
    (re.compile(r'\bapplication "([^"]+)" (?:not found|does not exist)'), "application"),
    (re.compile(r'\bunit "([^"]+)" (?:not found|does not exist)'), "unit"),
    (re.compile(r'\bstorage(?: instance)? "?([^" ]+)"? not found'), "storage"),
    (re.compile(r"\bmodel [^ ]+:[^ /]+/([^ ]+) not found"), "model"),
    (re.compile(r"\bcontroller ([^ ]+) not found"), "controller"),
    (re.compile(r'"([^"]+)" is not the name of a (?:model or )?controller'), "controller or model"),
    (re.compile(r'\bcloud "?([^" ]+)"? not found'), "cloud"),
    (re.compile(r'\buser "([^"]+)" not found'), "user"),
)


def hint(message: str, cli: Cli) -> str:
    """Return `Did you mean:` with the nearest name, or an empty text."""
    for pattern, kind in _TEXTS:
        found = pattern.search(message)
        if found is not None and len(found[1]) <= _LONGEST:
            near = closest(found[1], list(_candidates(kind, cli))[:_MOST])
            apart = distance(found[1], near)
            return f"\nDid you mean:\n\t{near}" if near and 0 < apart < len(found[1]) else ""
    return ""


def _candidates(kind: str, cli: Cli) -> Iterable[str]:
    known: Mapping[str, Callable[[Cli], Iterable[str]]] = {
        "controller": _controllers,
        "model": _models,
        "controller or model": lambda call: (*_controllers(call), *_models(call)),
        "cloud": _clouds,
        "user": _users,
    }
    return known[kind](cli) if kind in known else _of_model(kind, cli)


def _of_model(kind: str, cli: Cli) -> Iterable[str]:
    opened: Session | None = cli.extra.get("model")
    if opened is None:
        return ()
    with opened.ctx.store.read() as tx:
        column = "id" if kind == "storage" else "name"
        return [str(row[column]) for row in tx.rows(_QUERIES[kind], model=opened.uuid)]


def _controllers(cli: Cli) -> Iterable[str]:
    from pushjuju.cli import session

    return session.data_dir(cli).controllers()


def _models(cli: Cli) -> Iterable[str]:
    for key, ctx in cli.extra.items():
        if key.startswith("controller "):
            with ctx.store.read() as tx:
                yield from (str(row["name"]) for row in tx.rows("model_list"))


def _clouds(cli: Cli) -> Iterable[str]:
    from pushjuju.cli import session
    from pushjuju.services.clouds import BUILT_IN

    return {*BUILT_IN, *session.data_dir(cli).clouds()}


def _users(cli: Cli) -> Iterable[str]:
    yield "admin"
    for key, ctx in cli.extra.items():
        if key.startswith("controller "):
            with ctx.store.read() as tx:
                yield from (str(row["name"]) for row in tx.rows("person_list"))
