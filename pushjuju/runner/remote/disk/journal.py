"""The journal: one file per operation, synced before the operation starts and before its result is sent.

Lines of JSON: ``begin`` first, then ``child`` (the started process), ``events``, last ``result``. The process
that runs the operation holds an exclusive flock on its file; a file without result and without lock is an
operation whose runner died. Acknowledged ids move to a short ``seen`` list, so that they never start again.
"""

from __future__ import annotations

import errno
import fcntl
import os

from pushjuju.portable.jsontext import dumps, loads
from pushjuju.runner.remote.base.results import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames

RESERVE = 64 * 1024  # bytes taken at the start, so that a disk that fills up later cannot lose the result
SEEN_KEEP = 1000
_LINE = 1 << 20  # bytes
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")


def file_name(op_id: str) -> str:
    """Return the journal's file name of an operation id."""
    name = "".join(c if c in _SAFE else "".join("%%%02x" % b for b in c.encode("utf-8")) for c in op_id)
    if not op_id or len(name) > 200:
        raise ValueError("operation id is empty or too long")
    return "op-" + name


def id_of(path: str) -> str:
    """Return the operation id in the name of a journal file, or "" when the name holds no id."""
    name = os.path.basename(path)[3:]
    try:
        parts = name.split("%")
        data = parts[0].encode("ascii")
        for part in parts[1:]:
            data += bytes([int(part[:2], 16)]) + part[2:].encode("ascii")
        return data.decode("utf-8")
    except ValueError:
        return ""


class Writer:
    """The journal file of one operation, held by the process that runs it."""

    def __init__(self, directory: str, op_id: str) -> None:
        self.path = directory + "/" + file_name(op_id)
        self._directory = directory
        try:
            self.fd = self._make()
        except FileNotFoundError:
            os.makedirs(directory, 0o700, exist_ok=True)
            self.fd = self._make()
        self._offset = 0
        fcntl.flock(self.fd, fcntl.LOCK_EX)

    def _make(self) -> int:
        return os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def begin(self, record: frames.Begun) -> None:
        """Write the first line, and sync the file and its directory entry to disk."""
        self._reserve(RESERVE)
        self.write("begin", record)
        os.fsync(self.fd)
        directory = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _reserve(self, size: int) -> None:
        try:
            os.posix_fallocate(self.fd, 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise

    def write(self, key: str, value: Any, sync: bool = False) -> None:
        """Append one line."""
        line = ('{"%s":%s}\n' % (key, dumps(value))).encode("ascii")
        view = memoryview(line)
        offset = self._offset
        while view:
            done = os.pwrite(self.fd, view, offset)
            offset += done
            view = view[done:]
        self._offset = offset  # set after the whole line: the next line overwrites one that failed half-way
        if sync:
            os.fdatasync(self.fd)

    def discard(self) -> None:
        """Remove the file of an operation that never started."""
        os.close(self.fd)
        os.unlink(self.path)


class Entry:
    """The content of one operation's journal file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.begin: frames.Begun = {}  # the first line
        self.child: frames.Child = {}  # pid and start time of the started process; empty before it started
        self.events: list[frames.Numbered] = []  # each as ``{"seq", "e"}``
        self.result: frames.Result | None = None  # None while the operation runs, or when its runner died
        self.end = 0
        self._load()

    def _load(self) -> None:
        with open(self.path, "rb") as file:
            data = file.read()
        for line in data.split(b"\n")[:-1]:
            try:
                record = loads(line.decode("ascii"))
            except ValueError:
                break
            self.end += len(line) + 1
            self.begin = record.get("begin", self.begin)
            self.child = record.get("child", self.child)
            self.events += record.get("events", ())
            self.result = record.get("result", self.result)

    @property
    def op_id(self) -> str:
        """Return the operation id, or "" when the file ends before its first line is complete."""
        return str(self.begin.get("id", ""))


def close_entry(entry: Entry, result: frames.Result) -> None:
    """Write the result of an operation whose runner died; write a first line, too, when it is missing."""
    fd = os.open(entry.path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if not entry.op_id:
            entry.begin = {"id": id_of(entry.path)}
            line = ('{"begin":%s}\n' % dumps(entry.begin)).encode("ascii")
            os.pwrite(fd, line, 0)
            entry.end = len(line)
        line = ('{"result":%s}\n' % dumps(result)).encode("ascii")
        os.pwrite(fd, line, entry.end)
        os.fdatasync(fd)
    finally:
        os.close(fd)
    entry.result = result


def entries(directory: str) -> list[str]:
    """Return the paths of all journal files, oldest first."""
    try:
        names = [name for name in os.listdir(directory) if name.startswith("op-")]
    except OSError:
        return []
    return sorted((directory + "/" + name for name in names), key=_age)


def _age(path: str) -> float:
    try:
        return os.stat(path).st_ctime
    except OSError:
        return 0.0


def begun(path: str) -> frames.Begun:
    """Return the first line of a journal file, which names the operation; empty when it cannot be read."""
    try:
        with open(path, "rb") as file:
            record: frames.Begun = loads(file.readline(_LINE).decode("ascii"))["begin"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return record


class Seen:
    """Ids of acknowledged operations, and what they were.

    In the file, the line behind the id of a hook or an action is `#TIME UNIT NAME`: when it was acknowledged,
    and which it was. A program of an older version takes this line for an id that nobody asks for.
    """

    def __init__(self, directory: str) -> None:
        self._path = directory + "/seen"
        self._ids: dict[str, str] = {}
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            lines = []
        op_id = ""
        for line in lines[-2 * SEEN_KEEP - 1 :]:
            if line.startswith("#") and op_id:
                self._ids[op_id] = line[1:]
            elif line:
                op_id = line
                self._ids[op_id] = ""
        self._lines = len(lines)

    def __contains__(self, op_id: str) -> bool:
        return op_id in self._ids

    def add(self, op_id: str, record: frames.Begun, now: float) -> None:
        """Remember an id and its operation; when the disk is full, only this process remembers them."""
        unit, name = named(record)
        self._ids[op_id] = "%d %s %s" % (now, unit, name) if name else ""
        while len(self._ids) > SEEN_KEEP:
            del self._ids[next(iter(self._ids))]
        try:
            if self._lines > 4 * SEEN_KEEP:
                self._rewrite()
            else:
                self._append(self._text(op_id).encode("utf-8"))
                self._lines += 2
        except OSError:
            pass

    def _append(self, data: bytes) -> None:
        fd = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)

    def recent(self, now: float, seconds: float) -> list[frames.Recalled]:
        """Return the hooks and actions that were acknowledged in the last seconds, oldest first."""
        found: list[frames.Recalled] = []
        for op_id, text in self._ids.items():
            time, _, rest = text.partition(" ")
            unit, _, name = rest.partition(" ")
            if name and time.isdigit() and now - int(time) <= seconds:
                found.append({"id": op_id, "unit": unit, "name": name})
        return found

    def _text(self, op_id: str) -> str:
        what = self._ids[op_id]
        return "%s\n#%s\n" % (op_id, what) if what else op_id + "\n"

    def _rewrite(self) -> None:
        with open(self._path + ".new", "w", encoding="utf-8") as file:
            file.write("".join(self._text(op_id) for op_id in self._ids))
        os.rename(self._path + ".new", self._path)
        self._lines = 2 * len(self._ids)
