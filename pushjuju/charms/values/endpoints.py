"""Finds which endpoints `integrate` may relate, and checks them.

Pure: takes facts, returns a pair of endpoints.
Mirrors: juju state/state.go InferEndpoints, state/relation.go (3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import product

from pushjuju.charms.values.model import CharmMeta, Endpoint, Role, Scope, implicit_endpoint
from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, Conflict, NotFound, NotValid
from pushjuju.core.names import is_endpoint
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

_ORDER = {Role.REQUIRER: 0, Role.PROVIDER: 1, Role.PEER: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """An application on one side of a relation."""

    application: str
    provides: Mapping[str, Endpoint] = field(default_factory=dict)
    requires: Mapping[str, Endpoint] = field(default_factory=dict)
    peers: Mapping[str, Endpoint] = field(default_factory=dict)
    subordinate: bool = False
    remote: bool = False  # True for an offer of another model
    alive: bool = True  # False when the application is being removed
    bases: tuple[Base, ...] = ()  # the bases that the application's charm names
    # the base of the application; None for a subordinate without units and for a remote application
    base: Base | None = None

    @classmethod
    def of(
        cls,
        application: str,
        meta: CharmMeta,
        *,
        bases: tuple[Base, ...],
        base: Base | None,
        alive: bool = True,
    ) -> Side:
        """Return an application of this model as a side of a relation."""
        return cls(
            application=application,
            provides=meta.provides,
            requires=meta.requires,
            peers=meta.peers,
            subordinate=meta.subordinate,
            alive=alive,
            bases=bases,
            base=base,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """An endpoint of an application."""

    side: Side
    endpoint: Endpoint

    def __str__(self) -> str:
        return f"{self.side.application}:{self.endpoint.name}"


Pair = tuple[Bound, Bound]


def parse_endpoint(text: str) -> tuple[str, str]:
    """Return (application, endpoint) of `APP[:ENDPOINT]`; the endpoint may be empty.

    Raises:
        NotValid: The text has another form; the message is Juju's.
    """
    application, colon, endpoint = text.partition(":")
    if (colon and not is_endpoint(endpoint)) or not application:
        raise NotValid(f"endpoint {quote(text)} not valid")
    if not is_application(application):
        raise NotValid(f"application name {quote(application)} not valid")
    return application, endpoint


def relation_key(endpoints: Sequence[Bound]) -> str:
    """Return the key of a relation: its endpoints in the order requirer, provider, peer."""
    return " ".join(map(str, ordered(endpoints)))


def ordered(endpoints: Sequence[Bound]) -> list[Bound]:
    """Return the endpoints in the order of a relation's key."""
    return sorted(endpoints, key=lambda item: (_ORDER[item.endpoint.role], item.side.application))


def infer_endpoints(first: str, second: str, find: Callable[[str], Side | None]) -> Pair:
    """Return the only pair of endpoints that the two arguments of `integrate` can name.

    Args:
        first: `APP[:ENDPOINT]`.
        second: The second argument, of the same form.
        find: Returns an application of the model, or None.
    """
    pairs = [
        pair for pair in product(_candidates(first, find), _candidates(second, find)) if _can_relate(*pair)
    ]
    if not pairs:
        raise NotFound("no relations found")
    if len(pairs) == 1:
        return pairs[0]
    explicit = [pair for pair in pairs if not any(item.endpoint.implicit for item in pair)]
    if len(explicit) == 1:
        return explicit[0]
    keys = "; ".join(quote(key) for key in sorted(map(relation_key, pairs)))
    raise NotValid(f"ambiguous relation: {quote(f'{first} {second}')} could refer to {keys}")


def _candidates(text: str, find: Callable[[str], Side | None]) -> list[Bound]:
    application, name = parse_endpoint(text)
    side = find(application)
    if side is None:
        raise NotFound(f"application {quote(application)} not found")
    if name:
        return [Bound(side=side, endpoint=_named(side, name))]
    listed = [*_sorted(side.provides), *_sorted(side.requires)]
    implicit = implicit_endpoint()
    if not side.remote and implicit.name not in (*side.provides, *side.requires):
        listed.append(implicit)
    return [Bound(side=side, endpoint=endpoint) for endpoint in listed]


def _sorted(group: Mapping[str, Endpoint]) -> list[Endpoint]:
    return [group[name] for name in sorted(group)]


def _named(side: Side, name: str) -> Endpoint:
    for group in (side.provides, side.requires, side.peers):
        if name in group:
            return group[name]
    if name == implicit_endpoint().name and not side.remote:
        return implicit_endpoint()
    raise NotFound(f"application {quote(side.application)} has no {quote(name)} relation")


def _can_relate(one: Bound, two: Bound) -> bool:
    if one.side.application == two.side.application or one.endpoint.interface != two.endpoint.interface:
        return False
    if {one.endpoint.role, two.endpoint.role} != {Role.PROVIDER, Role.REQUIRER}:
        return False
    if Scope.CONTAINER not in (one.endpoint.scope, two.endpoint.scope):
        return True
    remote = one.side.remote or two.side.remote
    return not remote and (one.side.subordinate or two.side.subordinate)


# --- making the relation ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationFacts:
    """The facts of the model when a relation is added."""

    # `APP:ENDPOINT` -> number of its relations that are not suspended
    counts: Mapping[str, int] = field(default_factory=dict)
    # key of a relation -> True when the relation is alive
    existing: Mapping[str, bool] = field(default_factory=dict)


def check_relation(pair: Pair, facts: RelationFacts) -> Pair:
    """Return the two endpoints as stored: requirer first, both with container scope if one has it."""
    key = relation_key(pair)
    try:
        return _checked(pair, key, facts)
    except (NotValid, NotFound, Conflict, AlreadyExists) as error:
        raise error.prefixed(f"cannot add relation {quote(key)}") from None


def _checked(pair: Pair, key: str, facts: RelationFacts) -> Pair:
    if {item.endpoint.role for item in pair} != {Role.PROVIDER, Role.REQUIRER}:
        raise NotValid("endpoints do not relate")
    if pair[0].endpoint.interface != pair[1].endpoint.interface:
        raise NotValid("endpoints do not relate")
    if key in facts.existing:
        dying = "" if facts.existing[key] else " is dying, but not yet removed"
        raise AlreadyExists(
            f"relation {key}{dying}", hint="Use 'pushjuju status --relations' to view the current relations."
        )
    for item in pair:
        _check_side(item)
    if all(item.side.remote for item in pair):
        names = [quote(item.side.application) for item in pair]
        raise NotValid(f"cannot add relation between saas applications {names[0]} and {names[1]}")
    container = any(item.endpoint.scope is Scope.CONTAINER for item in pair)
    if container:
        _check_container(pair)
    for item in pair:
        _check_quota(item, facts)
    stored = [_scoped(item) if container else item for item in ordered(pair)]
    return stored[0], stored[1]


def _check_side(item: Bound) -> None:
    side, endpoint = item.side, item.endpoint
    if not side.alive:
        raise Conflict(f"application {quote(side.application)} is not alive")
    if not side.remote and not implements(side, endpoint):
        raise NotFound(f"{quote(side.application)} does not implement {quote(str(item))}")
    if not side.remote and not side.bases:
        raise NotValid(f"charm {quote(side.application)} does not support any bases not valid")


def implements(side: Side, endpoint: Endpoint) -> bool:
    """Return True when an application's charm has an endpoint with this role, interface and scope."""
    if endpoint.implicit:
        return True
    group = {Role.PROVIDER: side.provides, Role.REQUIRER: side.requires, Role.PEER: side.peers}[endpoint.role]
    found = group.get(endpoint.name)
    if found is None or found.interface != endpoint.interface:
        return False
    # An endpoint stored with container scope may be global in the charm, but not the other way round.
    return endpoint.scope is Scope.CONTAINER or found.scope is not Scope.CONTAINER


def _check_container(pair: Pair) -> None:
    if any(item.side.remote for item in pair):
        raise NotValid("local endpoint must be globally scoped for remote relations")
    subordinates = [item.side for item in pair if item.side.subordinate]
    if not subordinates:
        raise NotValid("container scoped relation requires at least one subordinate application")
    principals = [item.side for item in pair if not item.side.subordinate]
    for principal, subordinate in product(principals, subordinates):
        base = principal.base
        if base and not any(base.matches(other) for other in subordinate.bases):
            raise NotValid("principal and subordinate applications' bases must match")


def _check_quota(item: Bound, facts: RelationFacts) -> None:
    limit = item.endpoint.limit
    if limit and facts.counts.get(str(item), 0) + 1 > limit:
        text = f"establishing a new relation for {item} would exceed its maximum relation limit of {limit}"
        raise Conflict(text)


def _scoped(item: Bound) -> Bound:
    return replace(item, endpoint=replace(item.endpoint, scope=Scope.CONTAINER))
