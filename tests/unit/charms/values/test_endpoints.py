"""integrate: inference, checks and their texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pushjuju.charms.values.endpoints import (
    Bound,
    RelationFacts,
    Side,
    check_relation,
    infer_endpoints,
    parse_endpoint,
    relation_key,
)
from pushjuju.charms.values.model import Endpoint, Role, Scope
from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, PushjujuError

JAMMY = Base("ubuntu", "22.04")
NOBLE = Base("ubuntu", "24.04")


def endpoints(role: Role, **named: str) -> dict[str, Endpoint]:
    found = {}
    for name, text in named.items():
        interface, _, scope = text.partition("!")
        interface, _, limit = interface.partition("#")
        found[name] = Endpoint(
            name=name, role=role, interface=interface, limit=int(limit or 0),
            scope=Scope.CONTAINER if scope else Scope.GLOBAL,
        )  # fmt: skip
    return found


def side(
    name: str,
    *,
    provides: dict[str, str] | None = None,
    requires: dict[str, str] | None = None,
    peers: dict[str, str] | None = None,
    subordinate: bool = False,
    remote: bool = False,
    alive: bool = True,
    bases: tuple[Base, ...] = (JAMMY,),
    base: Base | None = JAMMY,
) -> Side:
    return Side(
        application=name,
        provides=endpoints(Role.PROVIDER, **(provides or {})),
        requires=endpoints(Role.REQUIRER, **(requires or {})),
        peers=endpoints(Role.PEER, **(peers or {})),
        subordinate=subordinate,
        remote=remote,
        alive=alive,
        bases=bases,
        base=None if subordinate else base,
    )


def model(*sides: Side) -> Callable[[str], Side | None]:
    return {item.application: item for item in sides}.get


WORDPRESS = side(
    "wordpress", requires={"db": "mysql", "cache": "mem"}, provides={"url": "http"}, peers={"ring": "r"}
)
MYSQL = side("mysql", provides={"server": "mysql", "admin": "root"})
TWO = side("two", provides={"a": "mysql", "b": "mysql"})
LOGS = side("logs", requires={"info": "juju-info!c", "data": "http!c"}, subordinate=True)
AGENT = side("agent", provides={"agent": "mem!c"}, subordinate=True)
MONITOR = side("monitor", requires={"target": "juju-info"})
SAAS = side("saas", provides={"server": "mysql", "logs": "http!c"}, remote=True)
FIND = model(WORDPRESS, MYSQL, TWO, LOGS, AGENT, MONITOR, SAAS)


@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        ("wordpress", "mysql", "wordpress:db mysql:server"),
        ("mysql", "wordpress", "wordpress:db mysql:server"),
        ("wordpress:db", "mysql:server", "wordpress:db mysql:server"),
        ("wordpress", "two:b", "wordpress:db two:b"),
        ("wordpress", "logs", "logs:data wordpress:url"),  # the implicit one is dropped
        ("wordpress", "logs:info", "logs:info wordpress:juju-info"),
        ("mysql", "logs", "logs:info mysql:juju-info"),
        ("mysql:juju-info", "logs", "logs:info mysql:juju-info"),
        ("monitor", "mysql", "monitor:target mysql:juju-info"),
        ("wordpress", "agent", "wordpress:cache agent:agent"),
        ("wordpress", "saas", "wordpress:db saas:server"),
    ],
)
def test_inference(first: str, second: str, key: str) -> None:
    assert relation_key(infer_endpoints(first, second, FIND)) == key


@pytest.mark.parametrize(
    ("first", "second", "fault"),
    [
        ("wordpress", "nothing", 'application "nothing" not found'),
        ("wordpress:nope", "mysql", 'application "wordpress" has no "nope" relation'),
        ("saas:juju-info", "monitor", 'application "saas" has no "juju-info" relation'),
        ("wordpress:url", "mysql", "no relations found"),
        ("wordpress", "wordpress", "no relations found"),
        ("wordpress:ring", "wordpress:ring", "no relations found"),
        ("monitor", "saas", "no relations found"),
        ("saas:logs", "logs:data", "no relations found"),
        ("two", "wordpress",
         'ambiguous relation: "two wordpress" could refer to "wordpress:db two:a"; "wordpress:db two:b"'),
        ("a:b:c", "mysql", 'endpoint "a:b:c" not valid'),
        ("a:", "mysql", 'endpoint "a:" not valid'),
        ("", "mysql", 'endpoint "" not valid'),
        ("Web", "mysql", 'application name "Web" not valid'),
    ],
)  # fmt: skip
def test_inference_faults(first: str, second: str, fault: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        infer_endpoints(first, second, FIND)
    assert caught.value.message == fault


def test_ambiguity_lists_the_implicit_pairs_too() -> None:
    one = side("one", requires={"a": "juju-info", "b": "x", "c": "x"})
    two = side("two", provides={"x": "x"})
    with pytest.raises(PushjujuError) as caught:
        infer_endpoints("one", "two", model(one, two))
    assert caught.value.message == (
        'ambiguous relation: "one two" could refer to "one:a two:juju-info"; "one:b two:x"; "one:c two:x"'
    )


def test_parse_endpoint() -> None:
    assert parse_endpoint("web") == ("web", "")
    assert parse_endpoint("web:db_admin") == ("web", "db_admin")


def pair(one: Side, first: str, two: Side, second: str) -> tuple[Bound, Bound]:
    def bound(item: Side, name: str) -> Bound:
        group = {**item.provides, **item.requires, **item.peers}
        return Bound(side=item, endpoint=group[name])

    return bound(one, first), bound(two, second)


def test_what_is_stored() -> None:
    stored = check_relation(pair(MYSQL, "server", WORDPRESS, "db"), RelationFacts())
    assert [str(item) for item in stored] == ["wordpress:db", "mysql:server"]
    assert {item.endpoint.scope for item in stored} == {Scope.GLOBAL}
    stored = check_relation(pair(WORDPRESS, "url", LOGS, "data"), RelationFacts())
    assert [str(item) for item in stored] == ["logs:data", "wordpress:url"]
    assert {item.endpoint.scope for item in stored} == {Scope.CONTAINER}


LIMITED = side("wordpress", requires={"db": "mysql#1"})
BOTH = "wordpress:db mysql:server"


@pytest.mark.parametrize(
    ("ends", "facts", "fault"),
    [
        (pair(WORDPRESS, "db", WORDPRESS, "cache"), RelationFacts(), "endpoints do not relate"),
        (pair(WORDPRESS, "db", MYSQL, "admin"), RelationFacts(), "endpoints do not relate"),
        (pair(side("mysql", provides={"server": "mysql"}, alive=False), "server", WORDPRESS, "db"),
         RelationFacts(), 'application "mysql" is not alive'),
        (pair(side("mysql", provides={"server": "mysql"}, bases=()), "server", WORDPRESS, "db"),
         RelationFacts(), 'charm "mysql" does not support any bases not valid'),
        (pair(SAAS, "server", side("other", requires={"db": "mysql"}, remote=True), "db"),
         RelationFacts(), 'cannot add relation between saas applications "saas" and "other"'),
        (pair(SAAS, "logs", LOGS, "data"), RelationFacts(),
         "local endpoint must be globally scoped for remote relations"),
        (pair(WORDPRESS, "url", side("x", requires={"data": "http!c"}), "data"), RelationFacts(),
         "container scoped relation requires at least one subordinate application"),
        (pair(side("web", provides={"url": "http"}, base=NOBLE), "url", LOGS, "data"), RelationFacts(),
         "principal and subordinate applications' bases must match"),
        (pair(MYSQL, "server", LIMITED, "db"), RelationFacts(counts={"wordpress:db": 1}),
         "establishing a new relation for wordpress:db would exceed its maximum relation limit of 1"),
    ],
)  # fmt: skip
def test_check_faults(ends: tuple[Bound, Bound], facts: RelationFacts, fault: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        check_relation(ends, facts)
    assert caught.value.message == f'cannot add relation "{relation_key(ends)}": {fault}'


@pytest.mark.parametrize(("alive", "tail"), [(True, ""), (False, " is dying, but not yet removed")])
def test_existing(alive: bool, tail: str) -> None:
    with pytest.raises(AlreadyExists) as caught:
        check_relation(pair(MYSQL, "server", WORDPRESS, "db"), RelationFacts(existing={BOTH: alive}))
    assert caught.value.message == f'cannot add relation "{BOTH}": relation {BOTH}{tail}'
    assert caught.value.hint == "Use 'pushjuju status --relations' to view the current relations."


def test_an_endpoint_that_the_charm_lost() -> None:
    ends = pair(MYSQL, "server", WORDPRESS, "db")
    now = side("mysql", provides={"other": "mysql"})
    with pytest.raises(PushjujuError, match='"mysql" does not implement "mysql:server"'):
        check_relation((Bound(side=now, endpoint=ends[0].endpoint), ends[1]), RelationFacts())
