"""The machine's cache of blobs (charm archives, resources), named by SHA-256."""

from __future__ import annotations

import os

try:
    from _sha256 import sha256 as _new  # type: ignore[import-not-found]  # up to Python 3.11
except ImportError:
    try:
        from _sha2 import sha256 as _new  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256 as _new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEEP_SECONDS = 30 * 24 * 3600  # blobs that are unused for longer are deleted


def sha256() -> Any:
    """Return a SHA-256 without loading OpenSSL."""
    return _new()


def is_digest(text: str) -> bool:
    """Return True when a text is a SHA-256 in lower-case hex."""
    return len(text) == 64 and all(c in "0123456789abcdef" for c in text)


def listing(directory: str) -> tuple[list[str], dict[str, int]]:
    """Return the digests of complete blobs, and size by digest of partly received ones."""
    done: list[str] = []
    parts: dict[str, int] = {}
    try:
        names = os.listdir(directory)
    except OSError:
        names = []
    for name in names:
        if is_digest(name):
            done.append(name)
        elif name.endswith(".part") and is_digest(name[:-5]):
            parts[name[:-5]] = os.stat(directory + "/" + name).st_size
    return sorted(done), parts


def forget_old(directory: str, now: float) -> None:
    """Delete blobs that were not used for a month."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        path = directory + "/" + name
        try:
            if now - os.stat(path).st_mtime > KEEP_SECONDS:
                os.unlink(path)
        except OSError:
            pass


class Receiver:
    """Receives one blob into a file ``.part``, which a later attempt continues after a cut connection.

    Several controllers may send the same blob at once: they write the same bytes to the same places.
    """

    def __init__(self, directory: str, digest: str, size: int, offset: int) -> None:
        if not is_digest(digest):
            raise ValueError("bad blob name")
        os.makedirs(directory, 0o700, exist_ok=True)
        self.digest = digest
        self.size = size
        self._path = directory + "/" + digest
        self._fd = os.open(self._path + ".part", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._hash = sha256()
        self.offset = self._rehash(offset)

    def _rehash(self, offset: int) -> int:
        """Hash up to ``offset`` bytes that have arrived before; return how many were hashed."""
        have = 0
        while have < offset:
            data = os.pread(self._fd, min(1 << 20, offset - have), have)
            if not data:
                break
            self._hash.update(data)
            have += len(data)
        return have

    def feed(self, data: bytes) -> bool:
        """Take a piece; return True when the blob is complete and in place.

        Raises:
            OSError: The disk is full or fails.
            ValueError: The content does not match the blob's SHA-256.
        """
        view = memoryview(data)
        while view:
            done = os.pwrite(self._fd, view, self.offset)
            self._hash.update(view[:done])
            self.offset += done
            view = view[done:]
        return self.settle()

    def copy(self, source: str, start: int, length: int) -> bool:
        """Take a piece out of another blob; return True when the blob is complete and in place.

        Raises:
            OSError: The other blob does not exist, or the disk is full or fails.
            ValueError: The other blob is too short, or the content does not match the SHA-256.
        """
        done = False
        with open(source, "rb") as file:
            file.seek(start)
            while length > 0:
                data = file.read(min(1 << 20, length))
                if not data:
                    raise ValueError("the other blob is too short")
                length -= len(data)
                done = self.feed(data)
        return done

    def settle(self) -> bool:
        """Rename the blob to its final name when all bytes are there; return False when bytes are missing."""
        if self.offset < self.size:
            return False
        if self._hash.hexdigest() != self.digest or self.offset != self.size:
            self.abort()
            raise ValueError("content does not match its SHA-256")
        os.ftruncate(self._fd, self.size)
        os.fdatasync(self._fd)
        os.close(self._fd)
        self._fd = -1
        try:
            os.rename(self._path + ".part", self._path)
        except FileNotFoundError:
            if not os.path.exists(self._path):  # else another controller sent the same bytes
                raise
        return True

    def close(self) -> None:
        """Stop receiving; keep what has arrived."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def abort(self) -> None:
        """Stop receiving and forget what has arrived."""
        self.close()
        try:
            os.unlink(self._path + ".part")
        except OSError:
            pass
