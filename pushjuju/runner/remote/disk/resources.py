"""A unit's own files of its resources, copied from the machine's cache and checked by their hashes.

Mirrors: juju worker/uniter/runner/context/resources (3.6)
"""

from __future__ import annotations

import os

try:
    from _sha512 import sha384 as _new  # type: ignore[import-not-found]  # up to Python 3.11
except ImportError:
    try:
        from _sha2 import sha384 as _new  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha384 as _new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

PIECE = 1 << 20


def sha384() -> Any:
    """Return a SHA-384 without loading OpenSSL."""
    return _new()


class UnitFiles:
    """The resources of one unit: ``resources/NAME/FILENAME`` in its directory."""

    def __init__(self, agent: str, cache: str) -> None:
        self._root = agent + "/resources"
        self._cache = cache

    def present(self, name: str, wanted: Mapping[str, Any]) -> str:
        """Return the path of the unit's file if it is the wanted one, else an empty text."""
        path = self._place(name, wanted)
        try:
            if os.lstat(path).st_size != wanted["size"] or os.path.islink(path):
                return ""
            with open(path, "rb") as file:
                return path if _fingerprint(file, None)[1] == wanted["sha384"] else ""
        except OSError:
            return ""

    def take(self, name: str, wanted: Mapping[str, Any], last: bool) -> str:
        """Copy a resource from the cache: a charm may change its copy, never the file that other units get.

        Args:
            last: True when no other attempt follows, so that a problem is an error.

        Returns:
            The path of the copy; "" when the cache does not hold the resource and it must be sent again.

        Raises:
            OSError: The disk is full or fails.
            ValueError: With `last`: the cache's file is missing, or has another size or hash.
        """
        path = self._place(name, wanted)
        blob = self._cache + "/" + str(wanted["sha256"])
        folder = os.path.dirname(path)
        os.makedirs(folder, 0o755, exist_ok=True)
        self._forget_halves(folder)
        problem = self._copy(blob, folder + "/.new-%d" % os.getpid(), path, wanted)
        if problem and last:
            raise ValueError(problem)
        return "" if problem else path

    def _place(self, name: str, wanted: Mapping[str, Any]) -> str:
        filename = str(wanted["path"])
        for part in (name, filename, str(wanted["sha256"])):
            if not part or part in (".", "..") or "/" in part or "\0" in part:
                raise ValueError('bad name "%s"' % part)
        return self._root + "/" + name + "/" + filename

    def _forget_halves(self, folder: str) -> None:
        """Delete copies that a killed hook left unfinished: hooks of a unit never run at the same time."""
        for left in os.listdir(folder):
            if left.startswith(".new-"):
                os.unlink(folder + "/" + left)

    def _copy(self, blob: str, new: str, path: str, wanted: Mapping[str, Any]) -> str:
        """Put a checked copy in place; return "", or the problem of the cache's file, which is deleted."""
        try:
            source = open(blob, "rb")
        except FileNotFoundError:
            return "the file is not in the cache"
        with source:
            os.utime(blob)
            target = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            try:
                size, found = _fingerprint(source, target)
                problem = _difference(size, found, wanted)
                if problem:
                    os.unlink(blob)
                else:
                    os.rename(new, path)
                    return ""
            finally:
                os.close(target)
                if os.path.lexists(new):
                    os.unlink(new)
        return problem


def _difference(size: int, found: str, wanted: Mapping[str, Any]) -> str:
    if size != wanted["size"]:
        return "resource size does not match expected (%d != %d)" % (size, wanted["size"])
    if found != wanted["sha384"]:
        text = 'resource fingerprint does not match expected ("%s" != "%s")'
        return text % (found, wanted["sha384"])
    return ""


def _fingerprint(source: Any, target: int | None) -> tuple[int, str]:
    """Read a file to its end, and copy it when there is a target; return its size and SHA-384."""
    digest, size = sha384(), 0
    while True:
        data = source.read(PIECE)
        if not data:
            return size, digest.hexdigest()
        digest.update(data)
        size += len(data)
        view = memoryview(data)
        while target is not None and view:
            view = view[os.write(target, view) :]
