"""What people know of a controller's models, and how two moments of it differ. Layer: services.

For a plan, which is made on copies of the store: this walks through whole models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.natural import natural_key
from pushjuju.state.store import Tx

KINDS = (
    "model", "application", "machine", "unit", "relation", "storage", "setting", "binding", "exposure",
    "resource", "model_config", "constraints", "offer", "saas",
)  # fmt: skip
_TITLES = {"model_config": "model config"}
_DULL = (None, "", "none", "alive", "{}", "[]", 0, "global")  # not worth a word when something is added
_LONGEST = 80

Key = tuple[str, str, str]  # kind, model, entity
Inventory = Mapping[Key, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is not the same.

    Attributes:
        action: `add`, `change` or `remove`.
        model: The name of its model.
        fields: What it has (added), had (removed), or field -> (before, after).
    """

    action: str
    kind: str
    name: str
    model: str
    fields: Mapping[str, Any] = field(default_factory=dict)


def take(tx: Tx) -> Inventory:
    """Return everything, by kind, model and name."""
    found: dict[Key, Mapping[str, Any]] = {}
    for kind in KINDS:
        for row in tx.rows(f"inventory_{kind}"):
            fields = {name: row[name] for name in row.keys() if name not in ("model", "entity")}  # noqa: SIM118
            found[(kind, row["model"], str(row["entity"]))] = fields
    return found


def differences(before: Inventory, after: Inventory) -> list[Change]:
    """Return what was added, changed and removed, kind by kind, in natural order of the names."""
    everything = (*before.items(), *after.items())
    names = {key[1]: str(fields["name"]) for key, fields in everything if key[0] == "model"}
    changes = [_change(key, before.get(key), after.get(key), names) for key in before.keys() | after.keys()]
    found = [change for change in changes if change is not None]
    # What goes with a model or an application that comes or goes needs no lines of its own.
    quiet = {change.name for change in found if change.kind == "application" and change.action == "remove"}
    found = [change for change in found if not _goes_without_saying(change, quiet)]
    order = {_title(kind): number for number, kind in enumerate(KINDS)}
    return sorted(found, key=lambda one: (one.model, order[one.kind], natural_key(one.name)))


def _title(kind: str) -> str:
    return _TITLES.get(kind, kind)


def _goes_without_saying(change: Change, gone: set[str]) -> bool:
    owner = change.name.partition(" ")[0].partition(":")[0]
    return change.kind in ("setting", "binding", "exposure", "resource") and owner in gone


def _change(
    key: Key, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, names: Mapping[str, str]
) -> Change | None:
    if old == new:
        return None
    kind, model, entity = key
    model = names.get(model, model)
    name = model if kind == "model" else entity
    if old is None or new is None:
        fields = {field: _short(value) for field, value in (new or old or {}).items() if value not in _DULL}
        action = "remove" if new is None else "add"
    else:
        both = ((field, old[field], new[field]) for field in new)
        fields = {field: (_short(was), _short(now)) for field, was, now in both if was != now}
        action = "change"
    return Change(action=action, kind=_title(kind), name=name, model=model, fields=fields)


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[: _LONGEST - 3]}..."
    return value
