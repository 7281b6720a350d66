"""Zones, what clouds make of constraints, instance types, cloudinit-userdata: rules without I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import cloudinit
from pushjuju.core.constraints import ConstraintRules, check, merge
from pushjuju.core.errors import NotValid
from pushjuju.core.instance_types import InstanceType, pick
from pushjuju.core.model import zones


def _first(names: Sequence[str]) -> str:
    return names[0]


def test_candidates_keep_the_clouds_order() -> None:
    assert zones.candidates("abc") == ["a", "b", "c"]
    assert zones.candidates("abc", wanted="ca") == ["a", "c"]
    assert zones.candidates("abc", wanted="ab", derived="bc") == ["b"]
    assert zones.candidates("abc", derived="x") == []


def test_the_emptiest_zone_is_chosen() -> None:
    assert zones.choose("abc", {"a": 2, "b": 1, "c": 1}, draw=_first) == "b"
    assert zones.choose("abc", {"a": 2, "b": 1, "c": 1}, draw=lambda names: names[-1]) == "c"
    assert zones.choose("abc", {"a": 0}, failed="a", draw=_first) == "b"
    assert zones.choose("abc", {}, failed="abc", draw=_first) is None


@given(st.integers(1, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_machines_spread_evenly(machines: int, count: int, random: Any) -> None:
    names = [f"z{number}" for number in range(count)]
    population: dict[str, int] = {}
    for _ in range(machines):
        zone = zones.choose(names, population, draw=random.choice)
        assert zone is not None
        population[zone] = population.get(zone, 0) + 1
    held = [population.get(name, 0) for name in names]
    assert max(held) - min(held) <= 1


RULES = ConstraintRules(
    unsupported=frozenset({"tags", "virt-type"}),
    conflicts=((frozenset({"instance-type"}), frozenset({"mem", "cores"})),),
    vocabulary={"arch": ["amd64", "arm64"], "zones": ["a", "b"]},
)


def test_rules_of_a_cloud() -> None:
    assert check({"mem": 1, "tags": ["x"], "virt-type": None, "arch": "amd64"}, RULES) == ["tags"]
    with pytest.raises(NotValid, match='ambiguous constraints: "instance-type" overlaps with "cores"'):
        check({"instance-type": "m", "cores": 2}, RULES)
    with pytest.raises(NotValid) as caught:
        check({"arch": "s390x"}, RULES)
    assert str(caught.value) == "invalid constraint value: arch=s390x\nvalid values are: [amd64 arm64]"
    with pytest.raises(NotValid, match="invalid constraint value: zones=c"):
        check({"zones": ["a", "c"]}, RULES)


def test_the_stronger_value_takes_the_weaker_ones_along() -> None:
    assert merge({"mem": 1, "arch": "arm64"}, {"instance-type": "m"}, RULES.conflicts) == {
        "arch": "arm64",
        "instance-type": "m",
    }
    assert merge({"instance-type": "m"}, {"mem": 5}, RULES.conflicts) == {"mem": 5}
    assert merge({"mem": 1, "cores": 2}, {"mem": None}, RULES.conflicts) == {"cores": 2}


TYPES = [
    InstanceType(name="small", cores=1, mem=1024, cost=1),
    InstanceType(name="medium", cores=2, mem=4096, cost=3),
    InstanceType(name="wide", cores=8, mem=4096, cost=9),
    InstanceType(name="arm", cores=2, mem=4096, cost=2, arches=("arm64",)),
    InstanceType(name="old", cores=2, mem=4096, cost=0.1, deprecated=True),
    InstanceType(name="fixed", cores=4, mem=8192, cost=4, root_disk=10240),
]


@pytest.mark.parametrize(
    ("constraints", "name"),
    [
        ({}, "medium"),
        ({"mem": 512}, "small"),
        ({"cores": 3}, "fixed"),
        ({"cores": 3, "root-disk": 20480}, "wide"),
        ({"arch": "arm64"}, "arm"),
        ({"instance-type": "small"}, "small"),
        ({"instance-type": "arm"}, "arm"),
        ({"instance-type": "old"}, "old"),
        ({"mem": 0}, "small"),
    ],
)
def test_an_instance_type_is_picked(constraints: dict[str, Any], name: str) -> None:
    assert pick(TYPES, constraints, region="north").name == name


def test_the_largest_will_do_when_mem_was_not_asked_for() -> None:
    little = [InstanceType(name="a", cores=1, mem=256), InstanceType(name="b", cores=1, mem=512)]
    assert pick(little, {}, region="r").name == "b"
    with pytest.raises(NotValid, match='no instance types in r matching constraints "mem=600M"'):
        pick(little, {"mem": 600}, region="r")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"users": 1}, "cloudinit-userdata: users not allowed"),
        ({"runcmd": []}, "cloudinit-userdata: runcmd not allowed, use preruncmd or postruncmd instead"),
        ({"bootcmd": []}, "cloudinit-userdata: bootcmd not allowed"),
        ({"packages": "vim"}, "packages must be a list of strings"),
        ({"packages": [1]}, "packages must be a list of strings"),
        ({"preruncmd": ["a", 5]}, "preruncmd must be a list"),
        ({1: 2}, "non-string"),
        ([], "expected a map"),
        ("x", "expected a map"),
    ],
)
def test_cloudinit_userdata_that_is_refused(document: Any, problem: str) -> None:
    with pytest.raises(NotValid, match="cloudinit-userdata: ") as caught:
        cloudinit.check(document)
    assert problem in str(caught.value)


def test_cloudinit_userdata_joins_ours() -> None:
    own = {"packages": ["python3"], "runcmd": ["ours"], "package_upgrade": True}
    wanted = {
        "packages": ["vim", "python3"],
        "preruncmd": ["first", ["echo", "a b"]],
        "postruncmd": ["last"],
        "package_upgrade": False,
    }
    assert cloudinit.merge(own, wanted) == {
        "packages": ["python3", "vim"],
        "runcmd": ["first", "echo 'a b'", "ours", "set +xe", "last"],
        "package_upgrade": False,
    }
    assert cloudinit.merge({}, {}) == {}
