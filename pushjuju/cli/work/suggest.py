"""Finds the name that a user may have wanted. Imported when a command has failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pushjuju.cli.work import session
from pushjuju.core.errors import PushjujuError
from pushjuju.core.suggest import closest, distance, is_alike
from pushjuju.services.entities.cloud.clouds import BUILT_IN

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.session import Session

_QUERIES = {
    "application": "application_list",
    "unit": "unit_list",
    "storage": "storage_instance_list",
    "offer": "complete_offer_url",
    "saas": "complete_saas",
    "space": "complete_space",
    "pool": "complete_pool",
}
_OF_THE_CONTROLLER = ("offer",)
# The words of an error about an unknown name -> the kind of the name.
_TEXTS = (
    (re.compile(r'\bapplication "([^"]+)" (?:not found|does not exist)'), "application"),
    (re.compile(r'\bunit "([^"]+)" (?:not found|does not exist)'), "unit"),
    (re.compile(r'\bunit or storage "([^"]+)" not found'), "unit or storage"),
    (re.compile(r'\bstorage(?: instance)? "?([^" ]+)"? not found'), "storage"),
    (re.compile(r"\bmodel [^ ]+:[^ /]+/([^ ]+) not found"), "model"),
    (re.compile(r"\bcontroller ([^ ]+) not found"), "controller"),
    (re.compile(r'"([^"]+)" is not the name of a (?:model or )?controller'), "controller or model"),
    (re.compile(r'\bcloud "?([^" ]+)"? not found'), "cloud"),
    (re.compile(r'\buser "([^"]+)" not found'), "user"),
    (re.compile(r'\bapplication offer "([^"]+)" not found'), "offer"),
    (re.compile(r'\bsaas application "([^"]+)" not found'), "saas"),
    (re.compile(r'\bspace "([^"]+)" not found'), "space"),
    (re.compile(r'\bpool "([^"]+)" not found'), "pool"),
)


def advise(error: PushjujuError, cli: Cli) -> None:
    """Add the name that the user may have wanted to an error; failures in that are not reported."""
    try:
        found = hint(error.message, cli)
    except (PushjujuError, OSError):
        return
    error.hint = "\n".join(text for text in (found, error.hint) if text)


def hint(message: str, cli: Cli) -> str:
    """Return `Did you mean:` with the nearest name, or an empty text."""
    for pattern, kind in _TEXTS:
        found = pattern.search(message)
        if found is not None:
            near = closest(found[1], _candidates(kind, cli))
            return f"\nDid you mean:\n\t{near}" if near and _is_alike(found[1], near) else ""
    return ""


def _is_alike(name: str, near: str) -> bool:
    """Return True when a name may be a slip for another; the number of a unit alone says nothing."""
    application, _, number = name.rpartition("/")
    if application and number.isdigit():
        return name != near and distance(application, near.rpartition("/")[0]) <= (len(application) + 1) // 2
    return is_alike(name, near)


def _candidates(kind: str, cli: Cli) -> Iterable[str]:
    known: Mapping[str, Callable[[Cli], Iterable[str]]] = {
        "controller": _controllers,
        "model": _models,
        "controller or model": lambda call: (*_controllers(call), *_models(call)),
        "unit or storage": lambda call: (*_of_model("unit", call), *_of_model("storage", call)),
        "cloud": _clouds,
        "user": _users,
    }
    return known[kind](cli) if kind in known else _of_model(kind, cli)


def _of_model(kind: str, cli: Cli) -> Iterable[str]:
    opened: Session | None = cli.extra.get("model")
    if opened is None:
        return ()
    with opened.ctx.store.read() as tx:
        options = {} if kind in _OF_THE_CONTROLLER else {"model": opened.uuid}
        rows = tx.rows(_QUERIES[kind], **options)
        column = "id" if kind == "storage" else "name" if _QUERIES[kind].endswith("_list") else 0
        return [str(row[column]) for row in rows]


def _controllers(cli: Cli) -> Iterable[str]:
    return session.data_dir(cli).controllers()


def _models(cli: Cli) -> Iterable[str]:
    for key, ctx in cli.extra.items():
        if key.startswith("controller "):
            with ctx.store.read() as tx:
                yield from (str(row["name"]) for row in tx.rows("model_list"))


def _clouds(cli: Cli) -> Iterable[str]:
    return {*BUILT_IN, *session.data_dir(cli).clouds()}


def _users(cli: Cli) -> Iterable[str]:
    yield "admin"
    for key, ctx in cli.extra.items():
        if key.startswith("controller "):
            with ctx.store.read() as tx:
                yield from (str(row["name"]) for row in tx.rows("person_list"))
