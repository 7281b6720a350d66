"""Several processes on one store: nothing is lost, nothing deadlocks, a key has one owner at a time.

The tests run on both engines.
"""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushjuju.store.db import Store
from pushjuju.store.rows.records import Model
from pushjuju.store.schema import check_ours
from pushjuju.store.statements import migrations
from tests.postgres import databases, fixtures
from tests.unit.store.conftest import ENGINES, place_of

HAMMER = Path(__file__).with_name("hammer.py")
ROUNDS = 150


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


def start(place: Path | str, proofs: Path, name: str, rounds: int = ROUNDS) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HAMMER), str(place), str(proofs), str(rounds), name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def settings(store: Store, model: Model) -> dict[str, str]:
    with store.read() as tx:
        return {row["key"]: row["value"] for row in tx.rows("model_config_list", model=model.uuid)}


@pytest.fixture
def proofs(tmp_path: Path) -> Path:
    folder = tmp_path / "proofs"
    folder.mkdir()
    return folder


@pytest.mark.timeout(120)
def test_hammering_one_store_loses_nothing(
    store: Store, place: Path | str, model: Model, proofs: Path
) -> None:
    runs = [start(place, proofs, name) for name in "abc"]
    ended = [(*run.communicate(timeout=100), run.returncode) for run in runs]
    assert [(code, err) for _, err, code in ended] == [(0, "")] * 3
    numbers = sorted(int(line) for out, _, _ in ended for line in out.split())
    assert numbers == list(range(len(numbers)))  # each number once, none left out
    found = settings(store, model)
    wanted = {key.split()[1]: value for key, value in found.items() if key.startswith("wanted ")}
    seen = {key.split()[1]: value for key, value in found.items() if key.startswith("seen ")}
    assert sum(map(int, wanted.values())) == 3 * ROUNDS
    assert seen == wanted  # every touch was followed by a look
    with store.read() as tx:
        assert [row["due"] for row in tx.rows("work_list", prefix="")] == [None] * len(wanted)


@pytest.mark.timeout(120)
def test_killing_workers_leaves_a_store_that_others_finish(
    store: Store, place: Path | str, model: Model, proofs: Path
) -> None:
    for number in range(6):
        with start(place, proofs, f"victim{number}", 10**6) as run:
            assert run.stdout
            run.stdout.readline()
            time.sleep(0.01 * number)
            run.send_signal(signal.SIGKILL)
        for proof in proofs.iterdir():  # the victim's mark of the key it was working
            proof.unlink()
    out, err = start(place, proofs, "last").communicate(timeout=60)
    assert err == ""
    assert out
    found = settings(store, model)
    for key, value in found.items():
        if key.startswith("wanted "):
            assert found[key.replace("wanted", "seen")] == value


OPEN = """
import sys, time
from pathlib import Path
from pushjuju.store.db import Store
time.sleep(max(0, float(sys.argv[2]) - time.time()))
Store.open(sys.argv[1] if "://" in sys.argv[1] else Path(sys.argv[1]), create=True).close()
"""


@pytest.fixture(params=ENGINES)
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Path | str]]:
    """Places without a store: files that are not there, or empty databases."""
    if request.param == "file":
        yield [tmp_path / f"{number}.db" for number in range(5)]
        return
    fixtures.require_psycopg()
    with ExitStack() as stack:
        host = request.getfixturevalue("postgres_host")
        yield [stack.enter_context(databases.database(host)) for _ in range(2)]


def test_processes_that_make_one_store_at_once_agree(places: list[Path | str]) -> None:
    for place in places:
        moment = str(time.time() + 0.4)
        runs = [
            subprocess.Popen(
                [sys.executable, "-c", OPEN, str(place), moment], stderr=subprocess.PIPE, text=True
            )
            for _ in range(4)
        ]
        assert [(run.communicate(timeout=60)[1], run.returncode) for run in runs] == [("", 0)] * 4
        made = Store.open(place)
        with made.read() as tx:
            assert tx.rows("model_list") == []
        made.close()
    assert migrations()


def test_a_store_that_another_process_makes_meanwhile_is_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "state.db"

    class Slow(sqlite3.Connection):
        """After its first statement, another process has made the store."""

        slow = True

        def execute(self, *args: Any) -> Any:
            found = super().execute(*args).fetchall()
            if self.slow:
                self.slow = False
                Store.open(path, create=True).close()
            return SimpleNamespace(fetchall=lambda: found)

    with closing(sqlite3.connect(path, factory=Slow, isolation_level=None)) as connection:
        check_ours(connection, path, create=True)
    Store.open(path).close()
