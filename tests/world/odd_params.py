"""Params of the API's methods, made from their dataclasses: good ones, and ones with one odd value.

A method that is registered tomorrow gets its params here without a change, since only types and the names of
fields decide.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from pushjuju.web.decoding import wire_name
from pushjuju.web.registry import FACADES, Method, load_all

load_all()
METHODS: tuple[Method, ...] = tuple(item for kind in FACADES.values() for item in kind.methods.values())
TAGS = (
    "application-web", "unit-web-0", "machine-0", "model-{model}", "user-kim", "cloud-local", "action-1",
    "operation-1", "storage-data-0", "space-alpha", "cloudcred-local_admin_default",
)  # fmt: skip
NAMES: Mapping[str, Any] = {
    "access": "read", "action": "grant", "application": "web", "application_name": "web",
    "application_tag": "application-web", "applications": "web", "auth_type": "empty", "channel": "22.04",
    "charm_name": "web", "charm_url": "local:web-0", "cloud_name": "local", "cloud_tag": "cloud-local",
    "commands": "true", "container_type": "lxd", "credential": "cloudcred-local_admin_default",
    "credential_name": "default", "credential_tag": "cloudcred-local_admin_default",
    "date": "2020-01-01T00:00:00Z",
    "directive": "0", "endpoints": "web:site", "entity": "application-web", "from_space_tag": "space-alpha",
    "history_kind": "unit", "instance_id": "manual:10.1.2.3", "keys": "extra-info", "label": "token",
    "machine_id": "0", "machine_tags": "machine-0", "machines": "machine-0", "model_name": "shop",
    "model_tag": "model-{model}", "name": "web", "nonce": "nonce", "offer_name": "web",
    "offer_url": "admin/shop.web", "offer_urls": "admin/shop.web", "owner_name": "admin",
    "owner_tag": "user-admin", "password": "a-new-password", "pool": "rootfs", "provider": "rootfs",
    "receiver": "unit-web-0", "reference": "ch:web", "scope": "#", "size": 1024, "space_tag": "space-more",
    "storage_tag": "storage-data-0", "timeout": 1_000_000_000, "to_space_tag": "space-more", "type": "charm",
    "unit": "web/0", "unit_tag": "unit-web-0", "units": "web/0", "url": "local:web-0", "user": "admin",
    "user_tag": "user-kim", "username": "zoe", "yaml": "applications: {web: {charm: web, num_units: 1}}",
}  # fmt: skip
DEEP = json.loads("[" * 50 + "]" * 50)
LONG = "x" * 70_000
ODD_TEXTS = (
    "", "-", "\0", "\ud800", "9" * 400, "../../etc/passwd", "%s{0}{model}", "model-",
    "unit-web-" + "9" * 40, "'; DROP TABLE unit; --", "machine-0/lxd/0/lxd/0", "[" * 300,
    "{a: &a [*a]}", "web/²", LONG,
)  # fmt: skip
ODD_NUMBERS = (-(2**63), -1, 0, 2**31, 2**63 - 1)


class Place(NamedTuple):
    """A value within params: the way to the value, and the type that the value must have."""

    path: tuple[str | int, ...]
    kind: Any


def newest(method: Method) -> int:
    """Return the newest version of a facade that has a method."""
    return max(number for number in method.facade.versions if method.since <= number <= method.until)


def named(params: Any, model: str) -> Any:
    """Return params with the UUID of a model in the place of `{model}`."""
    return json.loads(json.dumps(params).replace("{model}", model))


def candidates(method: Method, model: str) -> list[Any]:
    """Return good params of a method, without and with its optional fields, for each kind of entity."""
    made = [good(method.params, tag, full=full) for full in (False, True) for tag in TAGS]
    return list({json.dumps(item): named(item, model) for item in made}.values())


def good(kind: Any, tag: str, field: str = "", *, full: bool = True, names: Mapping[str, Any] = NAMES) -> Any:
    """Return a value of a type; texts are names of entities that a test's model has, as far as fields tell.

    Args:
        tag: Stands where a field may name any entity.
        full: True for a value with all fields; False leaves out those that usually contradict others.
    """
    kind = _bare(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return {
            wire_name(item): good(hints[item.name], tag, item.name, full=full, names=names)
            for item in fields(kind)
            if full or item.name in names or _holds_more(hints[item.name])
        }
    if origin is list:
        return [good(parts[0], tag, field, full=full, names=names)]
    if origin is dict:
        return {"key": good(parts[1], tag, full=full, names=names)} if full else {}
    if kind is int:
        return names.get(field, 1)
    return False if kind is bool else names.get(field, tag)


def _holds_more(kind: Any) -> bool:
    kind = _bare(kind)
    return is_dataclass(kind) or (get_origin(kind) is list) or kind is str


def _bare(kind: Any) -> Any:
    """Return a type without `None` and annotations."""
    if get_origin(kind) is Annotated:
        return get_args(kind)[0]
    found = [part for part in get_args(kind) if part is not NoneType]
    return _bare(found[0]) if NoneType in get_args(kind) else kind


def places(kind: Any, value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Place]:
    """Return all places of params."""
    kind = _bare(kind)
    yield Place(path, kind)
    parts = get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        for item in fields(kind):
            if (name := wire_name(item)) in value:
                yield from places(hints[item.name], value[name], (*path, name))
    elif isinstance(value, list) and parts:
        yield from places(parts[0], value[0], (*path, 0))
    elif isinstance(value, dict) and parts:
        for key, item in value.items():
            yield from places(parts[1], item, (*path, key))


def at(params: Any, path: tuple[str | int, ...]) -> Any:
    """Return the value at a place of params."""
    for step in path:
        params = params[step]
    return params


def put(params: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of params with another value at one place."""
    if not path:
        return value
    made = copy.deepcopy(params)
    at(made, path[:-1])[path[-1]] = value
    return made


def without(params: Any, path: tuple[str | int, ...]) -> Any:
    """Return a copy of params without a field."""
    made = copy.deepcopy(params)
    del at(made, path[:-1])[path[-1]]
    return made


def wrong(kind: Any) -> list[Any]:
    """Return values that JSON gives other types than a place has."""
    every: dict[Any, Any] = {str: "x", bool: True, float: 1.5, int: 7, list: ["x"], dict: {"x": "y"}}
    own = dict if is_dataclass(kind) else get_origin(kind) or kind
    return [] if own is Any else [value for name, value in every.items() if name is not own]


def odd(kind: Any, value: Any) -> list[Any]:
    """Return values of the right type that a careless method may trip over."""
    if kind is Any:
        others = (1e300, True, [], {}, DEEP, {"": {"": DEEP}}, ["x", None, 1, {}])
        return [None, *ODD_TEXTS[:8], *ODD_NUMBERS, *others]
    if kind is str:
        return [None, *ODD_TEXTS]
    if kind is int:
        return [None, *ODD_NUMBERS]
    if isinstance(value, list):
        return [None, [], [None], value * 2, value * 100]
    if isinstance(value, dict):
        item = next(iter(value.values()), "x")
        unknown = {LONG: DEEP, "unknown": DEEP, "": None}
        entries = dict.fromkeys(("", "\0", "../x", "a=b", "☃" * 300), item)
        return [None, {}, {**value, **(unknown if is_dataclass(kind) else entries)}]
    return [None]
