"""Parts of a graph: what is not well, and what is near an application."""

from __future__ import annotations

from pushjuju.services.pictures import folding, graph, parts
from tests.world.known_models import model, openstack, random_model

CHAIN = "a:x>b:x b:x>c:x c:x>d:x d:x>e:x"
APPLICATIONS = "a=1 b=1 c=1 d=1 e=1"


def test_what_is_not_well_comes_with_its_neighbours() -> None:
    bad = {"a/0": ("error", "hook failed")}
    found = parts.not_well(graph.of_status(*model("m", APPLICATIONS, CHAIN, not_well=bad)))
    assert set(found.cards) == {"a", "b"}
    assert [(link.requirer, link.provider) for link in found.links] == [("a", "b")]


def test_a_card_whose_subordinate_is_not_well_is_not_well() -> None:
    bad = {"log/a-0": ("blocked", "needs a server")}
    found = graph.of_status(*model("m", "a=1 b=1 c=1 log=sub", "a:x>b:x a:log~log:log", not_well=bad))
    assert set(parts.not_well(found).cards) == {"a", "b"}


def test_of_a_model_that_is_well_nothing_is_chosen() -> None:
    assert parts.not_well(graph.of_status(*model("m", APPLICATIONS, CHAIN))).cards == {}


def test_what_is_near_an_application_is_at_most_two_lines_away() -> None:
    found = graph.of_status(*model("m", APPLICATIONS, CHAIN))
    assert set(parts.near(found, "a").cards) == {"a", "b", "c"}
    assert set(parts.near(found, "c").cards) == {"a", "b", "c", "d", "e"}
    assert set(parts.near(found, "a", depth=1).cards) == {"a", "b"}
    assert parts.near(found, "unheard-of").cards == {}


def test_a_subordinate_is_near_what_its_principal_is_near() -> None:
    found = graph.of_status(*model("m", "a=1 b=1 c=1 log=sub", "a:x>b:x a:log~log:log"))
    assert set(parts.near(found, "log").cards) == {"a", "b"}


def test_no_way_leads_through_the_most_related_applications() -> None:
    whole = graph.of_status(*openstack())
    near = parts.near(whole, "easyrsa")
    assert {"easyrsa", "etcd", "vault"} <= set(near.cards)
    assert len(near.cards) < len(whole.cards) / 4
    assert len(parts.near(whole, "vault", depth=1).cards) > len(whole.cards) / 3


def test_a_group_opens_by_its_name_or_by_one_of_its_applications() -> None:
    whole = graph.of_status(*random_model(500, hubs=20))
    folded = folding.fold(whole)
    group = next(card for card in folded.cards.values() if card.kind == "group")
    members = group.about.split(", ")
    for opened in ([group.name], [members[0]], [members[-1], "unheard-of"]):
        cards = folding.fold(whole, opened).cards
        assert group.name not in cards
        assert set(members) <= set(cards)
        assert len(cards) == len(folded.cards) + len(members) - 1
