"""What the journal of changes leads to is what a whole picture would have shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.annotations import Kind
from pushjuju.services.entities.basis.network import addresses_from_nics
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.model import blocks
from pushjuju.services.requests.model.annotate import annotate
from pushjuju.services.views import entity_news, entity_picture
from pushjuju.services.views.entity_picture import Picture
from pushjuju.store.tx import ModelTx
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.two_models import TwoModels

NOT_JOURNALED = {"work", "sqlite_master"}  # who works on a machine: its status changes with that
KINDS = (
    "model", "charm", "machine", "application", "units", "unit", "relation", "remote", "offer", "annotation",
    "block", "action",
)  # fmt: skip


class Follower:
    """Keeps a picture up to date by what is new."""

    def __init__(self, house: TestController) -> None:
        self.house = house
        self.number = entity_news.newest(house.ctx)
        self.picture: Picture = entity_picture.picture(house.ctx, house.model)

    def follow(self) -> set[entity_news.Key]:
        """Take in what is new; return the entities that were read."""
        found = entity_news.journal(self.house.ctx, self.number)
        assert found.changed is not None
        self.number = found.number
        news = entity_news.news(self.house.ctx, self.house.model, found.changed.get(self.house.model, ()))
        assert news is not None
        self.picture.update(news.entities)
        for key in news.gone:
            self.picture.pop(key, None)
        return set(news.entities)

    def whole(self) -> Picture:
        """Return the picture that is read at once."""
        return entity_picture.picture(self.house.ctx, self.house.model)


@pytest.fixture
def pair(tmp_path: Path, packs: Charms) -> Iterator[TwoModels]:
    """A model with two units, and one whose database it will consume."""
    made = TwoModels(tmp_path, packs)
    made.deploy(made.shop, "web", count=2)
    made.deploy(made.prod, "db")
    made.settle()
    yield made
    made.ctx.close()


@pytest.fixture
def house(pair: TwoModels) -> TestController:
    """The first of them."""
    return pair.shop


def _status(tx: ModelTx) -> None:
    statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "active", message="new", now=tx.now)


def _addresses(tx: ModelTx) -> None:
    lan = {"value": "10.9.8.7", "cidr": "10.9.8.7/16"}
    nic = {"name": "eth0", "mac": "00:16:3e:00:00:01", "up": True, "addresses": [lan]}
    tx.run("machine_set_addresses", id="0", addresses=json.dumps(addresses_from_nics([nic])))


def _lost(tx: ModelTx) -> None:
    tx.run("machine_set_unreachable", id="1", now="2001-01-01T00:00:00Z")


def _note(pair: TwoModels, text: str) -> None:
    annotate(pair.ctx, pair.shop.model, Kind.APPLICATION, "web", {"x": text})


def _configure(pair: TwoModels) -> None:
    settings.set_config(pair.ctx, pair.shop.model, ConfigOptions(application="mail", values={"title": "x"}))


STEPS: dict[str, Callable[[TwoModels], object]] = {
    "a status": lambda pair: pair.shop.write(_status),
    "the addresses of a machine": lambda pair: pair.shop.write(_addresses),
    "a machine that is lost": lambda pair: pair.shop.write(_lost),
    "an application more": lambda pair: pair.shop.active("mail"),
    "a setting": _configure,
    "a note": lambda pair: _note(pair, "1"),
    "no note": lambda pair: _note(pair, ""),
    "disabled commands": lambda pair: blocks.disable(pair.ctx, pair.shop.model, "all", "no"),
    "enabled commands": lambda pair: blocks.enable(pair.ctx, pair.shop.model, "all"),
    "an offer": lambda pair: pair.offer(),
    "a relation to it": lambda pair: pair.relate(),
    "hooks": lambda pair: pair.settle(),
    "another charm": lambda pair: pair.shop.refresh(pair.charms.make("web", version="2"), "mail"),
    "the hooks of that": lambda pair: pair.settle(),
    "an end": lambda pair: pair.shop.destroy_model(),
    "the hooks of the end": lambda pair: pair.settle(),
}


def test_following_the_journal_shows_what_a_whole_picture_shows(pair: TwoModels) -> None:
    followers = {house.model: Follower(house) for house in (pair.shop, pair.prod)}
    for name, step in STEPS.items():
        step(pair)
        for follower in followers.values():
            follower.follow()
            assert follower.picture == follower.whole(), name


def test_what_is_read_is_what_has_changed_and_what_it_stands_on(house: TestController) -> None:
    follower = Follower(house)
    assert follower.follow() == set()
    house.write(_status)
    assert follower.follow() == {("unit", "web/0"), ("application", "web"), ("machine", "0")}


def test_a_table_that_is_told_of_is_in_the_journal(house: TestController) -> None:
    """A picture that reads one more table wants triggers for that table."""
    found = set()

    def note(action: int, table: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and table:
            found.add(table)
        return sqlite3.SQLITE_OK

    connection = house.ctx.store._connection
    connection.set_authorizer(note)
    entity_news.news(house.ctx, house.model, [(kind, "0") for kind in KINDS])
    connection.set_authorizer(None)
    rows = connection.execute("SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'")
    assert found - {row[0] for row in rows} <= NOT_JOURNALED
    assert {"unit", "machine", "task", "relation", "block", "offer"} <= found


def test_a_journal_that_was_pruned_says_that_it_does_not_know(house: TestController) -> None:
    number = entity_news.newest(house.ctx)
    with house.ctx.store.write() as tx:
        for _ in range(10_000):
            tx._connection.execute("INSERT INTO change (model, kind, entity) VALUES ('m', 'unit', 'u/0')")
        kept = tx._connection.execute("SELECT COUNT(*) FROM change").fetchone()[0]
    assert 8192 <= kept <= 8192 + 1024
    assert entity_news.journal(house.ctx, number).changed is None
    assert entity_news.journal(house.ctx, number + 10_000).changed == {}


def test_a_removed_model_has_no_news(house: TestController) -> None:
    assert entity_news.news(house.ctx, "no-such-model", [("unit", "web/0")]) is None


def test_sizes_that_a_machine_tells_of_itself_are_numbers_of_mib(house: TestController) -> None:
    known = json.dumps({"arch": "amd64", "cores": "2", "mem": "2048M", "tags": "a,b"})
    house.write(
        lambda tx: tx.run(
            "machine_set_facts",
            id="0",
            hostname="box",
            boot_id="b",
            hardware=known,
            now="2001-01-01T00:00:00Z",
        )
    )
    machine = entity_picture.picture(house.ctx, house.model)["machine", "0"]
    assert machine["hardware-characteristics"] == {
        "arch": "amd64", "cpu-cores": 2, "mem": 2048, "tags": ["a", "b"],
    }  # fmt: skip


def test_flags_of_an_application_are_bools(house: TestController) -> None:
    shown = entity_picture.picture(house.ctx, house.model)["application", "web"]
    assert (shown["exposed"], shown["subordinate"]) == (False, False)
    assert isinstance(shown["exposed"], bool)
    assert isinstance(shown["subordinate"], bool)
