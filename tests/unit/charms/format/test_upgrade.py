"""refresh: what a new charm may change."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.charms.archive.reader import load
from pushjuju.charms.format.upgrade import UpgradeFacts, UsedRelation, check_upgrade
from pushjuju.charms.values.model import Charm, Endpoint, Role, Scope
from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError

JAMMY = Base("ubuntu", "22.04")


def charm(extra: str = "", *, name: str = "web", series: bool = False, **files: str) -> Charm:
    head = f"name: {name}\nsummary: s\ndescription: d\n" + ("series: [jammy]\n" if series else "")
    tree = {
        "metadata.yaml": head + extra,
        **{f"{key.replace('_', '-')}.yaml": text for key, text in files.items()},
    }
    if not series:
        tree.setdefault("manifest.yaml", "bases: [{name: ubuntu, channel: '22.04'}]")
    return load({key: text.encode() for key, text in tree.items()}.get)


def facts(**given: Any) -> UpgradeFacts:
    return UpgradeFacts(**{"application": "app", "url": "local:web-2", "base": JAMMY, **given})


def used(name: str, role: Role, interface: str = "x", *, container: bool = False) -> UsedRelation:
    scope = Scope.CONTAINER if container else Scope.GLOBAL
    endpoint = Endpoint(name=name, role=role, interface=interface, scope=scope)
    return UsedRelation(key=f"app:{name} other:y", endpoint=endpoint)


FOCAL_ONLY = "bases: [{name: ubuntu, channel: '20.04'}, {name: ubuntu, channel: '24.04'}]"
SUB = "subordinate: true\nrequires: {i: {interface: juju-info, scope: container}}"
DB = used("db", Role.REQUIRER)


@pytest.mark.parametrize(
    ("old", "new", "given", "fault"),
    [
        (charm(), charm(SUB), facts(), "cannot change an application's subordinacy"),
        (charm(), charm(series=True), facts(), "cannot downgrade from v2 charm format to v1"),
        (charm(), charm(manifest=FOCAL_ONLY), facts(),
         ('cannot upgrade from single base "ubuntu@22.04" charm to a charm supporting '
         '["ubuntu@20.04" "ubuntu@24.04"]. Use --force-series to override.')),
        (charm(), charm(manifest="bases: [{name: centos, channel: '9'}]"), facts(force_base=True),
         'OS "ubuntu" not supported by charm "web", charm supports: centos'),
        (charm(), charm("assumes: [juju >= 4]"), facts(juju_version="3.6.9"),
         "Charm feature requirements cannot be met:\n"),
        (charm(series=True), charm("min-juju-version: 9.0.0", series=True), facts(juju_version="3.6.9"),
         "charm's min version (9.0.0) is higher than this juju model's version (3.6.9)"),
        (charm(), charm(lxd_profile="config: {boot.x: 1}"), facts(),
         'validating lxd profile: invalid lxd-profile.yaml: contains config value "boot.x"'),
        (charm(), charm(config="options: {a: {type: int}}"), facts(config={"a": "x"}),
         'validating config settings: option "a" expected int, got "x"'),
        (charm(), charm(), facts(config={"a": "x"}), 'validating config settings: unknown option "a"'),
        (charm("requires: {db: x}"), charm(), facts(relations=(DB,)),
         'would break relation "app:db other:y"'),
        (charm("requires: {db: x}"), charm("requires: {db: z}"), facts(relations=(DB,)),
         'would break relation "app:db other:y"'),
        (charm("requires: {db: x}"), charm("provides: {db: x}"), facts(relations=(DB,)),
         'would break relation "app:db other:y"'),
        (charm("requires: {db: x}"), charm("requires: {db: {interface: x, scope: container}}"),
         facts(relations=(DB,)), 'would break relation "app:db other:y"'),
        (charm(), charm("requires: {db: {interface: x, limit: 1}}"), facts(relations=(DB, DB)),
         ("new charm version imposes a maximum relation limit of 1 for app:db which cannot be satisfied "
         "by the number of already established relations (2)")),
        (charm("peers: {p: x}"), charm("peers: {p: z}"), facts(relations=(used("p", Role.PEER),)),
         'would break relation "app:p other:y"'),
    ],
)  # fmt: skip
def test_faults(old: Charm, new: Charm, given: UpgradeFacts, fault: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        check_upgrade(old, new, given)
    prefix = 'cannot upgrade application "app" to charm "local:web-2": '
    assert caught.value.message.startswith(prefix + fault)


@pytest.mark.parametrize(
    ("old", "new", "given"),
    [
        (charm(), charm(), facts()),
        (charm(series=True), charm(), facts()),
        (charm(), charm(name="other"), facts(switch=True)),
        (charm(), charm(manifest=FOCAL_ONLY), facts(force_base=True)),
        (charm(), charm("assumes: [juju >= 4]", lxd_profile="config: {boot.x: 1}"), facts(force=True)),
        (charm("peers: {p: x}"), charm(), facts(relations=(used("p", Role.PEER),))),
        (charm("requires: {db: x}"), charm("requires: {db: x}"), facts(relations=(DB,))),
        (charm(), charm("provides: {a: x}"),
         facts(relations=(used("a", Role.PROVIDER, container=True),))),
        (charm(), charm(), facts(relations=(used("juju-info", Role.PROVIDER, "juju-info", container=True),))),
        (charm(), charm("requires: {db: {interface: x, limit: 2}}"), facts(relations=(DB, DB))),
        (charm(), charm(config="options: {a: {type: int}}"), facts(config={"a": "5"})),
        (charm(SUB), charm(SUB, manifest=FOCAL_ONLY), facts(base=None)),
    ],
)  # fmt: skip
def test_what_is_allowed(old: Charm, new: Charm, given: UpgradeFacts) -> None:
    assert check_upgrade(old, new, given) == []


def test_another_charm_needs_switch() -> None:
    with pytest.raises(PushjujuError) as caught:
        check_upgrade(charm(name="a"), charm(name="b"), facts())
    assert caught.value.message == 'cannot refresh "a" to "b"'


def test_force_turns_a_limit_into_a_warning() -> None:
    new = charm("requires: {db: {interface: x, limit: 1}}")
    (warning,) = check_upgrade(charm(), new, facts(relations=(DB, DB), force=True))
    assert warning.startswith("new charm version imposes a maximum relation limit of 1 for app:db")
    assert warning.endswith("(2); allowing upgrade to proceed as the operator specified --force")


def storage(text: str) -> Charm:
    return charm("storage: {d: {%s}}" % text)  # noqa: UP031 (braces)


FILES = "type: filesystem"


@pytest.mark.parametrize(
    ("old", "new", "count", "fault"),
    [
        (storage(FILES), charm(), 0, 'required storage "d" removed'),
        (storage(FILES + ", multiple: {range: 0-1}"), charm(), 1, 'in-use storage "d" removed'),
        (storage(FILES), storage("type: block"), 0,
         'existing storage "d" type changed from "filesystem" to "block"'),
        (storage(FILES + ", shared: true"), storage(FILES), 0,
         'existing storage "d" shared changed from true to false'),
        (storage(FILES), storage(FILES + ", read-only: true"), 0,
         'existing storage "d" read-only changed from false to true'),
        (storage(FILES + ", location: /a"), storage(FILES + ", location: /b"), 0,
         'existing storage "d" location changed from "/a" to "/b"'),
        (storage(FILES + ", multiple: {range: 1+}"), storage(FILES), 0,
         'existing storage "d" range contracted: max decreased from <unbounded> to 1'),
        (storage(FILES + ", multiple: {range: 1-3}"), storage(FILES + ", multiple: {range: 1-2}"), 0,
         'existing storage "d" range contracted: max decreased from 3 to 2'),
        (storage(FILES + ", location: /a"), storage(FILES + ", location: /a, multiple: {range: 1+}"), 0,
         'existing storage "d" with location changed from single to multiple'),
    ],
)  # fmt: skip
def test_storage_faults(old: Charm, new: Charm, count: int, fault: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        check_upgrade(old, new, facts(storage_counts={"d": count}))
    assert caught.value.message == f'cannot upgrade application "app" to charm "local:web-2": {fault}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (storage(FILES + ", multiple: {range: 0-1}"), charm()),
        (charm(), storage(FILES)),
        (storage(FILES), storage(FILES + ", multiple: {range: 2+}")),
        (storage(FILES), storage(FILES + ", minimum-size: 5G")),
    ],
)
def test_storage_that_fits(old: Charm, new: Charm) -> None:
    assert check_upgrade(old, new, facts()) == []
