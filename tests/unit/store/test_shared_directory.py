"""Charm archives and resources in a directory that all hosts of a controller mount."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import NotValid, StoreError
from pushjuju.services.entities.model import controller_config
from pushjuju.services.requests.controller import backups, controllers, moving, new_controllers
from pushjuju.store import rehearsal
from pushjuju.store.datadir import ControllerDir, DataDir
from tests.world.charms import Charms
from tests.world.controller import TestController

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def datadir(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path / "data")


@pytest.fixture
def share(tmp_path: Path) -> Path:
    (tmp_path / "share").mkdir()
    return tmp_path / "share"


@pytest.fixture
def home(datadir: DataDir, share: Path) -> ControllerDir:
    return made(datadir, share)


@pytest.fixture
def charm(tmp_path: Path) -> Path:
    path = tmp_path / "web.charm"
    path.write_bytes(b"archive")
    return path


def made(datadir: DataDir, share: Path) -> ControllerDir:
    config = {"blobs": f"file://{share}"}
    return new_controllers.bootstrap(datadir, "local", "home", now=NOW, config=config)


def test_archives_are_in_the_directory_of_the_controller_there(
    home: ControllerDir, share: Path, charm: Path
) -> None:
    name = home.blobs.add(charm)
    place = share / home.settings()["uuid"]
    assert home.blobs.path(name) == place / name[:2] / name
    assert place.stat().st_mode & 0o777 == 0o700
    assert not list((home.root / "blobs").iterdir())


def test_a_host_that_has_not_mounted_the_directory_is_told(
    home: ControllerDir, share: Path, charm: Path
) -> None:
    share.rename(share.with_name("away"))
    share.mkdir()  # the empty place of a mount
    with pytest.raises(StoreError, match="with charms and resources is missing") as refused:
        home.blobs.add(charm)
    assert refused.value.hint.startswith("mount it, ")
    assert not list(share.iterdir())


def test_a_bootstrap_without_the_directory_makes_no_controller(datadir: DataDir, share: Path) -> None:
    with pytest.raises(StoreError, match="missing is missing") as refused:
        made(datadir, share / "missing")
    assert refused.value.hint == f"mount it, or: mkdir -p {share / 'missing'}"
    assert datadir.controllers() == []


def test_a_bootstrap_that_fails_leaves_nothing_in_the_directory(
    datadir: DataDir, share: Path, postgres_url: str
) -> None:
    database = new_controllers.Database(url=postgres_url, insecure=True)
    config = {"blobs": f"file://{share}"}
    new_controllers.bootstrap(datadir, "local", "first", now=NOW, database=database)
    with pytest.raises(StoreError, match="has the store of a controller already"):
        new_controllers.bootstrap(datadir, "local", "home", now=NOW, config=config, database=database)
    assert not list(share.iterdir())


def test_a_controller_is_not_removed_while_its_directory_is_missing(
    datadir: DataDir, home: ControllerDir, share: Path
) -> None:
    share.rename(share.with_name("away"))
    with pytest.raises(StoreError, match="with charms and resources is missing"):
        controllers.remove(datadir, home.name)
    share.with_name("away").rename(share)
    controllers.remove(datadir, home.name)
    assert (datadir.controllers(), list(share.iterdir())) == ([], [])


def test_only_a_directory_is_a_place_for_archives() -> None:
    with pytest.raises(NotValid, match="invalid blobs in configuration"):
        controller_config.parse_value("blobs", "s3://bucket")
    assert not controller_config.may_change("blobs")


def test_a_plan_reads_the_directory_and_writes_elsewhere(
    datadir: DataDir, home: ControllerDir, charm: Path, tmp_path: Path
) -> None:
    name = home.blobs.add(charm)
    copy = rehearsal.copy_datadir(datadir, tmp_path / "copy").controller("home")
    assert copy.blobs.path(name).read_bytes() == b"archive"
    charm.write_bytes(b"other")
    copy.blobs.add(charm)
    assert home.blobs.names() == [name]


def test_the_directory_goes_with_its_controller(datadir: DataDir, home: ControllerDir, share: Path) -> None:
    assert len(list(share.iterdir())) == 1
    controllers.remove(datadir, home.name)
    assert not list(share.iterdir())


def test_the_directory_stays_in_use_after_a_move_there_and_back(
    datadir: DataDir, home: ControllerDir, charm: Path, postgres_url: str
) -> None:
    name = home.blobs.add(charm)
    path = home.blobs.path(name)
    for second, to in enumerate((postgres_url, "file")):
        moving.move(datadir, "home", to, now=NOW.replace(second=second))
        assert datadir.controller("home").blobs.path(name) == path


def test_a_restored_controller_has_its_archives_in_the_directory(
    empty_controller: Path, packs: Charms, tmp_path: Path, share: Path
) -> None:
    world = TestController.copy(empty_controller, tmp_path, packs)
    home, backup = world.ctx.controller, tmp_path / "backup.tar.gz"
    home.change(lambda document: document.setdefault("config", {}).update(blobs=f"file://{share}"))
    place = share / home.settings()["uuid"]
    place.mkdir()
    with closing(world.ctx):
        world.deploy("web")
        backups.create(world.ctx, backup)
        names = home.blobs.names()
    controllers.remove(world.ctx.datadir, home.name)
    place.mkdir()
    backups.restore_anywhere(world.ctx.datadir, backup, clock=SystemClock(), name=home.name)
    assert names
    assert world.ctx.datadir.controller(home.name).blobs.names() == names
    assert [path.name for path in place.glob("??/*")] == names


def test_a_controller_whose_settings_are_broken_can_be_removed(datadir: DataDir, home: ControllerDir) -> None:
    (home.root / "controller.toml").write_text("name = [")
    controllers.remove(datadir, home.name)
    assert datadir.controllers() == []
