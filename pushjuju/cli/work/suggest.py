"""Suggests the name that the user may have wanted. Imported only after an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pushjuju.cli.work import session
from pushjuju.core.errors import PushjujuError
from pushjuju.core.problems import Subject
from pushjuju.core.suggest import closest, distance, is_alike
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.views import known_names

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.model.sessions import Session


def advise(error: PushjujuError, cli: Cli) -> None:
    """Add a suggestion to an error; a failure of the search itself is not reported."""
    try:
        found = hint(error.subject, cli)
    except (PushjujuError, OSError):
        return
    error.hint = "\n".join(text for text in (found, error.hint) if text)


def hint(subject: Subject | None, cli: Cli) -> str:
    """Return `Did you mean:` with the most similar name, or an empty text."""
    if subject is None:
        return ""
    near = closest(subject.name, _candidates(subject.kind, cli))
    return f"\nDid you mean:\n\t{near}" if near and _is_alike(subject.name, near) else ""


def _is_alike(name: str, near: str) -> bool:
    """Return True when a name may be a typing error for another; only the number of a unit is not enough."""
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
    return known_names.of_model(opened.ctx, opened.uuid, kind) if opened else ()


def _controllers(cli: Cli) -> Iterable[str]:
    return session.data_dir(cli).controllers()


def _models(cli: Cli) -> Iterable[str]:
    for key, ctx in cli.extra.items():
        if key.startswith("controller "):
            yield from known_names.of_controller(ctx, "model")


def _clouds(cli: Cli) -> Iterable[str]:
    return {*clouds.BUILT_IN, *session.data_dir(cli).clouds()}


def _users(cli: Cli) -> Iterable[str]:
    yield "admin"
    for key, ctx in cli.extra.items():
        if key.startswith("controller "):
            yield from known_names.of_controller(ctx, "user")
