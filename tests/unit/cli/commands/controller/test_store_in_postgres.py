"""Commands on a controller whose store is in PostgreSQL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.services.requests.controller import controllers
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from tests.postgres import databases
from tests.world.charms import Charms
from tests.world.commandline import Run

pytestmark = pytest.mark.usefixtures("unworked")


@pytest.fixture
def home(run: Run, postgres_url: str) -> Run:
    made = run("bootstrap", "local", "home", "--add-model", "shop", "--store", postgres_url)
    assert made.status == 0, made.err
    return run


def names(run: Run) -> list[str]:
    return [line.split()[0] for line in run("status").out.splitlines() if line.startswith(("web", "db"))]


def test_a_life_without_a_file(home: Run, packs: Charms, tmp_path: Path) -> None:
    for name in ("web", "db"):
        assert home("deploy", str(packs.make(name).path), name).status == 0
    assert names(home) == ["db", "web", "db/0", "web/0"]
    assert not list(tmp_path.rglob("state.db"))


def test_a_plan_is_made_on_a_copy(home: Run, packs: Charms) -> None:
    assert home("deploy", str(packs.make("web").path), "web").status == 0
    planned = home("plan", "--", "remove-application", "web")
    assert (planned.status, "web/0" in planned.out) == (2, True)
    assert names(home) == ["web", "web/0"]


def test_a_backup_brings_everything_back(home: Run, packs: Charms, tmp_path: Path) -> None:
    assert home("deploy", str(packs.make("web").path), "web").status == 0
    assert home("create-backup", "--filename", str(tmp_path / "copy.tar.gz")).status == 0
    with tarfile.open(tmp_path / "copy.tar.gz") as archive:
        assert any(name.endswith("state.db") or "store" in name for name in archive.getnames())
    assert home("deploy", str(packs.make("db").path), "db").status == 0
    done = home("restore-backup", "--no-prompt", str(tmp_path / "copy.tar.gz"))
    assert done.status == 0, done.err
    assert names(home) == ["web", "web/0"]


def test_a_backup_brings_back_into_the_database_what_the_database_has_lost(
    home: Run, packs: Charms, tmp_path: Path, postgres_url: str
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    copy = str(tmp_path / "copy.tar.gz")
    assert home("deploy", str(packs.make("web").path), "web").status == 0
    assert home("create-backup", "--filename", copy).status == 0
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute("DROP TABLE pushjuju.unit CASCADE")
        refused = home("restore-backup", "--no-prompt", copy)
        assert (refused.status, "it has no table unit" in refused.err) == (1, True)
        [rename] = re.findall("-c '(ALTER SCHEMA .*)'", refused.err)
        link.execute(rename)
    done = home("restore-backup", "--no-prompt", copy)
    assert done.status == 0, done.err
    assert "its store was absent" in done.err + done.out
    assert "kept as" not in done.err + done.out
    assert names(home) == ["web", "web/0"]
    assert not list(tmp_path.rglob("state.db"))
    assert not list(tmp_path.rglob("before-restore-*"))


def test_a_database_that_is_taken_is_refused(home: Run, postgres_url: str) -> None:
    ended = home("bootstrap", "local", "other", "--store", postgres_url)
    assert (ended.status, "has the store of a controller already" in ended.err) == (1, True)
    assert "?" not in ended.err  # the address has no options
    assert home("controllers").out.count("home") == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_a_database_takes_one_of_several_new_controllers(
    tmp_path: Path, postgres_host: str, at_once: bool
) -> None:
    """None has a model yet; a bootstrap that was interrupted is completed."""
    words = ("bootstrap", "manual", "new", "--insecure-store", "--store")
    argv = [sys.executable, "-m", "pushjuju.cli", *words]
    with databases.database(postgres_host) as url:
        running = []
        for name in "abc":
            environ = {**os.environ, "PUSHJUJU_DATA": str(tmp_path / name)}
            running.append(subprocess.Popen([*argv, url], env=environ, stderr=subprocess.PIPE, text=True))
            if not at_once:
                running[-1].wait(timeout=60)
        told = [process.communicate(timeout=60)[1] for process in running]
        assert sorted(process.returncode for process in running) == [0, 1, 1], told
        assert sum("has the store of a controller already" in text for text in told) == 2
        [made] = tmp_path.glob("*/controllers/new/controller.toml")
        made.unlink()
        again = {**os.environ, "PUSHJUJU_DATA": str(made.parents[2])}
        assert subprocess.run([*argv, url], env=again, timeout=60, check=False).returncode == 0


def test_a_plan_of_a_bootstrap_leaves_the_database_alone(run: Run, postgres_url: str) -> None:
    planned = run("plan", "bootstrap", "local", "new", "--store", postgres_url)
    assert "controller new" in planned.out, planned.err
    with pytest.raises(StoreError, match="has no store of pushjuju"):
        Store.open(postgres_url)


def test_a_removed_controller_leaves_nothing(home: Run, postgres_url: str, tmp_path: Path) -> None:
    controllers.remove(DataDir(tmp_path / "data"), "home")  # what `kill-controller` does at the end
    assert home("bootstrap", "local", "again", "--store", postgres_url).status == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://db/pj", "needs TLS"),
        ("postgresql://a:b@db/pj?sslmode=verify-full", "has no password"),
        ("postgresql:///pj?host=/nowhere", "cannot be reached"),
    ],
)
def test_a_store_that_cannot_be_used_makes_no_controller(run: Run, url: str, said: str) -> None:
    ended = run("bootstrap", "local", "home", "--store", url)
    assert ended.status == 1
    assert said in ended.err
    assert run("controllers").out == ""
