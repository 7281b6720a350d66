"""assumes, and the choice of the base."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju import JUJU_VERSION
from pushjuju.charms.format.assumes import check_assumes, check_min_version, model_features, parse_assumes
from pushjuju.charms.values.charm_bases import BaseRequest, choose_base
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid


def refuse(key: str, text: str) -> None:
    raise AssertionError(f"{key}: {text}")


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ("juju", 'malformed "assumes" block; expected an expression list'),
        ({"any-of": []}, 'malformed "assumes" block; expected an expression list'),
        (["Juju"], 'malformed feature expression "Juju"'),
        (["juju = 3"], 'malformed feature expression "juju = 3"'),
        (["juju <= 3"], 'malformed feature expression "juju <= 3"'),
        (["juju >= x"], 'malformed feature expression "juju >= x": invalid version "x"'),
        (["juju >= 3.x"], 'malformed feature expression "juju >= 3.x": invalid version "3.x"'),
        ([{"one-of": []}], 'malformed composite expression; expected an "any-of" or "all-of" block'),
        ([{"any-of": [], "all-of": []}], "malformed composite expression"),
        ([{"any-of": "juju"}], 'malformed "any-of" expression; expected a list of sub-expressions'),
        ([{"all-of": ["Bad"]}], 'malformed feature expression "Bad"'),
        ([5], 'expected a feature, "any-of" or "all-of" expression'),
    ],
)
def test_parse_texts(raw: Any, fault: str) -> None:
    faults: list[tuple[str, str]] = []
    parse_assumes(raw, lambda *fault: faults.append(fault))
    prefix = 'parsing expression 1 in top level "assumes" block: ' if isinstance(raw, list) else ""
    assert faults == [("assumes[0]" if prefix else "assumes", prefix + fault)]


@pytest.mark.parametrize(
    "raw",
    [
        [], ["juju"], ["juju >= 3.1", "juju < 4"], ["juju>=3.6"], ["juju >= 2.9.34.1"],
        [{"any-of": ["k8s-api", "juju >= 3"]}], [{"all-of": ["juju", {"any-of": ["juju < 4", "k8s-api"]}]}],
    ],
)  # fmt: skip
def test_assumptions_that_hold(raw: Any) -> None:
    check_assumes(parse_assumes(raw, refuse), model_features(JUJU_VERSION))


def test_the_text_of_what_does_not_hold() -> None:
    raw = ["juju >= 4", "juju >= 3", {"any-of": ["k8s-api", {"all-of": ["juju >= 3", "thing"]}]}]
    with pytest.raises(NotValid) as caught:
        check_assumes(parse_assumes(raw, refuse), model_features("3.6.9"))
    # The last description is one long line.
    message = caught.value.message.replace(" of API objects in", "\nof API objects in")
    assert (
        message
        == """\
Charm feature requirements cannot be met:
  - charm requires feature "juju" (version >= 4.0.0) but model currently supports version 3.6.9
  - charm requires at least one of the following:
    - charm requires feature "k8s-api" but model does not support it
    - charm requires all of the following:
      - charm requires feature "thing" but model does not support it

Feature descriptions:
  - "juju": the version of Juju used by the model
  - "k8s-api": the Kubernetes API lets charms query and manipulate the state
of API objects in a Kubernetes cluster

For additional information please see: https://juju.is/docs/olm/supported-features"""
    )


def test_no_descriptions_for_unknown_features() -> None:
    with pytest.raises(NotValid) as caught:
        check_assumes(parse_assumes(["thing >= 1.2"], refuse), model_features("3.6.9"))
    # The last description is one long line.
    message = caught.value.message.replace(" of API objects in", "\nof API objects in")
    assert (
        message
        == """\
Charm feature requirements cannot be met:
  - charm requires feature "thing" (version >= 1.2.0) but model does not support it

For additional information please see: https://juju.is/docs/olm/supported-features"""
    )


def test_min_version() -> None:
    check_min_version("", "3.6.9")
    check_min_version("3.6.9", "3.6.9")
    check_min_version("2.9-rc1", "3.6-beta2")
    text = r"charm's min version \(3.7.0\) is higher than this juju model's version \(3.6.9\)"
    with pytest.raises(NotValid, match=text):
        check_min_version("3.7.0", "3.6.9")


def bases(*texts: str) -> tuple[Base, ...]:
    return tuple(map(Base.parse, texts))


JAMMY, NOBLE, FOCAL, XENIAL = bases("ubuntu@22.04", "ubuntu@24.04", "ubuntu@20.04", "ubuntu@16.04")
DEBIAN = Base("debian", "12")


@pytest.mark.parametrize(
    ("charm", "request_", "chosen"),
    [
        ((JAMMY, NOBLE), BaseRequest(), NOBLE),
        ((JAMMY, FOCAL), BaseRequest(), JAMMY),
        ((XENIAL, FOCAL), BaseRequest(), FOCAL),
        ((JAMMY, NOBLE), BaseRequest(requested=JAMMY), JAMMY),
        (
            (JAMMY, NOBLE),
            BaseRequest(requested=Base("ubuntu", "22.04", "edge")),
            Base("ubuntu", "22.04", "edge"),
        ),
        ((JAMMY, NOBLE), BaseRequest(model_default=JAMMY), JAMMY),
        ((JAMMY, NOBLE), BaseRequest(requested=NOBLE, model_default=JAMMY), NOBLE),
        ((JAMMY,), BaseRequest(requested=FOCAL, force=True), FOCAL),
        ((), BaseRequest(requested=FOCAL, force=True), FOCAL),
        ((JAMMY,), BaseRequest(requested=JAMMY, image_id=True), JAMMY),
        ((XENIAL,), BaseRequest(requested=XENIAL, daily_images=True), XENIAL),
        ((DEBIAN,), BaseRequest(extra_bases=(DEBIAN,)), DEBIAN),
    ],
)
def test_the_chosen_base(charm: tuple[Base, ...], request_: BaseRequest, chosen: Base) -> None:
    assert choose_base("web", charm, request_) == chosen


@pytest.mark.parametrize(
    ("charm", "request_", "fault"),
    [
        ((JAMMY,), BaseRequest(requested=XENIAL),
         "web is not available on the following base: ubuntu@16.04/stable not supported"),
        ((XENIAL,), BaseRequest(requested=XENIAL, force=True),
         "web is not available on the following base: ubuntu@16.04/stable not supported"),
        ((JAMMY, NOBLE), BaseRequest(requested=FOCAL),
         ('base "ubuntu@20.04/stable" is not supported, supported bases are: ubuntu@22.04, ubuntu@24.04.'
         " Use --force to deploy the charm anyway.")),
        ((JAMMY,), BaseRequest(model_default=FOCAL),
         ('base "ubuntu@20.04/stable" is not supported, supported bases are: ubuntu@22.04.'
         " Use --force to deploy the charm anyway. Used the default-base.")),
        ((XENIAL, Base("ubuntu", "18.04")), BaseRequest(),
         'the charm defined bases "ubuntu@16.04, ubuntu@18.04" not supported'),
        ((), BaseRequest(), "charm does not define any bases, not valid"),
        ((), BaseRequest(requested=JAMMY), "charm does not define any bases, not valid"),
        ((JAMMY,), BaseRequest(image_id=True),
         "base must be explicitly provided when image-id constraint is used"),
        ((DEBIAN,), BaseRequest(), 'the charm defined bases "debian@12" not supported'),
    ],
)  # fmt: skip
def test_base_faults(charm: tuple[Base, ...], request_: BaseRequest, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        choose_base("web", charm, request_)
    assert caught.value.message == fault
