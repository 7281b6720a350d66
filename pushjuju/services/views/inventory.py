"""Lists everything that users know of a controller's models, and compares two such lists.

`plan` uses this on copies of the store; it reads whole models, so it is too slow for other commands.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core import constraints
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_defaults, ssh_keys
from pushjuju.store.rehearsal import Gone, gone
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName

KINDS = (
    "model", "application", "machine", "unit", "relation", "storage", "setting", "binding", "exposure",
    "resource", "model_config", "constraints", "offer", "saas", "storage_directive", "storage_pool",
    "annotation", "space", "subnet", "secret", "secret_grant", "secret_backend", "task", "disabled", "user",
    "access",
)  # fmt: skip
_OURS = ("ssh_key", "controller_config", "model_default")  # kinds that do not come from a statement
_TITLES = {"disabled": "disabled commands"}
_DULL = (
    None,
    "",
    "none",
    "alive",
    "{}",
    "[]",
    0,
    "global",
    "never",
    "completed",
    "not started",
)  # fmt: skip - values that are not mentioned when an entity is added
_LONGEST = 80
_WITH_APPLICATION = ("setting", "binding", "exposure", "resource", "storage directive", "annotation")
_NOTES = {"storage": "data", "machine": "instance"}  # kind -> title of the note on a removed entity
_SEALED = "sealed"  # field of secret content: a difference shows that it changed, never the values
_INNER = ("option", "document")  # columns from which the default of a setting is read
_DEFAULT = "default"  # field of a setting: its value while no user sets it
_SHOWN = "shown"  # field with the name for users, for an entity whose key is a number

Key = tuple[str, str, str]  # kind, model, entity
Inventory = Mapping[Key, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A difference between two inventories in one entity."""

    action: str  # `add`, `change` or `remove`
    kind: str
    name: str
    model: str  # the name of its model, or empty for an entity of the controller
    # the fields of an added or removed entity, or field -> (before, after)
    fields: Mapping[str, Any] = field(default_factory=dict)


# --- one inventory ----------------------------------------------------------------------------------------


def take(tx: Tx, settings: Mapping[str, Any] | None = None) -> Inventory:
    """Return the inventory of all models, by kind, model and name.

    Args:
        settings: The content of controller.toml, or None.
    """
    found: dict[Key, Mapping[str, Any]] = {}
    for kind in KINDS:
        for row in tx.rows(cast("StatementName", f"inventory_{kind}")):
            fields = {
                name: _written(kind, name, row[name])
                for name in row.keys()  # noqa: SIM118
                if name not in ("model", "entity", *_INNER)
            }
            if kind == "setting":
                fields[_DEFAULT] = _default(row["document"], row["option"])
            found[(kind, row["model"], str(row["entity"]))] = fields
    for key in [key for key in found if key[0] == "model_config" and key[2] == ssh_keys.KEY]:
        found.update(_keys(key[1], found.pop(key)["value"]))
    found.update(_settings(settings or {}))
    return found


@cache
def _options(document: str) -> Mapping[str, Any]:
    options: Mapping[str, Any] = json.loads(document)["config"]
    return options


def _default(document: str, option: str) -> str | None:
    """Return the default of a charm's option as JSON, or None when the option has no default."""
    default = _options(document).get(option, {}).get("default")
    return None if default is None else json.dumps(default)


def _written(kind: str, name: str, value: Any) -> Any:
    """Return a value as users write it; the store keeps constraints as JSON."""
    if value and (name == "constraints" or (kind, name) == ("constraints", "value")):
        return constraints.render(json.loads(value))
    return value


def _keys(model: str, value: str) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    """Yield each SSH key of a model as an entity."""
    for line in str(json.loads(value)).splitlines():
        try:
            key = ssh_keys.parse(line)
        except NotValid:
            continue
        yield ("ssh_key", model, key.fingerprint), {"comment": key.comment}


def _settings(settings: Mapping[str, Any]) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    """Yield the configuration of a controller, and the defaults of its new models, without secret values."""
    config = settings.get("config", {})
    for name, value in config.items():
        if name not in (model_defaults.CONTROLLER, model_defaults.REGIONS):
            hidden = "secret" in name or "key" in name
            yield ("controller_config", "", name), {_SEALED if hidden else "value": value}
    placed = {"": config.get(model_defaults.CONTROLLER, {}), **config.get(model_defaults.REGIONS, {})}
    for place, table in placed.items():
        for name, value in table.items():
            where = f" in {place}" if place else ""
            yield ("model_default", "", f"{name}{where}"), {"value": value}


# --- two inventories --------------------------------------------------------------------------------------


def stock(ctx: Context) -> Inventory:
    """Return the inventory of a controller."""
    with ctx.store.read() as tx:
        return take(tx, ctx.controller.settings())


def changes(ctx: Context, before: Inventory, after: Inventory) -> list[Change]:
    """Return the differences, with removed entities in the order in which the controller's copy lost them."""
    return differences(before, after, gone(ctx.controller.store_path))


def differences(before: Inventory, after: Inventory, gone: Sequence[Gone] = ()) -> list[Change]:
    """Return additions and changes by kind and name, then removals.

    Args:
        gone: The removed entities in the order in which their removals are listed. Removed entities that are
            missing here come first.
    """
    everything = (*before.items(), *after.items())
    names = {key[1]: str(fields["name"]) for key, fields in everything if key[0] == "model"}
    went = {_key_of(item): (rank, item.note) for rank, item in enumerate(gone, 1)}
    found = []
    for key in before.keys() | after.keys():
        rank, note = went.get(key, (0, ""))
        old, new = before.get(key), after.get(key)
        if key[0] == "setting":
            old, new = _with_defaults(key, old, new, before, after)
        change = _change(key, old, new, names, note)
        if change is not None:
            found.append((rank if change.action == "remove" else -1, change))
    models = {change.model for _, change in found if change.kind == "model" and change.action == "remove"}
    owners = {
        (change.model, change.name, change.action) for _, change in found if change.kind == "application"
    }
    order = {_title(kind): number for number, kind in enumerate((*KINDS, *_OURS))}
    left = [pair for pair in found if not _goes_without_saying(pair[1], owners, models)]
    left.sort(key=lambda pair: (pair[0], pair[1].model, order[pair[1].kind], natural_key(pair[1].name)))
    return [change for _, change in left]


def _with_defaults(
    key: Key,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
    before: Inventory,
    after: Inventory,
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Return a setting before and after, with the charm's default as the value of an unset setting."""
    application = ("application", key[1], key[2].partition(" ")[0])
    default = (old or new or {}).get(_DEFAULT)
    sides = [None if side is None else {"value": side["value"]} for side in (old, new)]
    known = application in before and application in after
    if known and default is not None and None in sides and {"value": default} not in sides:
        sides = [{"value": default} if side is None else side for side in sides]
    return sides[0], sides[1]


def _key_of(gone: Gone) -> Key:
    return (gone.kind, gone.model, "" if gone.kind == "model" else gone.entity)


def _title(kind: str) -> str:
    return _TITLES.get(kind, kind.replace("_", " "))


def _goes_without_saying(
    change: Change, owners: Collection[tuple[str, str, str]], models: Collection[str]
) -> bool:
    """Return True when a change follows from another: of its application, or the end of its model."""
    owner = change.name.partition(" ")[0].partition(":")[0]
    if change.kind in _WITH_APPLICATION and (change.model, owner, "remove") in owners:
        return True
    if change.kind == "storage directive" and (change.model, owner, "add") in owners:
        return True
    told = ("model", "application", "machine", "unit", "relation", "storage", "offer", "saas")
    return change.model in models and change.action == "remove" and change.kind not in told


def _change(
    key: Key,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
    names: Mapping[str, str],
    note: str,
) -> Change | None:
    if old == new:
        return None
    kind, model, entity = key
    model = names.get(model, model)
    name = model if kind == "model" else str((new or old or {}).get(_SHOWN) or entity)
    if old is None or new is None:
        fields = {
            _named(field): _short(field, value)
            for field, value in (new or old or {}).items()
            if value not in _DULL and field != _SHOWN
        }
        action = "remove" if new is None else "add"
        if note and new is None:
            fields[_NOTES[kind]] = note
    else:
        both = ((field, old.get(field), new.get(field)) for field in new)
        fields = {_named(field): _both(field, was, now) for field, was, now in both if was != now}
        action = "change"
    return Change(action=action, kind=_title(kind), name=name, model=model, fields=fields)


def _named(field: str) -> str:
    return {_SHOWN: "name", _SEALED: "content"}.get(field, field)


def _both(field: str, was: Any, now: Any) -> tuple[Any, Any]:
    return ("(one)", "(another)") if field == _SEALED else (_short(field, was), _short(field, now))


def _short(field: str, value: Any) -> Any:
    if field == _SEALED:
        return "(not shown)"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[: _LONGEST - 3]}..."
    return value
