"""Charm archives and resources in PostgreSQL, in pieces; the folder of a host is a cache of them.

Pieces are named by the digest of the whole and a number. So two hosts may upload the same content at once,
and an interrupted upload goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import psycopg

from pushjuju.core.constraints import parse_size
from pushjuju.core.errors import NotFound, StoreDamaged
from pushjuju.store.files.blobs import CACHE_SIZE, CHUNK, Blobs, Staged
from pushjuju.store.postgres import address

READS = {"hit": 0, "miss": 0}  # how often a blob was in the cache of the host, for metrics of the process
_IN_USE_S = 3600.0  # a blob that was used later than this stays in the cache
_PUT = "INSERT INTO blob_chunk (sha256, n, data) VALUES (%s, %s, %b) ON CONFLICT DO NOTHING"
_UNFINISHED = """SELECT DISTINCT sha256 FROM blob_chunk
WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.sha256 = blob_chunk.sha256)"""
_fetching = threading.Lock()  # many machines may want the same blob at once: this process fetches it once


class DatabaseBlobs(Blobs):
    """The blobs of a store in PostgreSQL, with the interface of a folder.

    Each call that needs the server connects to it for a while: threads may call at the same time, and
    transactions of the store do not wait for a transfer.

    Args:
        cache_size: The least recently used blobs beyond it leave the cache of the host: `10G`.
    """

    def __init__(
        self,
        place: address.Place,
        root: Path,
        schema: str = address.SCHEMA,
        *,
        cache_size: str = CACHE_SIZE,
    ) -> None:
        super().__init__(root)
        self._place = place
        self._cache_size = cache_size
        self._schema = schema

    def find(self, sha256: str) -> Path | None:
        found = super().find(sha256)
        if found is not None:
            with contextlib.suppress(OSError):
                os.utime(found)  # the time of its last use
        return found

    def path(self, sha256: str) -> Path:
        found = self.find(sha256)
        READS["miss" if found is None else "hit"] += 1
        return found if found is not None else self._fetched(sha256)

    def _fetched(self, sha256: str) -> Path:
        with _fetching, self._linked() as link:
            if (found := self.find(sha256)) is not None:  # another thread has fetched it
                return found
            row = link.execute("SELECT size FROM blob WHERE sha256 = %s", [sha256]).fetchone()
            if row is None:
                raise NotFound(f"blob {sha256[:12]} is missing from the store {self._place.shown}")
            stream = cast("BinaryIO", _Pieces(link, sha256))
            with super().staged(stream) as copy:
                if copy.sha256 != sha256:
                    raise StoreDamaged(f"blob {sha256[:12]} in the store {self._place.shown} is damaged")
                super().settle(copy)
        self._make_room(parse_size(self._cache_size) << 20)
        return super().path(sha256)

    def _make_room(self, limit: int) -> None:
        """Delete the least recently used blobs of the cache until the others are within the limit."""
        found = [(path, path.stat()) for path in self.root.glob("??/*")]
        size = sum(seen.st_size for _, seen in found)
        for path, seen in sorted(found, key=lambda item: item[1].st_mtime):
            if size <= limit or time.time() - seen.st_mtime < _IN_USE_S:
                return
            path.unlink(missing_ok=True)
            size -= seen.st_size

    @contextmanager
    def staged(self, stream: BinaryIO) -> Iterator[Staged]:
        with super().staged(stream) as copy, self._linked() as link, self._uploading(link, copy.sha256):
            self._forget_unfinished(link)
            self._send(link, copy.sha256, copy.path)
            yield copy

    def settle(self, copy: Staged) -> str:
        self.keep(copy.path, copy.sha256)
        return super().settle(copy)

    def keep(self, path: Path, sha256: str) -> None:
        with self._linked() as link, self._uploading(link, sha256):
            self._send(link, sha256, path)  # the blob may have been deleted since it was staged
            known = "INSERT INTO blob (sha256, size) VALUES (%s, %s) ON CONFLICT DO NOTHING"
            link.execute("SET synchronous_commit = on")  # covers the pieces, too
            link.execute(known, [sha256, path.stat().st_size])

    def prepare(self, source: Path, sha256: str) -> None:
        with self._linked() as link, self._uploading(link, sha256):
            self._send(link, sha256, source)

    def delete(self, sha256: str) -> None:
        with self._linked() as link, link.transaction():
            link.execute("DELETE FROM blob WHERE sha256 = %s", [sha256])
            link.execute("DELETE FROM blob_chunk WHERE sha256 = %s", [sha256])
        super().delete(sha256)

    def names(self) -> list[str]:
        with self._linked() as link:
            there = [row[0] for row in link.execute("SELECT sha256 FROM blob")]
        return sorted({*there, *super().names()})

    # --- the server ---------------------------------------------------------------------------------------

    def _send(self, link: psycopg.Connection[Any], sha256: str, source: Path) -> None:
        """Send the pieces that the server does not have."""
        if link.execute("SELECT 1 FROM blob WHERE sha256 = %s", [sha256]).fetchone():
            return
        asked = link.execute("SELECT n FROM blob_chunk WHERE sha256 = %s", [sha256])
        there = {row[0] for row in asked}
        link.execute("SET synchronous_commit = off")
        with source.open("rb") as stream:
            for number in range(-(-os.fstat(stream.fileno()).st_size // CHUNK)):
                if number not in there:
                    stream.seek(number * CHUNK)
                    link.execute(_PUT, [sha256, number, stream.read(CHUNK)])

    def _forget_unfinished(self, link: psycopg.Connection[Any]) -> None:
        """Delete the pieces of interrupted uploads, whose locks are free."""
        for (sha256,) in link.execute(_UNFINISHED).fetchall():
            asked = link.execute("SELECT pg_try_advisory_lock(%s)", [self._key(sha256)]).fetchone()
            if asked is not None and asked[0]:
                if not link.execute("SELECT 1 FROM blob WHERE sha256 = %s", [sha256]).fetchone():
                    link.execute("DELETE FROM blob_chunk WHERE sha256 = %s", [sha256])
                link.execute("SELECT pg_advisory_unlock(%s)", [self._key(sha256)])

    @contextmanager
    def _uploading(self, link: psycopg.Connection[Any], sha256: str) -> Iterator[None]:
        """Hold the lock of an upload, which several processes may hold; it ends with the connection, too."""
        link.execute("SELECT pg_advisory_lock_shared(%s)", [self._key(sha256)])
        yield
        link.execute("SELECT pg_advisory_unlock_shared(%s)", [self._key(sha256)])

    def _key(self, sha256: str) -> int:
        return address.lock_of(f"blob/{sha256}")

    def _linked(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        return address.linked(self._place, self._schema)


class _Pieces:
    """Reads a blob of the server piece by piece."""

    def __init__(self, link: psycopg.Connection[Any], sha256: str) -> None:
        self._link, self._sha256, self._next = link, sha256, 0

    def read(self, _size: int) -> bytes:
        """Return the next piece; b"" behind the last."""
        asked = "SELECT data FROM blob_chunk WHERE sha256 = %s AND n = %s"
        row = self._link.execute(asked, [self._sha256, self._next], binary=True).fetchone()
        self._next += 1
        return bytes(row[0]) if row is not None else b""
