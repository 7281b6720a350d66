"""Spaces and subnets over the API."""

from __future__ import annotations

import pytest

from pushjuju.web.facades.spaces import cidr_of, id_of, tag_of
from tests.world.api import ApiFailed, ApiWorld
from tests.world.controller import TestController
from tests.world.libjuju import model_of

INNER, OUTER = "10.1.0.0/24", "10.2.0.0/24"


@pytest.fixture
def wired(house: TestController) -> TestController:
    """A model with two subnets."""
    for cidr in (INNER, OUTER):
        house.write(lambda tx, cidr=cidr: tx.run("subnet_add", cidr=cidr))
    return house


async def test_libjuju_makes_and_lists_spaces(served: ApiWorld, wired: TestController) -> None:
    async with model_of(served, wired.model) as model:
        await model.add_space("db", [INNER])
        assert [space.name for space in await model.get_spaces()] == ["alpha", "db"]


async def test_a_space_is_made_shown_filled_renamed_and_removed(
    served: ApiWorld, wired: TestController
) -> None:
    async with served.entered(wired.model) as client:
        made = await client.ask(
            "Spaces", 6, "CreateSpaces", {"spaces": [{"space-tag": "space-db", "cidrs": [INNER]}]}
        )
        assert made == {"results": [{}]}
        args = [{"space-tag": "space-db", "subnets": [f"subnet-{OUTER}"], "force": False}]
        moved = await client.ask("Spaces", 6, "MoveSubnets", {"args": args})
        assert moved["results"] == [
            {
                "new-space": "space-db",
                "moved-subnets": [{"subnet": tag_of(OUTER), "old-space": "space-alpha", "cidr": OUTER}],
            }
        ]
        changes = [{"from-space-tag": "space-db", "to-space-tag": "space-store"}]
        assert await client.ask("Spaces", 6, "RenameSpace", {"changes": changes}) == {"results": [{}]}
        shown = await client.ask("Spaces", 6, "ShowSpace", {"entities": [{"tag": "space-store"}]})
        (found,) = shown["results"]
        assert (found["space"]["name"], found["machine-count"], found["applications"]) == ("store", 0, [])
        assert [subnet["cidr"] for subnet in found["space"]["subnets"]] == [INNER, OUTER]
        assert await client.ask("Spaces", 6, "ReloadSpaces") == {}
        removal = {"space-param": [{"space": {"tag": "space-store"}, "dry-run": True}]}
        assert await client.ask("Spaces", 6, "RemoveSpace", removal) == {"results": [{}]}
        removal = {"space-param": [{"space": {"tag": "space-store"}}]}
        assert await client.ask("Spaces", 6, "RemoveSpace", removal) == {"results": [{}]}
        listed = await client.ask("Spaces", 6, "ListSpaces")
        assert [space["name"] for space in listed["results"]] == ["alpha"]


async def test_errors_of_spaces_stand_in_their_places(served: ApiWorld, wired: TestController) -> None:
    async with served.entered(wired.model) as client:
        tags = [{"tag": "space-none"}, {"tag": "bad"}, {"tag": "space-alpha"}]
        shown = await client.ask("Spaces", 6, "ShowSpace", {"entities": tags})
        codes = [entry.get("error", {}).get("code") for entry in shown["results"]]
        assert codes == ["not found", "not valid", None]
        made = await client.ask("Spaces", 6, "CreateSpaces", {"spaces": [{"space-tag": "space-../x"}]})
        assert made["results"][0]["error"]["code"] == "not valid"


@pytest.mark.parametrize("cidr", [INNER, "0.0.0.0/0", "::/0", "::a01:0/120", "2001:db8::/64", "fe80::1/128"])
def test_the_number_of_a_subnet_leads_to_its_cidr(cidr: str) -> None:
    assert id_of(cidr).isdecimal()
    assert cidr_of(tag_of(cidr)) == cidr_of(f"subnet-{cidr}") == cidr


@pytest.mark.parametrize("text", ["subnet-63", "subnet-255", f"subnet-{2**200}"])
def test_a_number_of_no_subnet_stays_as_it_is(text: str) -> None:
    assert cidr_of(text) == text.removeprefix("subnet-")


async def test_subnets_are_listed_by_space_and_by_cidr(served: ApiWorld, wired: TestController) -> None:
    async with served.entered(wired.model) as client:
        every = await client.ask("Subnets", 5, "ListSubnets", {})
        assert [item["cidr"] for item in every["results"]] == [INNER, OUTER]
        assert await client.ask("Subnets", 5, "ListSubnets", {"zone": "z"}) == {"results": []}
        found = await client.ask("Subnets", 5, "SubnetsByCIDR", {"cidrs": [OUTER, "10.9.0.0/24"]})
        assert [len(entry["subnets"]) for entry in found["results"]] == [1, 0]
        with pytest.raises(ApiFailed, match="not supported"):
            await client.ask("Subnets", 5, "AllZones")
