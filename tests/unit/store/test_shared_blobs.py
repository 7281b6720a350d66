"""Charm archives and resources in PostgreSQL, as two hosts with folders of their own use them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import NotFound, StoreBusy, StoreDamaged
from pushjuju.store import databases
from pushjuju.store.datadir import ControllerDir
from pushjuju.store.db import Store
from pushjuju.store.files.blobs import Blobs
from tests.waiting import comes

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

PIECE = 1 << 20
Host = Callable[[str], Blobs]


@pytest.fixture
def url(postgres_url: str) -> str:
    """The address of a store without rows."""
    Store.open(postgres_url, create=True).close()
    return postgres_url


@pytest.fixture
def host(url: str, tmp_path: Path) -> Host:
    """A function that returns the blobs as a host sees them."""
    return lambda name: databases.blobs(url, tmp_path / name / "blobs")


@pytest.fixture
def charm(tmp_path: Path) -> Path:
    path = tmp_path / "web.charm"
    path.write_bytes(os.urandom(3 * PIECE + 17))
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def asked(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True, options="-c search_path=pushjuju") as link:
        return link.execute(statement).fetchone()[0]


def changed(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True, options="-c search_path=pushjuju") as link:
        link.execute(statement)


@pytest.mark.parametrize("size", [0, 1, PIECE, 3 * PIECE + 17])
def test_what_one_host_adds_another_has(host: Host, tmp_path: Path, size: int) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(size))
    name = host("a").add(source)
    assert name == digest(source)
    assert host("b").find(name) is None
    path = host("b").path(name)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (source.read_bytes(), 0o600)
    assert path == host("b").find(name) == host("b").path(name)
    assert host("b").names() == [name]


def test_a_host_asks_nobody_for_what_it_has(host: Host, charm: Path, url: str) -> None:
    name = host("a").add(charm)
    changed(url, "DELETE FROM blob_chunk")
    assert host("a").path(name).read_bytes() == charm.read_bytes()


def test_what_is_nowhere_is_missing(host: Host) -> None:
    with pytest.raises(NotFound, match="blob 000000000000 is missing from the store postgresql://"):
        host("a").path("0" * 64)


def test_equal_content_is_kept_once(host: Host, charm: Path, url: str) -> None:
    assert host("a").add(charm) == host("b").add(charm)
    assert asked(url, "SELECT count(*) FROM blob_chunk") == 4


def test_what_is_not_settled_is_no_blob_and_is_forgotten(host: Host, charm: Path, url: str) -> None:
    other = charm.with_name("other")
    other.write_bytes(b"other")
    with charm.open("rb") as stream, host("a").staged(stream) as copy:
        with pytest.raises(NotFound):
            host("b").path(copy.sha256)
        host("b").add(other)  # another upload leaves this upload alone
        assert asked(url, "SELECT count(*) FROM blob_chunk") == 5
    assert not host("a").names()[1:]
    host("b").add(charm.with_name("other"))
    assert asked(url, "SELECT count(*) FROM blob_chunk") == 1


def test_a_blob_that_is_deleted_while_it_is_staged_again_is_there_at_the_end(host: Host, charm: Path) -> None:
    name = host("a").add(charm)
    with charm.open("rb") as stream, host("b").staged(stream) as copy:
        host("a").delete(name)
        host("b").settle(copy)
    assert host("a").path(name).read_bytes() == charm.read_bytes()


def test_a_deleted_blob_is_gone(host: Host, charm: Path, url: str) -> None:
    name = host("a").add(charm)
    host("b").delete(name)
    with pytest.raises(NotFound):
        host("b").path(name)
    assert asked(url, "SELECT count(*) FROM blob_chunk") == 0
    host("b").delete(name)  # called again


@pytest.mark.parametrize("fault", ["DELETE FROM blob_chunk WHERE n = 2", "UPDATE blob_chunk SET data = 'x'"])
def test_a_damaged_blob_is_not_taken_in(host: Host, charm: Path, url: str, fault: str) -> None:
    name = host("a").add(charm)
    changed(url, fault)
    with pytest.raises(StoreDamaged, match=r"blob \w{12} in the store .* is damaged"):
        host("b").path(name)
    assert host("b").find(name) is None


UPLOAD = """
import sys
from pathlib import Path
from pushjuju.store import databases
databases.blobs(sys.argv[1], Path(sys.argv[2])).add(Path(sys.argv[3]))
"""


def test_an_upload_that_is_killed_goes_on_where_it_stopped(host: Host, url: str, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(os.urandom(40 * PIECE))
    waits = "BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END"
    slow = f"CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ {waits} $$"
    changed(
        url, f"{slow}; CREATE TRIGGER slow BEFORE INSERT ON blob_chunk FOR EACH ROW EXECUTE FUNCTION slow()"
    )
    upload = subprocess.Popen([sys.executable, "-c", UPLOAD, url, tmp_path / "a" / "blobs", large])
    try:
        comes(lambda: asked(url, "SELECT count(*) FROM blob_chunk") > 2)
    finally:
        upload.kill()
        upload.wait()
    assert asked(url, "SELECT count(*) FROM blob") == 0
    changed(url, "DROP TRIGGER slow ON blob_chunk")
    first = asked(url, "SELECT xmin::text FROM blob_chunk WHERE n = 0")
    host("b").prepare(large, digest(large))
    assert asked(url, "SELECT xmin::text FROM blob_chunk WHERE n = 0") == first
    name = host("b").add(large)
    assert host("c").path(name).read_bytes() == large.read_bytes()


def test_the_pieces_of_a_killed_upload_are_deleted_by_the_next(host: Host, url: str, charm: Path) -> None:
    changed(url, f"INSERT INTO blob_chunk VALUES ('{'0' * 64}', 0, 'left')")
    name = host("b").add(charm)
    assert asked(url, "SELECT count(DISTINCT sha256) FROM blob_chunk") == 1
    assert host("b").names() == [name]


def test_the_cache_of_a_host_has_a_limit(host: Host, url: str, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    settings = f"store = {json.dumps(url)}\nconfig = {{ blob-cache-size = '2M' }}\n"
    (tmp_path / "b" / "controller.toml").write_text(settings)
    names = []
    for number in range(4):
        source = tmp_path / str(number)
        source.write_bytes(os.urandom(PIECE))
        names.append(host("a").add(source))
    cache = ControllerDir(tmp_path / "b").blobs
    for name in names[:3]:
        os.utime(cache.path(name), (number := 1_000_000 + names.index(name), number))
    cache.path(names[0])  # used again
    cache.path(names[3])
    there = [name for name in names if (tmp_path / "b" / "blobs" / name[:2] / name).exists()]
    assert there == [names[0], names[3]]
    assert len(cache.names()) == 4


def test_a_server_that_does_not_answer_is_told(tmp_path: Path, charm: Path) -> None:
    blobs = databases.blobs(f"postgresql:///none?host={tmp_path}", tmp_path / "blobs")
    with pytest.raises(StoreBusy, match="cannot be reached"):
        blobs.add(charm)
