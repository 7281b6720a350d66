"""Host keys in PostgreSQL, as two hosts with directories of their own use them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pushjuju.core.errors import PushjujuError
from pushjuju.runner.ssh.hostkeys import HostKeyFile
from pushjuju.runner.ssh.login import HostKeyCheck
from pushjuju.runner.target import MachineTarget
from pushjuju.services.entities.machine import host_keys
from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import backups, moving
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.store import backup
from pushjuju.store.db import Store
from tests.world.charms import Charms
from tests.world.controller import TestController

pytest.importorskip("psycopg", reason="psycopg is not installed")

ONE, OTHER = "ssh-ed25519 AAAAC3Nz", "ssh-ed25519 BBBBC3Nz"


@pytest.fixture
def hosts(tmp_path: Path, packs: Charms, postgres_url: str) -> Iterator[list[TestController]]:
    """One controller on two hosts, each with its own directory, clock and connection."""
    first = TestController.build(tmp_path / "a", packs, Database(url=postgres_url))
    left_out = shutil.ignore_patterns("blobs", "known_hosts")
    shutil.copytree(tmp_path / "a" / "data", tmp_path / "b" / "data", ignore=left_out)
    second = TestController.at(tmp_path / "b", packs)
    with closing(first.ctx), closing(second.ctx):
        yield [first, second]


def check(world: TestController) -> HostKeyCheck:
    """Return the check of a login to the machine 10.0.0.7 from a host."""
    target = MachineTarget(host="10.0.0.7", known_hosts=host_keys.of(world.ctx, world.model))
    return HostKeyCheck(target, "10.0.0.7", 22)


def test_what_one_host_deploys_another_works(hosts: list[TestController]) -> None:
    """The charm's archive is fetched from the database."""
    first, second = hosts
    first.deploy("web")
    assert not list((second.ctx.controller.root / "blobs").glob("??/*"))
    second.settle()
    assert ("web/0", "start") in second.hooks()
    with second.ctx.store.read() as tx:
        names = backup.blob_names(tx)
    assert names
    for name in names:
        mine, theirs = (world.ctx.controller.blobs.path(name) for world in hosts)
        assert mine != theirs
        assert mine.read_bytes() == theirs.read_bytes()


def test_a_key_that_one_host_accepted_is_the_only_one_for_all(hosts: list[TestController]) -> None:
    first, second = hosts
    assert check(first).accept(f"{ONE} comment")
    assert check(second).accept(ONE)
    refusing = check(second)
    assert not refusing.accept(OTHER)
    told = refusing.error()
    assert "host key of 10.0.0.7 changed" in told.message
    delete = told.hint.partition("psql ")[2].partition(' -c "')[2].rstrip('"')
    with second.ctx.store.write() as tx:
        tx._connection.execute(delete)
    assert check(first).accept(OTHER)
    assert not check(second).accept(ONE)


def test_a_key_that_another_host_accepts_during_a_login_counts(hosts: list[TestController]) -> None:
    early = check(hosts[0])  # both have found no key
    assert check(hosts[1]).accept(OTHER)
    assert not early.accept(ONE)


ACCEPT = """
import sys
from pushjuju.services.entities.machine.host_keys import StoredHostKeys
from pushjuju.store.db import Store
keys = StoredHostKeys(Store.open(sys.argv[1]), sys.argv[2])
for number in range(30):
    print(*keys.accept(f"10.0.1.{number}", sys.argv[3]), sep=",")
"""


def test_two_hosts_cannot_accept_two_keys_at_once(hosts: list[TestController], postgres_url: str) -> None:
    model = hosts[0].model
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ACCEPT, postgres_url, model, key], stdout=subprocess.PIPE, text=True
        )
        for key in (ONE, OTHER)
    ]
    mine, theirs = ([*each.communicate(timeout=60)[0].splitlines()] for each in started)
    assert mine == theirs
    assert (len(mine), {*mine} | {ONE, OTHER}) == (30, {ONE, OTHER})


def test_a_user_accepts_another_key_than_the_providers(hosts: list[TestController]) -> None:
    keys = host_keys.of(hosts[0].ctx, hosts[0].model)
    target = replace(check(hosts[0]).target, host_keys=(ONE,))
    refusing = HostKeyCheck(target, "10.0.0.7", 22)
    assert not refusing.accept(OTHER)
    insert = refusing.error().hint.partition(' -c "')[2].rstrip('"')
    with hosts[0].ctx.store.write() as tx:
        tx._connection.execute(insert)
    assert HostKeyCheck(target, "10.0.0.7", 22).accept(OTHER)
    assert keys.find("10.0.0.7") == [OTHER]


def test_openssh_reads_and_extends_them(hosts: list[TestController]) -> None:
    first, second = hosts
    keys = host_keys.of(first.ctx, first.model)
    keys.add("10.0.0.7", ONE)
    with host_keys.as_file(second.ctx, second.model) as path:
        file = HostKeyFile(path)
        assert file.find("10.0.0.7") == [ONE]
        file.add("10.0.0.7", OTHER)  # is not taken in: the machine has a key
        file.add("10.0.0.8", OTHER)
    assert (keys.find("10.0.0.7"), keys.find("10.0.0.8")) == ([ONE], [OTHER])


def test_the_keys_of_a_removed_model_go(hosts: list[TestController]) -> None:
    first, _ = hosts
    keys = host_keys.of(first.ctx, first.model)
    keys.add("10.0.0.7", ONE)
    with first.ctx.write(first.model, whole=True) as tx:
        models.purge(tx)
    assert keys.find("10.0.0.7") == []


def test_they_move_with_the_store_and_are_in_its_backups(hosts: list[TestController], tmp_path: Path) -> None:
    world, _ = hosts
    keys = host_keys.of(world.ctx, world.model)
    keys.add("10.0.0.7", ONE)
    copy = tmp_path / "copy.tar.gz"
    backups.create(world.ctx, copy)
    keys.remove("10.0.0.7")
    keys.add("10.0.0.8", OTHER)
    backups.restore_anywhere(world.ctx.datadir, copy, clock=world.ctx.clock, name=world.ctx.controller.name)
    assert (keys.find("10.0.0.7"), keys.find("10.0.0.8")) == ([ONE], [OTHER])
    datadir, url, now = world.ctx.datadir, str(world.ctx.store.place), datetime(2025, 1, 1, tzinfo=UTC)
    moving.move(datadir, "home", "file", now=now)
    file = HostKeyFile(datadir.controller("home").known_hosts(world.model))
    assert (file.find("10.0.0.7"), file.find("10.0.0.8")) == ([ONE], [OTHER])
    with pytest.raises(PushjujuError):
        keys.find("10.0.0.7")
    moving.move(datadir, "home", url, now=now)
    with closing(Store.open(url)) as store:
        assert host_keys.StoredHostKeys(store, world.model).find("10.0.0.7") == [ONE]
