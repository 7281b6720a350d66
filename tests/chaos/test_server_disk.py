"""The disk of the server of a controller's store is full; server, machine, hooks and processes are real."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.services.requests.controller import moving
from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, until
from tests.chaos.test_hosts import let_go, runs
from tests.postgres import databases, server
from tests.postgres.test_absence import Server, alone  # noqa: F401 - a fixture
from tests.world.charms import Charms
from tests.world.controller import TestController

pytestmark = pytest.mark.machine

# Waits, then writes more lines than there is room for.
LOUD = (
    "if [ $hook = start ]; then until [ -e /var/tmp/go ]; do sleep 0.1; done; "
    'for i in $(seq 200); do juju-log "$(head -c 9000 /dev/urandom | base64 -w 0)"; done; fi'
)


@pytest.fixture
def small(alone: Server) -> Iterator[tuple[str, Path]]:  # noqa: F811
    """A database on a disk of its own of 40 MiB; and the disk."""
    disk = alone.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m,mode=0777", "tmpfs", disk], check=True)
    try:
        place = disk / "tables"
        place.mkdir()
        shutil.chown(place, server._owner())
        host = str(alone.folder)
        databases.command(host, f"CREATE TABLESPACE small LOCATION '{place}'")
        databases.command(host, "CREATE DATABASE small TABLESPACE small")
        databases.command(host, "CHECKPOINT")  # its files have holes until then
        yield f"postgresql://pushjuju@/small?host={host}", disk
        databases.command(host, "DROP DATABASE small WITH (FORCE)")
        databases.command(host, "DROP TABLESPACE small")
    finally:
        alone.stop()
        subprocess.run(["umount", disk], check=True)
        alone.start()


def fill(disk: Path) -> Path:
    """Leave no space on a disk; return the file that takes the space."""
    path = disk / "full"
    with path.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError:
            return path


def schemas(url: str) -> list[tuple[str]]:
    """Return the schemas of a database that are not PostgreSQL's own."""
    with import_module("psycopg").connect(url) as link:
        asked = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'"
        return list(link.execute(asked))


def test_a_move_onto_a_full_disk_leaves_nothing_there(
    tmp_path: Path, empty_controller: Path, packs: Charms, small: tuple[str, Path]
) -> None:
    url, disk = small
    world = TestController.copy(empty_controller, tmp_path, packs)
    world.deploy("web", packed=packs.make(files={"noise": secrets.token_hex(4 << 20)}))
    world.ctx.close()
    full, said = fill(disk), [""]
    while said[-1] != "moved":
        os.truncate(full, full.stat().st_size - (2 << 20))
        said.append(moved(world, url))
        assert schemas(url) == ([("pushjuju",)] if said[-1] == "moved" else [])
    assert len(said) > 3
    assert all("the disk of its server is full" in text for text in said[1:-1])


def moved(world: TestController, url: str) -> str:
    """Move a store into a database; return `moved` or the error."""
    try:
        moving.move(world.ctx.datadir, "home", url, now=datetime.now(UTC))
    except StoreError as error:
        return str(error)
    return "moved"


async def test_results_wait_on_machines_while_the_disk_of_the_server_is_full(
    new_world: NewWorld, small: tuple[str, Path]
) -> None:
    url, disk = small
    world = new_world(store=url)
    world.deploy(LOUD)
    with world.process() as process:
        await until(lambda: runs(world), 60)
        full = fill(disk)
        let_go(world)
        await until(lambda: "start 1" in world.machine().ended(), 60)
        await until(lambda: "the disk of its server is full" in process.text, 60, process.text)
        full.unlink()
        process.process.wait(60)
    with world.process() as process:
        process.process.wait(60)
        process.check()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
