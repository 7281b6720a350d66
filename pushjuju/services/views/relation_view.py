"""A relation with the settings of both sides, for `show-relation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pushjuju.core.errors import NotFound
from pushjuju.core.status import StatusInfo, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import leadership, statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.relation import relations
from pushjuju.services.requests.relation import integrate
from pushjuju.store.rows.records import Bag, Relation, RelationEndpoint, RelationScope, Unit
from pushjuju.store.tx import ModelTx

_MOST = 10  # relations that the error about an unknown relation lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A unit on one side of a relation."""

    name: str
    data: Mapping[str, str]
    in_scope: bool  # True while the unit takes part; later, its settings stay until the relation is removed
    departing: bool = False  # True while the unit leaves the relation
    leader: bool = False  # True for the leader of its application


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSide:
    application: str
    endpoint: str
    role: str
    interface: str
    remote: bool = False  # True when the application belongs to another model
    data: Mapping[str, str] = field(default_factory=dict)
    units: Sequence[Member] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationView:
    """A relation with its status and both sides."""

    id: int
    key: str
    scope: str
    life: str
    suspended: bool
    status: StatusInfo | None
    sides: Sequence[RelationSide]


def show(ctx: Context, model: str, arguments: Sequence[str]) -> RelationView:
    """Return the relation that the arguments name, or raise NotFound with commands for other relations.

    Args:
        arguments: The id of the relation, or `APP[:ENDPOINT]` once for a peer relation, else twice.
    """
    with ctx.read(model) as tx:
        try:
            relation = _find(tx, arguments)
        except NotFound as error:
            error.hint = _there(tx)
            raise
        sides = relations.endpoints(tx, relation.id)
        bags = {bag.entity: bag for bag in tx.list(Bag, "bag_list", relation=relation.id)}
        scopes = tx.list(RelationScope, "scope_list", relation=relation.id)
        return RelationView(
            id=relation.id,
            key=relation.key,
            scope=relation.scope,
            life=relation.life,
            suspended=relation.suspended,
            status=statuses.get_status(tx, StatusKind.RELATION, str(relation.id)),
            sides=[_side(tx, side, bags, scopes) for side in sides],
        )


def _find(tx: ModelTx, arguments: Sequence[str]) -> Relation:
    if len(arguments) == 1 and integrate.is_id(arguments[0]):
        return integrate.by_id(tx, arguments[0])
    if len(arguments) > 1:
        return integrate.find(tx, arguments)
    try:
        return integrate.find(tx, [*arguments, *arguments])
    except NotFound:
        raise NotFound(f'peer relation of "{arguments[0]}" not found') from None


def _there(tx: ModelTx) -> str:
    """Return the commands that show the relations of the model, at most ten of them."""
    found = tx.list(Relation, "relation_list")
    if not found:
        return "pushjuju integrate APP APP    makes a relation; the model has none"
    lines = [f"pushjuju show-relation {item.id}    shows {item.key}" for item in found[:_MOST]]
    rest = len(found) - len(lines)
    return "\n".join([*lines, *([f"pushjuju status --relations    names {rest} more"] if rest else [])])


def _side(
    tx: ModelTx, side: RelationEndpoint, bags: Mapping[str, Bag], scopes: Sequence[RelationScope]
) -> RelationSide:
    name = side.application
    present = {scope.unit: scope for scope in scopes if scope.application == name}
    here = {unit.name for unit in tx.list(Unit, "unit_of_application", application=name)}
    mine = present.keys() | {entity for entity in bags if entity.startswith(f"{name}/")}
    leader = leadership.holder(tx, name)
    members = [
        Member(
            name=unit,
            data=bags[unit].data if unit in bags else {},
            in_scope=unit in present,
            departing=unit in present and present[unit].departing,
            leader=unit == leader,
        )
        for unit in sorted(mine, key=natural_key)
    ]
    application = tx.row("application_get", name=name)
    return RelationSide(
        application=name,
        endpoint=side.endpoint,
        role=side.role,
        interface=side.interface,
        remote=application is None and not here,
        data=bags[name].data if name in bags else {},
        units=members,
    )
