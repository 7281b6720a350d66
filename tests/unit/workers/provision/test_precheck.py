"""What can never start is refused before anything is recorded: constraints, placements."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.constraints import parse
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.plugins.providers.local.bases import host_arch
from pushjuju.services.requests.machine import spaces
from pushjuju.workers.provision import precheck
from tests.world.charms import UBUNTU
from tests.world.controller import TestController

ARCH = host_arch()
OTHER = "arm64" if ARCH == "amd64" else "amd64"
KVM = ("kvm containers are not supported", "known types of containers: none, lxd")
PLACES = "known places: lxd, lxd:ID; --to also takes the id of a machine"


def _check(runtime: TestController, constraints: str = "", directives: tuple[str, ...] = ("",)) -> list[str]:
    """Check machines as `deploy` and `add-machine` do; return the warnings."""
    told: list[str] = []
    asked = {"constraints": parse(constraints), "base": UBUNTU, "directives": directives}
    precheck.precheck(runtime.ctx, runtime.model, **asked, warn=told.append)
    return told


def _set(runtime: TestController, constraints: str) -> list[str]:
    """Check constraints as `set-model-constraints` does; return the warnings."""
    told: list[str] = []
    asked = parse(constraints)
    precheck.check_constraints(runtime.ctx, runtime.model, asked, what='model "shop"', warn=told.append)
    return told


def _refused(error: pytest.ExceptionInfo[Any]) -> tuple[str, str]:
    found: PushjujuError = error.value
    return found.message, found.hint


@pytest.mark.parametrize("check", [_check, _set])
@pytest.mark.parametrize(
    ("constraints", "refused"),
    [
        ("container=kvm", KVM),
        ("spaces=alpha,^alpha", ('bad "spaces" constraint: "alpha" is both wanted and excluded', "")),
        ("spaces=alpha,far", ('bad "spaces" constraint: space "far" not found', "known spaces: alpha, near")),
        ("spaces=^far", ('bad "spaces" constraint: space "far" not found', "known spaces: alpha, near")),
        (f"arch={OTHER}", (f"invalid constraint value: arch={OTHER}\nvalid values are: [{ARCH}]", "")),
        (
            "virt-type=virtual-machine",
            ("invalid constraint value: virt-type=virtual-machine\nvalid values are: [container]", ""),
        ),
    ],
)
def test_unknown_values_are_refused_with_the_known_ones(
    runtime: TestController, check: Any, constraints: str, refused: tuple[str, str]
) -> None:
    spaces.add(runtime.ctx, runtime.model, "near", [])
    with pytest.raises((NotValid, NotFound)) as error:
        check(runtime, constraints)
    assert _refused(error) == refused


@pytest.mark.parametrize(
    ("constraints", "ignored"),
    [
        (f"arch={ARCH} cores=1 mem=1G container=lxd", ""),
        ("spaces=alpha zones=", ""),
        ("spaces=alpha,^near zones=", "spaces"),
        ("spaces=near tags=a", "tags,spaces"),
        ("tags=a instance-type=x mem=2G", "instance-type,tags"),
        ("zones=a", "zones"),
    ],
)
def test_what_a_cloud_does_not_have_is_a_warning(
    runtime: TestController, constraints: str, ignored: str
) -> None:
    spaces.add(runtime.ctx, runtime.model, "near", [])
    wanted = [f"unsupported constraints: {ignored}"] if ignored else []
    assert _check(runtime, constraints) == wanted
    assert _set(runtime, constraints) == [f'setting constraints on model "shop": {text}' for text in wanted]


@pytest.mark.parametrize("directive", ["foo", "zone=a", "system-id=x", "new", "LXD:0", "a b"])
def test_an_unknown_place_is_refused_with_the_known_ones(runtime: TestController, directive: str) -> None:
    with pytest.raises(NotValid) as error:
        _check(runtime, directives=(directive,))
    assert _refused(error) == (f"unknown placement directive: {directive}", PLACES)


def test_a_unit_that_needs_no_new_machine_is_looked_at_too(runtime: TestController) -> None:
    with pytest.raises(NotFound, match='space "far" not found'):
        _check(runtime, "spaces=far", directives=())
    assert _check(runtime, "tags=a", directives=()) == []
