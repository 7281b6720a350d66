"""The registry of facades: their versions and kinds of connections, and the access that a method needs.

`KNOWN` names all facades, so that Login can announce them; a facade's first request imports its module.
There a facade is a class with methods; `@facade`, `@method` and `@bulk` register both. A method takes the
params as a dataclass, or their fields as arguments, and returns a TypedDict whose keys are those of the wire;
a bulk method takes one item of the params, and returns its result.
Mirrors: juju apiserver/facade/registry.go, apiserver/restrict_*.go (3.6)
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from enum import IntEnum, StrEnum
from functools import wraps
from importlib import import_module
from types import GenericAlias
from typing import Any, TypeVar, get_origin, get_type_hints

from pushjuju.core.errors import PushjujuError
from pushjuju.web.call import Call
from pushjuju.web.decoding import decode
from pushjuju.web.errors import NOT_IMPLEMENTED, NOT_SUPPORTED, ApiError, told
from pushjuju.web.shapes.common import Entities

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound="type[Facade]")
_NEWEST = 10_000
_NO_PARAMS = ("self", "return")


class On(StrEnum):
    """The kind of connection that a facade belongs to."""

    CONTROLLER = "controller"
    MODEL = "model"
    BOTH = "both"


class Needs(IntEnum):
    """The access that a method needs, the least first.

    Methods of a controller connection that are about a model check the access to that model themselves:
    they need LOGIN.
    """

    LOGIN = 0
    READ = 1
    WRITE = 2
    ADMIN = 3
    SUPERUSER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of a facade."""

    facade: type[Facade]
    name: str
    attribute: str
    needs: Needs
    params: type[Any] | None  # the dataclass of its params, or None for a method without params
    spread: bool  # True for a method that takes the fields of its params as arguments
    since: int
    until: int
    changes: bool  # True for a method that changes something
    blocked_by: str  # the set of disabled commands that forbids the method (`blocks.SETS`), or empty
    waits: bool  # True for a coroutine, which runs in the event loop and not in a thread

    def arguments(self, given: Any) -> Mapping[str, Any]:
        """Return the arguments that the method takes for the params of a request.

        Raises:
            WrongType: A field has a value of another type; the message names the field.
        """
        if self.params is None:
            return {}
        found = decode(self.params, given)
        if not self.spread:
            return {"params": found}
        return {item.name: getattr(found, item.name) for item in fields(found)}


class Facade:
    """The base of all facades; an instance serves one request."""

    name: str
    versions: Sequence[int]
    on: On
    methods: Mapping[str, Method]

    def __init__(self, call: Call) -> None:
        self.call = call
        self.ctx = call.ctx
        self.user = call.ctx.user

    @property
    def model(self) -> str:
        """The UUID of the connection's model."""
        return self.call.model_uuid


@dataclass(frozen=True, slots=True)
class Known:
    """A facade as Login announces it."""

    module: str  # the module with the facade's class, below `pushjuju.web.facades`
    versions: Sequence[int]
    on: On


KNOWN: Mapping[str, Known] = {
    "Action": Known("action", (7,), On.MODEL),
    "AllModelWatcher": Known("watchers", (4,), On.CONTROLLER),
    "AllWatcher": Known("watchers", (3,), On.MODEL),
    "Annotations": Known("annotations", (2,), On.MODEL),
    "Application": Known("application.application", range(17, 23), On.MODEL),
    "ApplicationOffers": Known("application_offers", (4, 5), On.CONTROLLER),
    "Backups": Known("upkeep", (3,), On.MODEL),
    "Block": Known("block", (2,), On.MODEL),
    "Bundle": Known("bundle", (6,), On.BOTH),
    "Charms": Known("charms", (5, 6, 7), On.MODEL),
    "Client": Known("client", (6, 7, 8), On.MODEL),
    "Cloud": Known("cloud", (7,), On.CONTROLLER),
    "Controller": Known("controller", (11, 12), On.CONTROLLER),
    "HighAvailability": Known("controller", (2,), On.BOTH),
    "KeyManager": Known("key_manager", (1,), On.MODEL),
    "MachineManager": Known("machine_manager", (9, 10, 11), On.MODEL),
    "ModelConfig": Known("model_config", (3,), On.BOTH),
    "ModelManager": Known("model_manager", (9, 10), On.CONTROLLER),
    "ModelSummaryWatcher": Known("watchers", (1,), On.CONTROLLER),
    "ModelUpgrader": Known("upkeep", (1,), On.CONTROLLER),
    "NotifyWatcher": Known("watchers", (1,), On.BOTH),
    "Payloads": Known("resources", (1,), On.MODEL),
    "Pinger": Known("watchers", (1,), On.BOTH),
    "Resources": Known("resources", (3,), On.MODEL),
    "SSHClient": Known("upkeep", (4, 5), On.MODEL),
    "SecretBackends": Known("secret_backends", (1,), On.CONTROLLER),
    "Secrets": Known("model_secrets", (1, 2), On.MODEL),
    "Spaces": Known("spaces", (6,), On.MODEL),
    "Storage": Known("model_storage", (6, 7), On.MODEL),
    "StringsWatcher": Known("watchers", (1,), On.MODEL),
    "Subnets": Known("spaces", (5,), On.MODEL),
    "UserManager": Known("user_manager", (3,), On.CONTROLLER),
}
FACADES: dict[str, type[Facade]] = {}  # those whose modules are imported
_loading = threading.Lock()


def load(name: str) -> None:
    """Import the module of a facade."""
    with _loading:
        import_module(f"pushjuju.web.facades.{KNOWN[name].module}")


async def ready(name: str) -> None:
    """Import the module of a facade in a thread, if nobody has asked for the facade yet."""
    if name in KNOWN and name not in FACADES:
        await asyncio.to_thread(load, name)


def load_all() -> None:
    """Import the modules of all facades."""
    for name in KNOWN:
        load(name)


def method(
    needs: Needs,
    *,
    name: str = "",
    since: int = 0,
    until: int = _NEWEST,
    changes: bool = False,
    blocked_by: str = "",
) -> Callable[[F], F]:
    """Mark a method of a facade; `full_status` is `FullStatus` on the wire unless a name is given."""

    def mark(function: F) -> F:
        function.__dict__["api"] = {
            "needs": needs,
            "name": name or "".join(word.capitalize() for word in function.__name__.split("_")),
            "since": since,
            "until": until,
            "changes": changes or bool(blocked_by),
            "blocked_by": blocked_by,
        }
        return function

    return mark


def bulk(
    listed: str, needs: Needs, *, empty: Mapping[str, object] | None = None, **more: Any
) -> Callable[[Callable[[Any, Any], object]], Any]:
    """Mark a method that takes one item of a bulk request and returns its result, or None for an empty one.

    Args:
        listed: The field that lists the items; of `entities`, a method may take the tags.
        empty: What the result of an item that fails has beside its error.
        more: As for `method`.
    """

    def mark(function: Callable[[Any, Any], object]) -> Any:
        @wraps(function)
        def run(self: Facade, **given: Any) -> dict[str, list[object]]:
            tagged = given.get("params")
            items = [item.tag for item in tagged.entities] if tagged else given[listed]
            return {"results": [_result(function, self, item, empty or {}) for item in items]}

        run.__dict__["listed"] = listed
        return method(needs, **more)(run)

    return mark


def _result(
    function: Callable[[Any, Any], object], caller: Facade, item: object, empty: Mapping[str, object]
) -> object:
    try:
        return function(caller, item) or {}
    except PushjujuError as error:
        return {**empty, "error": told(error)}


def facade(name: str) -> Callable[[C], C]:
    """Register the class of a facade that is in `KNOWN`."""

    def register(kind: C) -> C:
        kind.name, kind.versions, kind.on = name, KNOWN[name].versions, KNOWN[name].on
        parts = (vars(part) for part in reversed(kind.__mro__))
        found = [_method(kind, item) for part in parts for item in part.values() if hasattr(item, "api")]
        kind.methods = {item.name: item for item in found}
        FACADES[name] = kind
        return kind

    return register


def _method(kind: type[Facade], function: Any) -> Method:
    hints = {name: hint for name, hint in get_type_hints(function).items() if name not in _NO_PARAMS}
    if listed := vars(function).get("listed"):
        (item,) = hints.values()
        hints = {"params": Entities} if item is str else {listed: GenericAlias(list, (item,))}
    whole = hints.get("params")
    spread = bool(hints) and not is_dataclass(whole)
    return Method(
        facade=kind,
        attribute=function.__name__,
        params=_fields(function.api["name"], hints) if spread else whole,
        spread=spread,
        waits=inspect.iscoroutinefunction(function),
        **function.api,
    )


def _fields(name: str, hints: Mapping[str, Any]) -> type[Any]:
    """Return the dataclass of params that a method takes as arguments; each is empty unless it is given."""
    listed = [(key, hint, field(default_factory=get_origin(hint) or hint)) for key, hint in hints.items()]
    return make_dataclass(name, listed, frozen=True, slots=True, kw_only=True)


def announced(on: On) -> list[dict[str, object]]:
    """Return the names and versions of facades that Login announces on a kind of connection."""
    return [
        {"name": name, "versions": list(kind.versions)}
        for name, kind in sorted(KNOWN.items())
        if kind.on in (on, On.BOTH)
    ]


def find(name: str, version: int, request: str, on: On) -> Method:
    """Return the method that a request names; the facade is `ready`.

    Raises:
        ApiError: This kind of connection has no such facade, version or method; the texts are Juju's.
    """
    known = KNOWN.get(name)
    if known is None and not version:
        raise ApiError(f'unknown object type "{name}"', NOT_IMPLEMENTED)
    if known is None or version not in known.versions:
        raise ApiError(f'unknown version ({version}) of interface "{name}"', NOT_IMPLEMENTED)
    if known.on not in (on, On.BOTH):
        raise ApiError(f'facade "{name}" not supported for {on} API connection', NOT_SUPPORTED)
    found = FACADES[name].methods.get(request)
    if found is None or not found.since <= version <= found.until:
        raise ApiError(
            f"no such request - method {name}({version}).{request} is not implemented", NOT_IMPLEMENTED
        )
    return found
