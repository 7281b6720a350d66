"""Who may reach which ports: rules from what is open and what is exposed."""

from __future__ import annotations

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.firewall import (
    EVERYWHERE,
    Exposure,
    IngressRule,
    MachineRules,
    collapsed,
    merged,
    parse_cidr,
    unit_ingress,
)
from pushjuju.core.model.ports import OpenPort, PortRange

WEB, ADMIN, LOG = (PortRange("tcp", number, number) for number in (80, 8080, 514))
PING = PortRange("icmp", -1, -1)
OPEN = (OpenPort("", WEB), OpenPort("admin", ADMIN), OpenPort("logs", LOG))
SUBNETS = {"dmz": ["10.1.0.0/24", "fd00:1::/64"], "empty": []}


def everyone(endpoint: str = "") -> Exposure:
    return Exposure(endpoint=endpoint, cidrs=EVERYWHERE)


def only(endpoint: str, *cidrs: str, spaces: tuple[str, ...] = ()) -> Exposure:
    return Exposure(endpoint=endpoint, cidrs=cidrs, spaces=spaces)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("192.168.1.7/32", "192.168.1.7/32"),
        ("2001:DB8::1/64", "2001:db8::/64"),
        ("::/0", "::/0"),
    ],
)
def test_networks(text: str, network: str) -> None:
    assert parse_cidr(text) == network


@pytest.mark.parametrize(
    "text",
    [
        "", "/", "10.0.0.1", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/255.0.0.0", "10.0.0/8",
        "256.0.0.0/8", "fe80::1%eth0/64", "::/129", "10.0.0.0/8 ", "10.0.0.0/8; drop", "lan", "10.0.0.0/8\n",
        "\u0661\u0660.0.0.0/8",
    ],
)  # fmt: skip
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(NotValid) as refused:
        parse_cidr(text)
    assert refused.value.message == f"invalid CIDR address: {text}"


@pytest.mark.parametrize(
    ("exposures", "found"),
    [
        ([], {}),
        ([everyone()], {WEB: EVERYWHERE, ADMIN: EVERYWHERE, LOG: EVERYWHERE}),
        ([everyone("admin")], {WEB: EVERYWHERE, ADMIN: EVERYWHERE}),
        ([everyone("other")], {WEB: EVERYWHERE}),
        (
            [everyone(), only("logs", "10.9.0.0/16")],
            {WEB: EVERYWHERE, ADMIN: EVERYWHERE, LOG: ("10.9.0.0/16",)},
        ),
        (
            [only("", "10.9.0.0/16"), only("admin", "10.8.0.0/16")],
            {WEB: ("10.8.0.0/15",), ADMIN: ("10.8.0.0/16",), LOG: ("10.9.0.0/16",)},
        ),
        ([only("admin", spaces=("dmz",))], dict.fromkeys((WEB, ADMIN), ("10.1.0.0/24", "fd00:1::/64"))),
        ([only("admin", "10.2.0.0/24", spaces=("dmz",))],
         dict.fromkeys((WEB, ADMIN), ("10.1.0.0/24", "10.2.0.0/24", "fd00:1::/64"))),
        ([only("", spaces=("empty", "gone"))], {}),
    ],
)  # fmt: skip
def test_rules_of_a_unit(exposures: list[Exposure], found: dict[PortRange, tuple[str, ...]]) -> None:
    """A named endpoint has its own ranges and those of all; the rest belongs to the entry for all."""
    rules = merged(unit_ingress(OPEN, exposures, SUBNETS))
    assert {rule.range: rule.sources for rule in rules} == found


def test_rules_of_several_units_are_one_per_range() -> None:
    rules = [
        IngressRule(WEB, ("10.0.0.0/25",)),
        IngressRule(PING, ("::/0",)),
        IngressRule(WEB, ("10.0.0.128/25",)),
    ]
    assert merged(rules) == (IngressRule(PING, ("::/0",)), IngressRule(WEB, ("10.0.0.0/24",)))


def test_addresses_become_networks() -> None:
    assert collapsed(["10.0.0.2", "10.0.0.3", "fd00::1", "name"]) == ("10.0.0.2/31", "fd00::1/128")


def test_the_digest_is_that_of_the_rules() -> None:
    plain = MachineRules()
    assert plain.digest() == MachineRules().digest()
    others = [
        MachineRules(ingress=(IngressRule(WEB, EVERYWHERE),)),
        MachineRules(ingress=(IngressRule(ADMIN, EVERYWHERE),)),
        MachineRules(mates=("10.0.0.1/32",)),
        MachineRules(ssh=("10.0.0.1/32",)),
        MachineRules(ssh_port=2222),
    ]
    assert len({rules.digest() for rules in (plain, *others)}) == len(others) + 1
