"""A plugin for pytest with which the controllers of all tests have their stores in PostgreSQL.

`make test-postgres` runs tests with this plugin: what works with a file must work with a database.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pushjuju.services.requests.controller import new_controllers
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.store.datadir import ControllerDir
from pushjuju.store.postgres.engine import PostgresEngine
from tests.postgres import databases

OF_FILES = Path(__file__).parent / "of_files.txt"
_FILE = re.compile(r"state\.db|sqlite3|store_path|\.kept\(")
_copytree = shutil.copytree
_bootstrap = new_controllers.bootstrap
_open: list[ExitStack] = []  # what makes databases: for the run of the tests, and for the present test
_host: list[str] = []


def _database(template: str = "") -> str:
    """Return the address of a new database, which is deleted when the test or the run ends."""
    return _open[-1].enter_context(databases.database(_host[0], template))


@pytest.fixture(scope="session", autouse=True)
def _server(postgres_host: str) -> Iterator[None]:
    _host.append(postgres_host)
    with ExitStack() as of_run:
        _open.append(of_run)
        yield
        _open.pop()


@pytest.fixture(autouse=True)
def _databases_of_test(_server: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened = PostgresEngine.open

    def open_for_test(url: str, **more: bool) -> PostgresEngine:
        engine = opened(url, **more)
        _open[-1].callback(engine.close)  # a connection warns when nobody closes it, a file does not
        return engine

    with ExitStack() as of_test:
        _open.append(of_test)
        monkeypatch.setattr(PostgresEngine, "open", open_for_test)
        yield
        _open.pop()


def bootstrap(*args: Any, database: Database | None = None, **more: Any) -> ControllerDir:
    """Make a controller in a new database, unless a test names one."""
    return _bootstrap(*args, database=database or Database(url=_database(), insecure=True), **more)


def copytree(source: Any, target: Any, *args: Any, **more: Any) -> Any:
    """Copy a folder, and the databases of the controllers in it."""
    made = _copytree(source, target, *args, **more)
    for settings in Path(target).rglob("controllers/*/controller.toml"):
        controller = ControllerDir(settings.parent)
        if store := controller.settings().get("store"):
            controller.set("store", _database(urlsplit(str(store)).path[1:]))
    return made


def _names_the_file(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and bool(_FILE.search(inspect.getsource(item.function)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that look into the file of a store, or reckon with SQLite."""
    of_files = {line for line in OF_FILES.read_text().splitlines() if not line.startswith("#")}
    for item in items:
        copies_the_file = "Restored" in vars(getattr(item, "module", None) or object)
        if copies_the_file or _names_the_file(item) or item.nodeid.partition("[")[0] in of_files:
            item.add_marker(pytest.mark.skip(reason="knows that the store is a file"))


def pytest_configure() -> None:
    new_controllers.bootstrap = bootstrap
    shutil.copytree = copytree
