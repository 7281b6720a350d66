"""What one hook costs, from the queue to rest: one look, one commit, and the last look inside the commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.services.entities.model import jump_hosts
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.store.db import Store
from tests.bench.one_change import deployed, looks, traced, work
from tests.bench.statements import counted
from tests.world.controller import TestController
from tests.world.wire import WireCloud

World = tuple[TestController, WireCloud]
MAX_READS = 40


@pytest.fixture
def at_rest(tmp_path: Path) -> Iterator[World]:
    """One unit at rest on a played machine."""
    world, cloud = deployed(tmp_path)
    yield world, cloud
    world.ctx.close()


def change(world: TestController) -> None:
    """Make config-changed due, in another process: nothing that was read before is known any more."""
    other = Store.open(world.ctx.store.path)
    settings.set_config(
        replace(world.ctx, store=other),
        world.model,
        ConfigOptions(application="log", values={"title": "new"}),
    )
    other.close()


def test_a_hook_takes_one_turn_one_snapshot_one_decision_and_a_last_look(at_rest: World) -> None:
    world, cloud = at_rest
    change(world)
    hooks = cloud.tally.hooks
    with traced() as calls:
        work(world, cloud)
    assert cloud.tally.hooks == hooks + 1
    # The look before contact, which the run takes up; and the look inside the commit, from what is known.
    assert looks(calls) == {"turns": 2, "snapshots": 1, "decisions": 2}


def test_a_contact_that_brings_no_news_leaves_what_is_known_of_the_units(at_rest: World) -> None:
    world, cloud = at_rest
    before = world.machine("0")
    world.clock.advance(60)
    change(world)
    with traced() as calls:
        work(world, cloud)
    assert looks(calls) == {"turns": 2, "snapshots": 1, "decisions": 2}
    assert world.machine("0") == replace(before, last_seen=world.clock.now()) != before


def test_a_hook_reads_nothing_of_its_unit_twice(at_rest: World) -> None:
    world, cloud = at_rest
    change(world)
    with counted(world.ctx.store) as statements:
        work(world, cloud)
    reads = Counter(text for text in statements if text.startswith("SELECT") and "FROM work" not in text)
    # Of what is read twice, the hook has written rows in between.
    assert [text for text, number in reads.items() if number > 1 and "FROM unit" not in text] == []
    assert len(reads) <= MAX_READS, len(reads)


def test_a_unit_at_rest_that_is_woken_is_not_read_again(at_rest: World) -> None:
    world, cloud = at_rest
    world.write(jump_hosts.changed)
    with traced() as calls:
        work(world, cloud)
    assert looks(calls) == {"turns": 0, "snapshots": 0, "decisions": 0}
