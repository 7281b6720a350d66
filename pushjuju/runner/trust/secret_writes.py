"""Checks the form and size of the secrets that a hook wrote, as `intake` does for everything else.

No error text contains the content of a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pushjuju.core import limits
from pushjuju.core.errors import NotValid
from pushjuju.core.model.secrets import Content, Rotation, check_content, is_id
from pushjuju.core.values import regex
from pushjuju.runner.remote.base import wire

Document = dict[str, Any]
_AFTER = regex(r"\+([0-9]{1,10})")
_LABEL = 16 * limits.NAME  # characters


class OddSecret(wire.BadFrame):
    """A field of a secret has a wrong type or value; the text names the field and the fault."""


def read(writes: Mapping[str, Any]) -> Document:
    """Return the checked writes to secrets, each field in its own type.

    Returns:
        `create` and `update`: id -> content, label, description, rotate, expire (a time, or seconds after the
        commit), owner; `track`: ids; `grant`: id, relation, target; `revoke`: id, target; `remove`: id ->
        revisions, where an empty list means all.
    """
    return {
        "create": {_id(key): _upsert(item, new=True) for key, item in _map(writes, "create").items()},
        "update": {_id(key): _upsert(item, new=False) for key, item in _map(writes, "update").items()},
        "track": sorted(_id(key) for key in _map(writes, "track")),
        "grant": [_grant(item) for item in _list(writes, "grant")],
        "revoke": [_revoke(item) for item in _list(writes, "revoke")],
        "remove": {_id(key): _numbers(item) for key, item in _map(writes, "remove").items()},
    }


def _map(writes: Mapping[str, Any], key: str) -> Document:
    found = writes.get(key) or {}
    if not isinstance(found, dict) or len(found) > limits.SECRETS:
        raise OddSecret(f"writes.secrets.{key} is not a map, or too large")
    return found


def _list(writes: Mapping[str, Any], key: str) -> list[Any]:
    found = writes.get(key) or []
    if not isinstance(found, list) or len(found) > limits.SECRETS:
        raise OddSecret(f"writes.secrets.{key} is not a list, or too long")
    return found


def _id(value: object) -> str:
    if not isinstance(value, str) or not is_id(value):
        raise OddSecret("writes.secrets names no secret")
    return value


def _text(item: Mapping[str, Any], key: str, most: int = limits.NAME) -> str:
    found = item.get(key)
    if not isinstance(found, str) or len(found) > most:
        raise OddSecret(f"writes.secrets: {key} is not a text, or too long")
    return found.encode("utf-8", "replace").decode()


def _upsert(item: object, *, new: bool) -> Document:
    if not isinstance(item, dict):
        raise OddSecret("writes.secrets holds no secret")
    found: Document = {}
    if new or "content" in item:
        found["content"] = _content(item.get("content"))
    for key, most in (("label", _LABEL), ("description", limits.MESSAGE)):
        if key in item:
            found[key] = _text(item, key, most)
    if "rotate" in item:
        found["rotate"] = _rotation(item["rotate"])
    if "expire" in item:
        found["expire"] = _expiry(item["expire"])
    if new:
        found["owner"] = _text(item, "owner")
        if found["owner"] not in ("application", "unit"):
            raise OddSecret("writes.secrets: owner is neither application nor unit")
    return found


def _content(value: object) -> Content:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise OddSecret("writes.secrets: content is not a map of texts")
    try:
        return check_content(value)
    except NotValid as error:
        raise OddSecret(f"writes.secrets: {error.message}") from None


def _rotation(value: object) -> Rotation:
    try:
        return Rotation(str(value))
    except ValueError:
        raise OddSecret("writes.secrets: rotate is no policy") from None


def _expiry(value: object) -> datetime | int:
    """Return a time, or the seconds after the commit."""
    if not isinstance(value, str):
        raise OddSecret("writes.secrets: expire is not a text")
    if found := _AFTER.fullmatch(value):
        return int(found[1])
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise OddSecret("writes.secrets: expire is no time in UTC")


def _grant(item: object) -> Document:
    if not isinstance(item, dict):
        raise OddSecret("writes.secrets.grant holds no grant")
    number = item.get("relation")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1 << 53:
        raise OddSecret("writes.secrets.grant names no relation")
    return {"id": _id(item.get("id")), "relation": number, "target": _text(item, "target")}


def _revoke(item: object) -> Document:
    if not isinstance(item, dict):
        raise OddSecret("writes.secrets.revoke holds no target")
    return {"id": _id(item.get("id")), "target": _text(item, "target")}


def _numbers(item: object) -> list[int]:
    if not isinstance(item, list) or len(item) > limits.SECRETS:
        raise OddSecret("writes.secrets.remove holds no revisions")
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in item):
        raise OddSecret("writes.secrets.remove holds what is no revision")
    return [number for number in item if 0 < number < 1 << 53]
