"""Constraints: reading, merging, writing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import constraints
from pushjuju.core.errors import NotValid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("mem=8G", {"mem": 8192}),
        ("mem=512", {"mem": 512}),
        ("mem=.5G", {"mem": 512}),
        ("mem=1.5M", {"mem": 2}),
        ("root-disk=1T", {"root-disk": 1024**2}),
        ("root-disk=1P", {"root-disk": 1024**3}),
        ("cores=4 cpu-power=0", {"cores": 4, "cpu-power": 0}),
        ("cpu-cores=2", {"cores": 2}),
        ("tags=a,^b zones=z1", {"tags": ["a", "^b"], "zones": ["z1"]}),
        ("spaces=", {"spaces": None}),
        ("mem=", {"mem": None}),
        ("allocate-public-ip=T", {"allocate-public-ip": True}),
        ("allocate-public-ip=0", {"allocate-public-ip": False}),
        (r"instance-type=big\ one arch=arm64", {"instance-type": "big one", "arch": "arm64"}),
        ("image-id=a=b", {"image-id": "a=b"}),
        ("  container=lxd \t virt-type=kvm ", {"container": "lxd", "virt-type": "kvm"}),
    ],
)
def test_parse(text: str, expected: dict[str, Any]) -> None:
    assert constraints.parse(text) == expected


def test_a_repeated_flag_is_one_text() -> None:
    assert constraints.parse(["mem=1G", "cores=2 arch=amd64"]) == {"mem": 1024, "cores": 2, "arch": "amd64"}


@pytest.mark.parametrize(
    ("text", "kind", "known"),
    [
        ("ram=1G", "constraints", constraints.ORDER),
        ("arch=i386", "architectures", constraints.ARCHES),
        ("container=x", "types of containers", constraints.CONTAINERS),
    ],
)
def test_a_refusal_names_what_is_known(text: str, kind: str, known: tuple[str, ...]) -> None:
    with pytest.raises(NotValid) as caught:
        constraints.parse(text)
    assert caught.value.hint == f"known {kind}: {', '.join(known)}"


@pytest.mark.parametrize("name", constraints.ORDER)
def test_every_key_is_read_shown_and_cleared(name: str) -> None:
    samples = {"arch": "arm64", "container": "lxd", "cores": "4", "cpu-power": "100", "mem": "8G"}
    samples |= {
        "root-disk": "1T",
        "tags": "a,^b",
        "spaces": "db,^dmz",
        "zones": "z1,z2",
        "allocate-public-ip": "true",
    }
    shown = {"mem": "8192M", "root-disk": "1048576M"}
    text = samples.get(name, "some\\ text")
    found = constraints.parse(f"{name}={text}")
    assert constraints.render(found) == f"{name}={shown.get(name, text)}"
    assert constraints.parse(f"{name}=") == {name: None}
    assert constraints.render({name: None}) == ""


SIZE = 'bad "mem" constraint: must be a non-negative float with optional M/G/T/P suffix'
COUNT = 'bad "cores" constraint: must be a non-negative integer'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mem", 'malformed constraint "mem"'),
        ("=1", 'malformed constraint "=1"'),
        ("ram=1G", 'unknown constraint "ram"'),
        ("mem=1G mem=2G", 'bad "mem" constraint: already set'),
        ("cores=1 cpu-cores=2", 'bad "cores" constraint: already set'),
        ("mem=-1", SIZE),
        ("mem=1X", SIZE),
        ("mem=.", SIZE),
        ("mem=٣", SIZE),
        ("mem=" + "9" * 400, SIZE),
        ("cores=-1", COUNT),
        ("cores=1.5", COUNT),
        ("cores=²", COUNT),
        ("cores=" + "9" * 5000, COUNT),
        ("arch=i386", 'bad "arch" constraint: "i386" not recognized'),
        ("container=docker", 'bad "container" constraint: invalid container type "docker"'),
        ("allocate-public-ip=maybe", "bad \"allocate-public-ip\" constraint: must be 'true' or 'false'"),
    ],
)
def test_what_juju_refuses(text: str, message: str) -> None:
    with pytest.raises(NotValid) as caught:
        constraints.parse(text)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("model", "application", "expected"),
    [
        ({}, {}, {}),
        ({"mem": 1024}, {}, {"mem": 1024}),
        ({"mem": 1024, "cores": 2}, {"mem": 2048}, {"mem": 2048, "cores": 2}),
        ({"mem": 1024}, {"mem": None}, {}),
        ({"mem": 1024, "tags": ["a"]}, {"instance-type": "m1"}, {"instance-type": "m1", "tags": ["a"]}),
        ({"instance-type": "m1", "zones": ["z"]}, {"cores": 4}, {"cores": 4, "zones": ["z"]}),
        ({"instance-type": "m1"}, {"mem": None}, {"instance-type": "m1"}),
        ({"root-disk": 9, "mem": 1}, {"instance-type": "m1"}, {"root-disk": 9, "instance-type": "m1"}),
    ],
)
def test_merge(model: dict[str, Any], application: dict[str, Any], expected: dict[str, Any]) -> None:
    assert constraints.merge(model, application) == expected


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("", ""),
        ("mem=8G cores=2 arch=amd64", "arch=amd64 cores=2 mem=8192M"),
        ("allocate-public-ip=F zones=b,a", "zones=b,a allocate-public-ip=false"),
        (r"instance-type=big\ one", r"instance-type=big\ one"),
        (r"tags=one\ two,three", r"tags=one\ two,three"),
        ("spaces= cores=1", "cores=1"),
    ],
)
def test_render(given_text: str, shown: str) -> None:
    assert constraints.render(constraints.parse(given_text)) == shown


WORD = st.text(st.sampled_from("abz019-.^_ é="), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text
)
ITEM = WORD.filter(lambda text: "," not in text)
VALUES = {
    "arch": st.sampled_from(constraints.ARCHES),
    "container": st.sampled_from(["none", "lxd", "kvm"]),
    "cores": st.integers(0, 2**40),
    "cpu-power": st.integers(0, 2**40),
    "mem": st.integers(0, 2**40),
    "root-disk": st.integers(0, 2**40),
    "tags": st.lists(ITEM, min_size=1, max_size=3),
    "spaces": st.lists(ITEM, min_size=1, max_size=3),
    "zones": st.lists(ITEM, min_size=1, max_size=3),
    "allocate-public-ip": st.booleans(),
}
ANY = st.fixed_dictionaries({}, optional={name: VALUES.get(name, WORD) for name in constraints.ORDER})


@given(ANY)
def test_what_is_shown_reads_back(values: dict[str, Any]) -> None:
    assert constraints.parse(constraints.render(values)) == values


@given(ANY, ANY)
def test_a_merge_keeps_all_that_the_application_sets(
    model: dict[str, Any], application: dict[str, Any]
) -> None:
    merged = constraints.merge(model, application)
    assert application.items() <= merged.items()
    assert merged.keys() <= model.keys() | application.keys()


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        constraints.parse(text)
    except NotValid as refused:
        message = refused.message
    else:
        return
    assert "constraint" in message
