"""A store with one model, and a disk that can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pushjuju.core.clock import to_iso
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Model
from tests.world.clock import FakeClock

ENGINES = ("file", "PostgreSQL")

MODEL = Model(
    uuid="11111111-0000-4000-8000-000000000000",
    name="test",
    owner="admin",
    cloud="local",
    cloud_type="local",
    region="default",
    credential="",
    life="alive",
    created=datetime(2025, 3, 1, 9, tzinfo=UTC),
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def model() -> Model:
    return MODEL


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def place(path: Path) -> Path | str:
    """Where the store is; modules whose tests run on both engines have another fixture of this name."""
    return path


def place_of(request: pytest.FixtureRequest) -> Path | str:
    """Return where a store is on the engine of a parameter: a new file, or a database with an empty store."""
    found: Path | str = request.getfixturevalue("path" if request.param == "file" else "postgres_store")
    return found


@pytest.fixture
def store(place: Path | str, clock: FakeClock) -> Iterator[Store]:
    made = Store.open(place, create=True)
    with made.write() as tx:
        tx.insert("model", MODEL)
        tx.run("model_config_set", model=MODEL.uuid, key="made", value=to_iso(clock.now()))
    yield made
    made.close()


@pytest.fixture
def beside(store: Store) -> Iterator[Store]:
    """The same store as another process has it."""
    made = Store.open(store.place)
    yield made
    made.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2.5 MiB of its own."""
    if os.geteuid():
        pytest.skip("mounting a small disk needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2560k,mode=0700", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this system forbids mounting a tmpfs: " + mounted.stderr.decode().strip())
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
