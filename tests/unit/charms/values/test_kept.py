"""LXD profiles, terms, payloads, metrics: checked and kept, although nothing on most machines needs them."""

from __future__ import annotations

import json

import pytest

from pushjuju.charms.archive.reader import load
from pushjuju.charms.format.assumes import check_features
from pushjuju.charms.values.model import Charm, MetricMeta, Metrics, PayloadMeta
from pushjuju.charms.values.wire import from_wire, to_wire
from pushjuju.core.errors import InvalidCharm, NotValid
from pushjuju.services.entities.application.applications import current_charm
from tests.world.controller import TestController

HEAD = "name: web\nsummary: s\ndescription: d\n"
META = "payloads: {web: {type: docker}, vm: {type: kvm}}\nterms: [plain, owner/more/2]\n"
PROFILE = (
    "description: d\nconfig: {security.nesting: true}\n"
    "devices: {tun: {type: unix-char, path: /dev/net/tun}}\n"
)
METRICS = "metrics: {juju-units: , users: {type: gauge, description: d}}\nplan: {required: true}\n"
FILES = {"lxd-profile.yaml": PROFILE, "metrics.yaml": METRICS}


def charm_of(meta: str = "", **files: str) -> Charm:
    """Read a charm; files are named by what stands before `.yaml`."""
    tree = {f"{name.replace('_', '-')}.yaml": text.encode() for name, text in files.items()}
    return load({"metadata.yaml": (HEAD + meta).encode(), **tree}.get)


def check(charm: Charm) -> None:
    """Fail the test unless everything is there."""
    assert charm.meta.terms == ("plain", "owner/more/2")
    assert charm.meta.payloads == {
        "web": PayloadMeta(name="web", type="docker"),
        "vm": PayloadMeta(name="vm", type="kvm"),
    }
    assert charm.lxd_profile is not None
    assert charm.lxd_profile.config == {"security.nesting": "true"}
    assert charm.lxd_profile.devices == {"tun": {"type": "unix-char", "path": "/dev/net/tun"}}
    assert charm.metrics == Metrics(
        metrics={
            "juju-units": MetricMeta(name="juju-units"),
            "users": MetricMeta(name="users", type="gauge", description="d"),
        },
        plan_required=True,
    )


def test_all_four_are_read_and_come_back() -> None:
    charm = charm_of(META, lxd_profile=PROFILE, metrics=METRICS)
    check(charm)
    check_features(charm)
    again = from_wire(json.loads(json.dumps(to_wire(charm))))
    check(again)
    assert again == charm


def test_a_charm_that_was_stored_before_metrics_were_kept() -> None:
    document = to_wire(charm_of(META))
    del document["metrics"]
    assert from_wire(document) == charm_of(META)


def test_they_come_out_of_the_store_also_after_a_refresh(runtime: TestController) -> None:
    def stored() -> Charm:
        application = runtime.application()
        found: Charm = runtime.read(lambda tx: current_charm(tx, application))
        return found

    extra = {
        "payloads": {"web": {"type": "docker"}, "vm": {"type": "kvm"}},
        "terms": ["plain", "owner/more/2"],
    }
    runtime.deploy(packed=runtime.charms.make(files=FILES, **extra))
    runtime.settle()
    check(stored())
    runtime.refresh(runtime.charms.make(files={**FILES, "src/new": "1"}, **extra))
    runtime.settle()
    check(stored())
    runtime.refresh(runtime.charms.make())
    assert (stored().meta.terms, stored().lxd_profile, stored().metrics) == ((), None, None)


@pytest.mark.parametrize(
    ("meta", "files", "fault", "key"),
    [
        ("payloads: {-x: {type: t}}\n", {}, 'invalid payload class "-x"', "payloads.-x"),
        ("payloads: {web: {}}\n", {}, "payload class missing type", "payloads.web.type"),
        ("payloads: [web]\n", {}, "payloads: expected map, got []interface {}", "payloads"),
        ("terms: [A]\n", {}, 'wrong term name format "A"', "terms[0]"),
        ("terms: word\n", {}, "terms: expected list, got string", "terms"),
        ("", {"lxd_profile": "config: 5"}, "config: expected map, got int(5)", "config"),
        (
            "",
            {"lxd_profile": "config: {a: [1]}"},
            "config.a: expected string, got []interface {}",
            "config.a",
        ),
        (
            "",
            {"lxd_profile": "devices: {d: {x: {}}}"},
            "devices.d.x: expected string, got map",
            "devices.d.x",
        ),
        ("", {"metrics": "metrics: [a]"}, "metrics: expected map, got []interface {}", "metrics"),
        ("", {"metrics": "metrics: {x: 5}"}, "metrics.x: expected map, got int(5)", "metrics.x"),
        (
            "",
            {"metrics": "metrics: {x: {type: dial}}"},
            'metric "x" has unknown type "dial"',
            "metrics.x.type",
        ),
        (
            "",
            {"metrics": "metrics: {x: {type: gauge}}"},
            'metric "x" lacks description',
            "metrics.x.description",
        ),
        ("", {"metrics": "plan: {required: 1}"}, "plan.required: expected bool, got int(1)", "plan.required"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_key(
    meta: str, files: dict[str, str], fault: str, key: str
) -> None:
    with pytest.raises(InvalidCharm) as caught:
        charm_of(meta, **files)
    error = caught.value
    file = next(iter(files), "metadata").replace("_", "-") + ".yaml"
    assert (error.file, error.key) == (file, key)
    assert file in error.message
    assert fault in error.message
    told = f"{error.message}\n{error.detail}"
    assert key.rpartition(".")[2] in told


@pytest.mark.parametrize(
    ("profile", "fault", "place"),
    [
        (
            "devices: {eth9: {type: nic}}",
            'contains device type "nic"',
            "at devices.eth9.type",
        ),
        (
            "config: {limits.cpu: 2}",
            'contains config value "limits.cpu"',
            "at config.limits.cpu",
        ),
    ],
)
def test_a_profile_that_asks_too_much(profile: str, fault: str, place: str) -> None:
    with pytest.raises(NotValid) as caught:
        check_features(charm_of(lxd_profile=profile))
    assert caught.value.message == f"validating lxd profile: invalid lxd-profile.yaml: {fault}"
    assert caught.value.detail == f"{place}, lxd-profile.yaml:1"
