"""Checks whether an application may change to another charm. Mirrors: juju state/application.go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from pushjuju import JUJU_VERSION
from pushjuju.charms.format.assumes import check_features
from pushjuju.charms.format.config import parse_settings, with_trust
from pushjuju.charms.values.endpoints import Side, implements
from pushjuju.charms.values.model import Charm, Endpoint, Role, StorageMeta
from pushjuju.core.base import Base
from pushjuju.core.errors import Conflict, NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRelation:
    key: str  # the relation's key, `REQ:ep PROV:ep`
    endpoint: Endpoint  # the endpoint of the application, as the store has it


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeFacts:
    """The facts about the application in the model, and the options of the refresh."""

    application: str
    url: str  # URL of the new charm
    base: Base | None = None  # the base on which the application is deployed
    relations: tuple[UsedRelation, ...] = ()  # the application's relations, peer relations too
    storage_counts: Mapping[str, int] = field(default_factory=dict)  # storage name -> number of instances
    config: Mapping[str, str] = field(default_factory=dict)  # settings given with the refresh, as texts
    switch: bool = False  # True with `--switch`: the new charm may have another name
    force: bool = False  # True with `--force`
    force_base: bool = False  # True with `--force-base`
    juju_version: str = JUJU_VERSION


def check_upgrade(old: Charm, new: Charm, facts: UpgradeFacts) -> list[str]:
    """Check a refresh before any unit changes, and return warnings."""
    if old.name != new.name and not facts.switch:
        raise NotValid(f"cannot refresh {quote(old.name)} to {quote(new.name)}")
    try:
        return _checked(old, new, facts)
    except (NotValid, Conflict) as error:
        prefix = f"cannot upgrade application {quote(facts.application)} to charm {quote(facts.url)}: "
        raise type(error)(prefix + error.message, detail=error.detail, hint=error.hint) from None


def _checked(old: Charm, new: Charm, facts: UpgradeFacts) -> list[str]:
    if old.meta.subordinate != new.meta.subordinate:
        raise NotValid("cannot change an application's subordinacy")
    if old.format > new.format:
        raise NotValid("cannot downgrade from v2 charm format to v1")
    check_base(new, facts)
    if not facts.force:
        check_features(new, juju_version=facts.juju_version)
    _check_relations(new, facts)
    warnings = list(_check_limits(new, facts))
    for text in storage_faults(old.meta.storage, new.meta.storage, facts.storage_counts):
        raise Conflict(text)
    _check_config(new, facts)
    return warnings


def check_base(new: Charm, facts: UpgradeFacts) -> None:
    """Check that the charm supports the base, or with `--force-base` only the operating system."""
    base, bases = facts.base, new.bases()
    if base is None:
        return
    if not any(other.os == base.os for other in bases):
        names = ", ".join(dict.fromkeys(other.os for other in bases)) or "none"
        raise NotValid(
            f"OS {quote(base.os)} not supported by charm {quote(new.name)}, charm supports: {names}"
        )
    if not facts.force_base and not any(other.matches(base) for other in bases):
        supported = "[" + " ".join(quote(other.display) for other in bases) + "]"
        text = (
            f"cannot upgrade from single base {quote(base.display)} charm to a charm supporting {supported}"
        )
        raise NotValid(f"{text}. Use --force-series to override.")


def _check_relations(new: Charm, facts: UpgradeFacts) -> None:
    side = Side.of(facts.application, new.meta, bases=new.bases(), base=facts.base)
    for relation in facts.relations:
        gone = relation.endpoint.role is Role.PEER and relation.endpoint.name not in new.meta.peers
        if not gone and not implements(side, relation.endpoint):
            raise Conflict(f"would break relation {quote(relation.key)}")


def _check_limits(new: Charm, facts: UpgradeFacts) -> Iterator[str]:
    for endpoint in new.meta.endpoints():
        used = sum(
            item.endpoint.name == endpoint.name and item.endpoint.role is not Role.PEER
            for item in facts.relations
        )
        if not endpoint.limit or used <= endpoint.limit:
            continue
        where = f"{facts.application}:{endpoint.name}"
        text = (
            f"new charm version imposes a maximum relation limit of {endpoint.limit} for {where} "
            f"which cannot be satisfied by the number of already established relations ({used})"
        )
        if not facts.force:
            raise Conflict(text)
        yield f"{text}; allowing upgrade to proceed as the operator specified --force"


def _check_config(new: Charm, facts: UpgradeFacts) -> None:
    try:
        parse_settings(with_trust(new.config), facts.config)
    except NotValid as error:
        raise NotValid(f"validating config settings: {error.message}") from None


def storage_faults(
    old: Mapping[str, StorageMeta], new: Mapping[str, StorageMeta], counts: Mapping[str, int]
) -> Iterator[str]:
    """Yield each reason why the storage of a new charm does not fit the present storage."""
    for name in sorted(old):
        if name in new:
            yield from _storage_changes(old[name], new[name])
        elif old[name].count_min > 0:
            yield f"required storage {quote(name)} removed"
        elif counts.get(name):
            yield f"in-use storage {quote(name)} removed"


def _storage_changes(old: StorageMeta, new: StorageMeta) -> Iterator[str]:
    existing = f"existing storage {quote(old.name)}"
    if old.type != new.type:
        yield f"{existing} type changed from {quote(old.type)} to {quote(new.type)}"
    if old.shared != new.shared:
        yield f"{existing} shared changed from {_go(old.shared)} to {_go(new.shared)}"
    if old.read_only != new.read_only:
        yield f"{existing} read-only changed from {_go(old.read_only)} to {_go(new.read_only)}"
    if old.location != new.location:
        yield f"{existing} location changed from {quote(old.location)} to {quote(new.location)}"
    if new.count_max != -1 and (old.count_max == -1 or new.count_max < old.count_max):
        before = "<unbounded>" if old.count_max == -1 else str(old.count_max)
        yield f"{existing} range contracted: max decreased from {before} to {new.count_max}"
    if old.location and old.count_max == 1 and new.count_max != 1:
        yield f"{existing} with location changed from single to multiple"


def _go(value: bool) -> str:
    return "true" if value else "false"
