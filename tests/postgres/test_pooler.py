"""A pooler between pushjuju and its server is refused; server and pooler are real."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.store.db import Store
from tests.postgres import fixtures, server
from tests.waiting import comes

SETTINGS = """[databases]
* = host={host} user=pushjuju
[pgbouncer]
pool_mode = {mode}
auth_type = any
listen_addr =
unix_socket_dir = {folder}
ignore_startup_parameters = extra_float_digits
"""


@pytest.fixture(params=["transaction", "statement", "session"])
def pooled(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[str]:
    """The address of a database by way of a pooler."""
    if (program := shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")) is None:
        fixtures.missing("PgBouncer is missing; Debian's package is pgbouncer")
    folder, place = server.new_folder(), urlsplit(postgres_url)
    host = place.query.partition("=")[2]
    settings = folder / "pgbouncer.ini"
    settings.write_text(SETTINGS.format(host=host, folder=folder, mode=request.param))
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(
            [program, settings], cwd=folder, stdout=log, stderr=log, **server.as_owner()
        )
    try:
        comes((folder / ".s.PGSQL.6432").exists, (folder / "log").read_text())
        yield f"postgresql://pushjuju@{place.path}?host={folder}&port=6432"
    finally:
        running.terminate()
        running.wait()
        shutil.rmtree(folder)


@pytest.mark.parametrize("create", [True, False])
def test_a_pooler_is_refused_before_anything_is_made(pooled: str, postgres_url: str, create: bool) -> None:
    with pytest.raises(StoreError, match="a pooler answers at") as raised:
        Store.open(pooled, create=create)
    assert "the address of the server itself" in raised.value.hint
    with pytest.raises(StoreError, match="has no store of pushjuju"):
        Store.open(postgres_url)
