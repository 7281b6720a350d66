"""Offers, what is consumed, and what ends them: every rule with its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.offerurl import OfferUrl, parse
from pushjuju.core.status import Life, StatusKind
from pushjuju.services.bundles import export
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.model import firewall, model_config, models
from pushjuju.services.entities.relation import remote_applications
from pushjuju.services.entities.relation.offers import Wanted
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import cross_model, integrate
from pushjuju.services.requests.user import users as users_requests
from pushjuju.services.views import offer_documents, relation_rows
from pushjuju.services.views.status import document as status_document
from pushjuju.store.rows.records import Application, MachineFirewall, RemoteApplication
from tests.world.controller import TestController
from tests.world.machine import status_event
from tests.world.two_models import TwoModels


@pytest.fixture
def twins(twins: TwoModels) -> TwoModels:
    """Two models: web in one, db in the other; nothing runs yet."""
    twins.deploy(twins.shop, "web")
    twins.deploy(twins.prod, "db")
    return twins


def refused(ask: Callable[[], Any]) -> str:
    """Return the text of a refusal."""
    with pytest.raises(PushjujuError) as caught:
        ask()
    return caught.value.message


def unchanged(twins: TwoModels, ask: Callable[[], Any]) -> str:
    """Return the text of a refusal that changes nothing."""
    before = twins.shop.dump()
    text = refused(ask)
    assert twins.shop.dump() == before
    return text


def remote(world: TestController, name: str = "db") -> RemoteApplication | None:
    found: RemoteApplication | None = world.read(lambda tx: remote_applications.find(tx, name))
    return found


# --- URLs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("prod.db", OfferUrl(model="prod", offer="db")),
        ("admin/prod.db", OfferUrl(owner="admin", model="prod", offer="db")),
        ("home:admin/prod.db", OfferUrl(controller="home", owner="admin", model="prod", offer="db")),
        ("home:prod.db", OfferUrl(controller="home", model="prod", offer="db")),
        ("prod.db:server", OfferUrl(model="prod", offer="db", endpoint="server")),
        ("home:prod.db:server", OfferUrl(controller="home", model="prod", offer="db", endpoint="server")),
        ("/admin/prod.db", OfferUrl(owner="admin", model="prod", offer="db")),
    ],
)
def test_urls(text: str, url: OfferUrl) -> None:
    assert parse(text) == url
    assert str(url) == text.removeprefix("/")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("db", "application offer URL is missing application"),
        (".db", "application offer URL is missing model"),
        ("prod.", "application offer URL is missing application"),
        (
            "a/b/prod.db",
            'application offer URL has invalid form, must be [<user/]<model>.<appname>: "a/b/prod.db"',
        ),
        (":prod.db", 'application offer URL has invalid form, must be [<user/]<model>.<appname>: ":prod.db"'),
        ("pr_od.db", 'model name "pr_od" not valid'),
        ("prod.db_1", 'application name "db_1" not valid'),
        ("a b/prod.db", 'user name "a b" not valid'),
    ],
)
def test_bad_urls(text: str, error: str) -> None:
    assert refused(lambda: parse(text)) == error


def test_partial_urls() -> None:
    assert parse("home:", partial=True) == OfferUrl(controller="home")
    assert parse("prod", partial=True) == OfferUrl(model="prod")


# --- offering ---------------------------------------------------------------------------------------------


def test_an_offer(twins: TwoModels) -> None:
    twins.offer("server", "fast", name="hosted")
    document = offer_documents.list_offers(twins.ctx, twins.prod.resolve_model(), Wanted())
    assert document == {
        "hosted": {
            "application": "db",
            "store": "home",
            "charm": "local:db-0",
            "offer-url": "admin/prod.hosted",
            "endpoints": {
                "fast": {"interface": "mem", "role": "provider"},
                "server": {"interface": "sql", "role": "provider"},
            },
            "users": {
                "admin": {"display-name": "admin", "access": "admin"},
                "everyone@external": {"access": "read"},
            },
        }
    }


def test_what_cannot_be_offered(twins: TwoModels) -> None:
    twins.deploy(twins.prod, "log")
    missing = 'relation "no" and application "db": application "db" has no "no" relation'
    scope = 'can only offer endpoints with global scope, provided scope "container"'
    for ask, text in (
        (
            lambda: twins.offer("no"),
            f'cannot add application offer "db": getting relation endpoint for {missing}',
        ),
        (lambda: twins.offer(application="x"), 'cannot add application offer "x": application "x" not found'),
        (
            lambda: twins.offer("host", application="log"),
            f'cannot add application offer "log": {scope}',
        ),
        (lambda: twins.offer(name="a b"), 'cannot add application offer "a b": offer name "a b" not valid'),
    ):
        assert unchanged(twins, ask) == text


def test_an_offer_is_replaced(twins: TwoModels) -> None:
    first = twins.offer("server")
    twins.consume()
    second = twins.offer("server", "fast")
    assert second.uuid == first.uuid
    assert set(second.endpoints) == {"server", "fast"}
    found = remote(twins.shop)
    assert found is not None
    assert set(found.endpoints) == {"server", "fast"}


def test_an_endpoint_in_use_stays(twins: TwoModels) -> None:
    twins.offer("server", "fast")
    twins.relate(url="prod.db:server")
    text = 'updating offer db:fast would remove endpoint "server" which has active consumers'
    assert unchanged(twins, lambda: twins.offer("fast")) == f'cannot update application offer "db": {text}'
    twins.deploy(twins.prod, "one")
    assert unchanged(twins, lambda: twins.offer("server", application="one", name="db")) == (
        'cannot update application offer "db": offer has 1 relation'
    )


def test_grants(twins: TwoModels) -> None:
    made = twins.offer()
    users_requests.add(twins.ctx, "kim", "Kim")
    users_requests.add(twins.ctx, "joe", "")
    for user, level in (("kim", "consume"), ("joe", "read")):
        with twins.ctx.store.write() as tx:
            users.grant(tx, user, level, users.Kind.OFFER, made.uuid)
    model = twins.prod.resolve_model()
    for user, found in (("kim", ["db"]), ("joe", []), ("nobody", []), ("admin", ["db"])):
        listed = offer_documents.list_offers(twins.ctx, model, Wanted(consumer=user))
        assert list(listed) == found
    shown = offer_documents.list_offers(twins.ctx, model, Wanted())["db"]["users"]
    assert {user: entry["access"] for user, entry in shown.items()} == {
        "admin": "admin", "everyone@external": "read", "joe": "read", "kim": "consume",
    }  # fmt: skip
    cross_model.remove_offers(twins.ctx, [parse("prod.db")])
    assert [row for row in twins.shop.dump()["access"] if row[0] == "offer"] == []


def test_filters(twins: TwoModels) -> None:
    twins.offer("server", name="first")
    twins.offer("fast", name="second")
    twins.relate(url="prod.first")
    model = twins.prod.resolve_model()
    for wanted, found in (
        (Wanted(name="first"), ["first"]),
        (Wanted(name="irs"), []),
        (Wanted(part="sec"), ["second"]),
        (Wanted(interface="mem"), ["second"]),
        (Wanted(application="db"), ["first", "second"]),
        (Wanted(application="x"), []),
        (Wanted(active=True), ["first"]),
        (Wanted(connected="admin"), ["first"]),
        (Wanted(connected="kim"), []),
    ):
        assert list(offer_documents.list_offers(twins.ctx, model, wanted)) == found, wanted


def test_finding(twins: TwoModels) -> None:
    twins.offer()
    assert refused(lambda: offer_documents.find_offers(twins.ctx, OfferUrl(model="shop"), Wanted())) == (
        "no matching application offers found"
    )
    found = offer_documents.find_offers(twins.ctx, OfferUrl(), Wanted())
    assert list(found) == ["home:admin/prod.db"]
    assert found["home:admin/prod.db"]["access"] == "admin"
    shown = offer_documents.show_offer(twins.ctx, parse("prod.db"))
    assert shown["home:admin/prod.db"]["description"] == "d"


# --- consuming --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("prod.x", 'application offer "admin/prod.x" not found'),
        ("none.db", 'model "admin/none" not found'),
        ("kim/prod.db", 'model "kim/prod" not found'),
        ("far:prod.db", 'controller "far" is not this controller, "home"'),
    ],
)
def test_offers_that_are_not_there(twins: TwoModels, url: str, error: str) -> None:
    twins.offer()
    assert unchanged(twins, lambda: twins.consume(url)) == error


def test_consuming(twins: TwoModels) -> None:
    twins.offer()
    assert (twins.consume(), twins.consume(alias="other")) == ("db", "other")
    assert twins.consume() == "db"
    found = remote(twins.shop)
    assert found is not None
    assert found.url == "home:admin/prod.db"
    assert unchanged(twins, lambda: twins.consume(alias="web")) == (
        'could not consume admin/prod.db: cannot add saas application "web": '
        "local application with same name already exists"
    )
    assert unchanged(twins, lambda: twins.consume(alias="a b")) == 'invalid application name "a b"'


def test_names_that_are_taken(twins: TwoModels) -> None:
    twins.offer()
    twins.offer("fast", name="second")
    twins.consume()
    taken = 'saas application called "db" from a different'
    assert refused(lambda: twins.consume("prod.second", "db")) == (
        f"could not consume admin/prod.second: {taken} offer already exists"
    )
    other = add_model(twins.ctx, AddModelOptions(name="other"))
    world = TestController(twins.ctx, twins.shop.clock, twins.charms, other)
    twins.deploy(world, "db")
    cross_model.offer(twins.ctx, other.uuid, "db", ["server"])
    assert refused(lambda: twins.consume("other.db")) == (
        f"could not consume admin/other.db: {taken} model already exists"
    )
    assert refused(lambda: twins.deploy(twins.shop, "db")) == (
        'cannot add application "db": saas application with same name already exists'
    )


def test_integrating_consumes(twins: TwoModels) -> None:
    twins.offer()
    made = twins.relate()
    assert remote(twins.shop) is not None
    rows = relation_rows.relation_rows(twins.ctx, twins.shop.model)
    assert [(row["provider"], row["requirer"]) for row in rows] == [("db:server", "web:db")]
    assert relation_rows.relation_rows(twins.ctx, twins.prod.model) == []
    assert unchanged(twins, twins.relate).startswith('cannot add relation "web:db db:server": relation')
    assert made == 0


def test_a_refused_relation_consumes_nothing(twins: TwoModels) -> None:
    twins.offer()
    assert unchanged(twins, lambda: twins.relate("web:site")) == "no relations found"
    assert unchanged(twins, lambda: twins.relate("nobody")) == 'application "nobody" not found'
    via = ["10.0.0.0/8"]
    twins.deploy(twins.shop, "proxy")
    assert (
        unchanged(twins, lambda: integrate.integrate(twins.ctx, twins.shop.model, "web", "proxy", via=via))
        == "integration via subnets for non cross model relations not supported"
    )


def test_limits_of_either_side(twins: TwoModels) -> None:
    twins.offer("server", "fast")
    twins.deploy(twins.prod, "one")
    twins.offer(application="one")
    twins.relate()
    text = "establishing a new relation for web:db would exceed its maximum relation limit of 1"
    assert unchanged(twins, lambda: twins.relate(url="prod.one")).endswith(text)
    other = TestController(
        twins.ctx, twins.shop.clock, twins.charms, add_model(twins.ctx, AddModelOptions(name="other"))
    )
    twins.deploy(other, "web")
    url = parse("prod.one")
    integrate.integrate(twins.ctx, other.model, "web:db", "one", offer=url)
    third = TestController(
        twins.ctx, twins.shop.clock, twins.charms, add_model(twins.ctx, AddModelOptions(name="third"))
    )
    twins.deploy(third, "web")
    text = "establishing a new relation for one:server would exceed its maximum relation limit of 1"
    ask = lambda: integrate.integrate(twins.ctx, third.model, "web:db", "one", offer=url)  # noqa: E731
    assert unchanged(twins, ask).endswith(text)


def test_one_proxy_for_all_relations_to_an_offer(twins: TwoModels) -> None:
    twins.offer("server", "fast")
    twins.relate("web:db", "prod.db:server")
    twins.relate("web:cache", "prod.db:fast")
    proxies = twins.prod.read(remote_applications.every)
    assert len(proxies) == 1
    assert set(proxies[0].endpoints) == {"db", "cache"}
    assert remote(twins.prod, proxies[0].name) is None


# --- status -----------------------------------------------------------------------------------------------


def test_status_of_both_models(twins: TwoModels) -> None:
    twins.offer()
    twins.relate()
    twins.settle()
    saas = status_document.document(twins.ctx, twins.shop.resolve_model())["application-endpoints"]["db"]
    assert list(saas) == ["url", "endpoints", "application-status", "relations"]
    assert saas["relations"] == {"server": ["web"]}
    document = status_document.document(twins.ctx, twins.prod.resolve_model())
    assert document["offers"]["db"] == {
        "application": "db",
        "charm": "local:db-0",
        "total-connected-count": 1,
        "active-connected-count": 1,
        "endpoints": {"server": {"interface": "sql", "role": "provider"}},
    }
    assert "relations" not in document["applications"]["db"]
    web = status_document.document(twins.ctx, twins.shop.resolve_model())["applications"]["web"]
    assert web["relations"]["db"][0]["related-application"] == "db"


def test_the_saas_has_the_status_of_what_is_offered(twins: TwoModels) -> None:
    twins.offer()
    twins.consume()
    assert twins.shop.status(StatusKind.APPLICATION, "db") == ("waiting", "waiting for machine")
    twins.prod.played().will(
        "start", {"events": [status_event(1, "active", "ready")], "writes": {"status_set": True}}
    )
    twins.settle()
    assert twins.shop.status(StatusKind.APPLICATION, "db") == ("active", "ready")
    assert twins.shop.history(StatusKind.APPLICATION, "db")[-1] == ("active", "ready")
    twins.prod.played().fail("update-status")
    twins.shop.clock.advance(600)
    twins.settle()
    assert twins.shop.status(StatusKind.APPLICATION, "db") == ("error", 'hook failed: "update-status"')


def test_what_a_bundle_says(twins: TwoModels) -> None:
    twins.offer("server", "fast", name="hosted")
    twins.consume("prod.hosted", "mine")
    bundle, _ = export.export(twins.ctx, twins.shop.model, export.Request())
    assert bundle["saas"] == {"mine": {"url": "home:admin/prod.hosted"}}
    _, overlay = export.export(twins.ctx, twins.prod.model, export.Request())
    assert overlay is not None
    offered = overlay["applications"]["db"]["offers"]
    assert offered == {"hosted": {"endpoints": ["fast", "server"], "acl": {"admin": "admin"}}}


# --- the end ----------------------------------------------------------------------------------------------


def test_an_offer_in_use_stays(twins: TwoModels) -> None:
    twins.offer()
    twins.relate()
    url = parse("prod.db")
    assert unchanged(twins, lambda: cross_model.remove_offers(twins.ctx, [url])) == (
        'cannot delete application offer "db": offer has 1 relation'
    )
    cross_model.remove_offers(twins.ctx, [url], Force(wait_s=0))
    assert twins.shop.dump()["offer"] == []
    assert twins.shop.dump()["relation"] == []
    assert twins.shop.status(StatusKind.APPLICATION, "db") == ("terminated", "offer has been removed")
    assert refused(lambda: cross_model.remove_offers(twins.ctx, [url])) == (
        'application offer "admin/prod.db" not found'
    )


def test_one_bad_offer_removes_none(twins: TwoModels) -> None:
    twins.offer()
    ask = lambda: cross_model.remove_offers(twins.ctx, [parse("prod.db"), parse("prod.x")])  # noqa: E731
    assert unchanged(twins, ask) == 'application offer "admin/prod.x" not found'


def test_an_offer_that_is_gone_cannot_be_related_to(twins: TwoModels) -> None:
    twins.offer()
    twins.consume()
    cross_model.remove_offers(twins.ctx, [parse("prod.db")])
    ask = lambda: integrate.integrate(twins.ctx, twins.shop.model, "web", "db")  # noqa: E731
    assert unchanged(twins, ask).startswith('Offer "db" has been removed from the remote model.')
    twins.offer()
    twins.consume()
    assert integrate.integrate(twins.ctx, twins.shop.model, "web", "db") == 0


def test_remove_saas(twins: TwoModels) -> None:
    twins.offer()
    twins.ready_relation()
    assert cross_model.remove_saas(twins.ctx, twins.shop.model, "db") == ["web"]
    found = remote(twins.shop)
    assert found is not None
    assert found.life == Life.DYING
    assert refused(twins.consume).endswith('saas application called "db" exists but is terminating')
    document = status_document.document(twins.ctx, twins.shop.resolve_model())
    assert document["application-endpoints"]["db"]["life"] == "dying"
    twins.settle()
    for world in (twins.shop, twins.prod):
        world.write(lambda tx, world=world: removal.finish_applications(tx))
    assert twins.shop.dump()["remote_application"] == []
    assert twins.shop.status(StatusKind.APPLICATION, "db") == ("", "")
    assert refused(lambda: cross_model.remove_saas(twins.ctx, twins.shop.model, "db")) == (
        'saas application "db" not found'
    )


def test_an_offered_application_in_use_stays(twins: TwoModels) -> None:
    twins.offer()
    twins.offer("fast", name="second")
    twins.relate()
    assert unchanged(twins, lambda: removals.remove_applications(twins.ctx, twins.prod.model, ["db"])) == (
        'cannot destroy application "db": application is used by 2 offers'
    )
    removals.remove_applications(twins.ctx, twins.prod.model, ["db"], Force(wait_s=0))
    assert twins.shop.dump()["offer"] == []
    assert twins.shop.dump()["relation"] == []


def test_an_offered_application_without_relations_goes(twins: TwoModels) -> None:
    twins.offer()
    twins.consume()
    removals.remove_applications(twins.ctx, twins.prod.model, ["db"])
    assert twins.prod.applications() == []
    assert twins.shop.status(StatusKind.APPLICATION, "db") == ("terminated", "offer has been removed")


@pytest.mark.parametrize("side", ["shop", "prod"])
def test_a_model_that_goes(twins: TwoModels, side: str) -> None:
    twins.offer()
    twins.ready_relation()
    world = twins.shop if side == "shop" else twins.prod
    model, _now = world.resolve_model(), world.clock.now()
    world.write(lambda tx: removal.destroy_model(tx, model))
    twins.settle()
    for each in (twins.shop, twins.prod):
        each.write(lambda tx, each=each: removal.finish_applications(tx))
    dump = twins.shop.dump()
    assert (dump["relation"], dump["relation_scope"]) == ([], [])
    assert world.read(lambda tx: tx.list(Application, "application_list")) == []
    world.write(models.delete)
    left = [row[1] for row in twins.shop.dump()["remote_application"]]
    assert left == (["db"] if side == "prod" else [])


def test_models_that_work_together(twins: TwoModels) -> None:
    def together() -> list[str]:
        found: list[str] = twins.shop.read(cross_model.connected)
        return found

    twins.offer()
    twins.consume()
    assert together() == []
    twins.relate()
    assert together() == [twins.prod.model]


# --- firewall ---------------------------------------------------------------------------------------------


def guard(world: TestController, machine: str = "0") -> None:
    world.write(lambda tx: tx.run("firewall_add", machine=machine))


def ingress(world: TestController, machine: str = "0") -> dict[str, tuple[str, ...]]:
    known = MachineFirewall(model=world.model, machine=machine)
    rules = world.read(lambda tx: firewall.rules(tx, machine, known))
    return {str(rule.range): rule.sources for rule in rules.ingress}


def open_port(world: TestController, unit: str, endpoint: str = "") -> None:
    world.write(
        lambda tx: tx._connection.execute(
            "INSERT INTO port VALUES (?, ?, ?, 'tcp', 3306, 3306)", (world.model, unit, endpoint)
        )
    )


def test_consumers_reach_the_ports(twins: TwoModels) -> None:
    twins.offer()
    twins.settle()
    guard(twins.prod)
    open_port(twins.prod, "db/0")
    assert ingress(twins.prod) == {}
    twins.ready_relation()
    assert ingress(twins.prod) == {"3306/tcp": ("10.0.0.2/32",)}
    assert ingress(twins.shop) == {}
    with twins.ctx.write(twins.shop.model) as tx:
        model_config.change(tx, {"egress-subnets": "192.168.0.0/16"})
    assert ingress(twins.prod) == {"3306/tcp": ("192.168.0.0/16",)}
    number = str(twins.relations(twins.prod)[0].id)
    integrate.set_suspended(twins.ctx, twins.prod.model, [number], suspended=True)
    assert ingress(twins.prod) == {}
    row = twins.prod.read(lambda tx: firewall.state(tx, "0"))
    assert row.changes > row.seen


def test_via_is_what_is_let_in(twins: TwoModels) -> None:
    twins.offer()
    twins.settle()
    open_port(twins.prod, "db/0")
    twins.relate(via=["172.16.0.0/12"])
    assert ingress(twins.prod) == {"3306/tcp": ("172.16.0.0/12",)}


def test_who_is_not_let_in_is_told(twins: TwoModels) -> None:
    twins.offer()
    with twins.ctx.write(twins.prod.model) as tx:
        model_config.change(tx, {"saas-ingress-allow": "10.8.0.0/16"})
    twins.ready_relation()
    open_port(twins.prod, "db/0")
    assert ingress(twins.prod) == {}
    assert twins.shop.status(StatusKind.RELATION, "0") == (
        "error",
        "subnet 10.0.0.2/32 not in firewall whitelist",
    )
    listed = offer_documents.list_offers(twins.ctx, twins.prod.resolve_model(), Wanted())
    assert "ingress-subnets" not in listed["db"]["connections"][0]
    with twins.ctx.write(twins.prod.model) as tx:
        model_config.change(tx, {"saas-ingress-allow": "10.0.0.0/8"})
        cross_model.config_changed(tx)
    assert twins.shop.status(StatusKind.RELATION, "0") == ("joined", "")
    assert ingress(twins.prod) == {"3306/tcp": ("10.0.0.2/32",)}


def test_what_is_exposed_needs_no_consumers(twins: TwoModels) -> None:
    from pushjuju.services.requests.application import expose

    twins.offer()
    twins.ready_relation()
    open_port(twins.prod, "db/0")
    expose.expose(twins.ctx, twins.prod.model, ExposeOptions(application="db", cidrs=["10.7.0.0/16"]))
    assert ingress(twins.prod) == {"3306/tcp": ("10.7.0.0/16",)}


def test_ports_that_open_later(twins: TwoModels) -> None:
    twins.offer()
    twins.ready_relation()
    guard(twins.prod)
    port = {"endpoint": "", "protocol": "tcp", "from": 5432, "to": 5432}
    twins.prod.played().will("update-status", {"writes": {"ports": {"open": [port], "close": []}}})
    before = twins.prod.read(lambda tx: firewall.state(tx, "0")).changes
    twins.shop.clock.advance(600)
    twins.settle()
    assert twins.prod.read(lambda tx: firewall.state(tx, "0")).changes > before
    assert ingress(twins.prod) == {"5432/tcp": ("10.0.0.2/32",)}
