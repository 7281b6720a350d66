"""What is a card, a chip and a line in the picture of a model."""

from __future__ import annotations

from pushjuju.services.pictures import folding, graph, machine_tree
from tests.world.known_models import model, openstack, random_model


def test_a_subordinate_is_a_chip_and_hands_its_lines_to_its_only_principal() -> None:
    found = graph.of_status(*model("m", "web=2 router=sub db=1", "web:db~router:db router:backend>db:db"))
    assert set(found.cards) == {"web", "db"}
    assert [chip.name for chip in found.cards["web"].chips] == ["router"]
    assert [(link.requirer, link.provider) for link in found.links] == [("web", "db")]
    assert found.links[0].relations == ("router:backend - db:db",)


def test_many_subordinates_are_chips_in_natural_order() -> None:
    names = [f"sub{number}" for number in range(12)]
    relations = " ".join(f"web:info~{name}:info" for name in names)
    found = graph.of_status(*model("m", "web=1 " + " ".join(f"{name}=sub" for name in names), relations))
    assert [chip.name for chip in found.cards["web"].chips] == names


def test_a_subordinate_of_several_principals_has_a_card_when_others_are_related_to_it() -> None:
    relations = "web:info~agent:info db:info~agent:info"
    assert set(graph.of_status(*model("m", "web=1 db=1 agent=sub", relations)).cards) == {"web", "db"}
    found = graph.of_status(*model("m", "web=1 db=1 agent=sub log=1", f"{relations} agent:log>log:log"))
    assert set(found.cards) == {"web", "db", "agent", "log"}
    assert found.cards["agent"].about == "subordinate of 2"
    assert found.cards["agent"].units == 2


def test_a_subordinate_without_principal_is_a_card() -> None:
    assert set(graph.of_status(*model("m", "agent=sub", "")).cards) == {"agent"}


def test_several_relations_between_two_applications_are_one_line() -> None:
    found = graph.of_status(*model("m", "a=1 b=1", "a:x>b:x a:y>b:y b:z>a:z"))
    (link,) = found.links
    assert len(link.relations) == 3


def test_peers_are_a_mark_and_no_line() -> None:
    found = graph.of_status(*model("m", "a=3", ""))
    assert found.cards["a"].peers
    assert not found.links


def test_a_card_has_the_worst_status_of_its_units_and_its_reason() -> None:
    bad = {"a/1": ("error", "hook failed"), "b/0": ("lost", "no contact"), "c": ("blocked", "needs db")}
    found = graph.of_status(*model("m", "a=2 b=1 c=1 d=1", "", not_well=bad)).cards
    assert (found["a"].status, found["a"].reason) == ("error", "a/1: hook failed")
    assert found["b"].status == "lost"
    assert (found["c"].status, found["c"].reason) == ("blocked", "needs db")
    assert (found["d"].status, found["d"].reason) == ("active", "")
    assert found["a"].counts == (("error", 1), ("active", 1))


def test_offers_and_consumed_applications_are_marked() -> None:
    found = graph.of_status(*model("m", "a=1", "a:db>far:db", consumed={"far": "admin/x.far"}, offered=["a"]))
    assert found.cards["a"].offered
    assert (found.cards["far"].kind, found.cards["far"].about) == ("consumed", "admin/x.far")
    assert len(found.links) == 1


def test_a_model_of_150_cards_is_not_folded() -> None:
    found = graph.of_status(*random_model(150, hubs=8))
    assert folding.fold(found) is found


def test_a_larger_model_is_folded_and_nothing_is_lost() -> None:
    whole = graph.of_status(*random_model(500, hubs=20))
    folded = folding.fold(whole)
    assert len(folded.cards) <= folding.MOST_CARDS
    groups = {name: card for name, card in folded.cards.items() if card.kind == "group"}
    members = [name for card in groups.values() for name in card.about.split(", ")]
    assert sorted([*members, *(set(folded.cards) - set(groups))]) == sorted(whole.cards)
    bad = {name for name, card in whole.cards.items() if card.status == "error"}
    named = {chip.name for card in groups.values() for chip in card.chips}
    assert bad <= named | set(folded.cards)
    unfolded = folding.fold(whole, unfolded=groups)
    assert set(unfolded.cards) == set(whole.cards)


def test_two_thousand_unrelated_applications_fold_into_one_group() -> None:
    (card,) = folding.fold(graph.of_status(*random_model(2000, hubs=0, links=False))).cards.values()
    assert card.units == 2000


def test_machines_hold_containers_units_and_subordinates() -> None:
    found = machine_tree.of_status(openstack()[0])
    assert [machine.name for machine in found] == ["0", "1", "2"]
    first = found[0].containers[0]
    assert [unit.name for unit in first.units] == ["ceph-mon/0", "nrpe/ceph-mon-0", "ntp/ceph-mon-0"]
    assert [unit.subordinate for unit in first.units] == [False, True, True]
    assert machine_tree.worst(found[2]) == "error"
