"""status of a model on another computer shows what status shows on the host."""

from __future__ import annotations

import re

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse

FORMS = ("tabular", "yaml", "json", "summary", "oneline")
_CLOCK = re.compile(r"\d\d:\d\d:\d\d")


@pytest.fixture
def full(house: TestController, packs: Charms) -> TestController:
    """A model with units, relations, a subordinate, storage, an open port and a unit in error."""
    web = packs.make(
        "web",
        requires={"db": {"interface": "sql"}},
        storage={"data": {"type": "filesystem", "location": "/srv"}},
    )
    database = packs.make("database", peers=None, provides={"db": {"interface": "sql"}})
    logs = packs.make(
        "logs",
        peers=None,
        subordinate=True,
        requires={"info": {"interface": "juju-info", "scope": "container"}},
    )
    house.deploy("web", 2, packed=web)
    house.deploy("database", packed=database)
    house.deploy("logs", 0, packed=logs)
    house.settle()
    house.integrate("web:db", "database:db")
    house.integrate("web:juju-info", "logs:info")
    return house


def shown(home: Home, *words: str) -> str:
    """Return an output without the time of the call, and with the name of the controller on its host."""
    return _CLOCK.sub("", ok(home("status", "--utc", *words)).replace("team", "home"))


@pytest.mark.parametrize("form", FORMS)
def test_every_format_of_status_is_the_same_from_afar(
    kim: Home, full: TestController, served: ServedHouse, form: str
) -> None:
    words = ("--format", form, "--relations", "--storage") if form == "tabular" else ("--format", form)
    assert shown(kim, *words).split() == shown(served.host, *words).split()


def test_a_selector_keeps_the_same_part_from_afar(
    kim: Home, full: TestController, served: ServedHouse
) -> None:
    for words in (("web/0",), ("database", "--relations"), ("nothing",)):
        assert shown(kim, *words).split() == shown(served.host, *words).split()
    assert "Nothing matched specified filter." in kim("status", "nothing").err


def test_an_empty_model_is_called_empty(kim: Home, served: ServedHouse) -> None:
    assert kim("status").err == served.host("status").err == '\nModel "admin/shop" is empty.\n'
