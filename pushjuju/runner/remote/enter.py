"""Becomes root on a machine, finds the program by its content hash or receives it, and attaches to a server.

``boot.py`` runs this code and sets FOUND. Answers on stdout begin with ``PJ1`` and a letter: ``N`` send the
program (length, then zlib of marshal of a dict path -> text), ``E`` an error text follows, ``S`` no way to
become root, ``H`` another controller holds the machine, ``R`` frames follow. Every Python 3 must accept the
code, to report a Python that is too old.
"""

import marshal
import os
import sys
import zlib

FOUND = globals().get("FOUND")  # what ``base/compiled.py`` kept: its own code, the modules, and this code
START = globals().get("START", "")


def say(kind: bytes, text: str) -> None:
    data = text.encode("utf-8", "replace")
    os.write(1, b"PJ1" + kind + len(data).to_bytes(4, "big") + data)


def fail(kind: bytes, text: str) -> None:
    say(kind, text)
    sys.exit(1)


def again(words: list) -> None:  # type: ignore[type-arg]
    try:
        os.execvp(words[0], words + ["-I", "-S", "-c", START] + sys.argv[1:])
    except OSError:
        pass


def take(size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit(1)
        data += piece
    return data


def remove(path: str) -> None:
    import shutil  # imported here: slow, and only a damaged copy needs it

    shutil.rmtree(path, True)  # another process may delete the same copy


def receive(home: str) -> None:
    say(b"N", "")
    files = marshal.loads(zlib.decompress(take(int.from_bytes(take(4), "big"))))
    part = "%s.%d" % (home, os.getpid())
    os.makedirs(os.path.dirname(home), 0o755, exist_ok=True)
    os.chmod(os.path.dirname(home), 0o700)
    try:
        for name in sorted(files):
            path = part + "/" + name
            os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
            fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
            try:
                data = files[name].encode("utf-8")
                while data:
                    data = data[os.write(fd, data) :]
                os.fsync(fd)
            finally:
                os.close(fd)
        os.rename(part, home)
    except OSError:
        remove(part)
        if not os.path.exists(home + "/tools.json"):
            raise


def quicken(home: str, found: tuple) -> None:  # type: ignore[type-arg]
    """Import the modules that were imported here before from what ``base/compiled.py`` kept."""
    space = {"__name__": "compiled"}  # type: dict[str, object]
    exec(marshal.loads(found[0]), space)  # noqa: S102 - only root can write the file
    sys.meta_path.insert(0, space["Finder"](home, found[1]))  # type: ignore[operator]


def main() -> None:
    if sys.version_info < (3, 8):
        for minor in range(20, 7, -1):
            again(["python3.%d" % minor])
        fail(
            b"E",
            "Python %d.%d is too old: pushjuju needs Python 3.8 or newer on the machine"
            % sys.version_info[:2],
        )
    if os.geteuid():
        again(["sudo", "-n", "--", sys.executable])
        fail(b"S", "sudo is not installed")
    home = sys.argv[2] + "/var/lib/juju/pushjuju/" + sys.argv[1]
    os.umask(0o022)
    found, finders = FOUND, sys.meta_path[:]
    for _ in range(3):
        if not os.path.exists(home + "/tools.json"):
            receive(home)
        sys.path[:0] = [home]
        sys.meta_path[:] = finders
        try:
            if found:
                quicken(home, found)
            from pushjuju.runner.remote.server import attach
        except (ImportError, SyntaxError, ValueError, EOFError, TypeError):
            remove(home)  # a damaged copy
            found = None
            continue
        if attach.main(home, sys.argv[2], sys.argv[3], sys.argv[5]):
            os._exit(0)  # faster than to free each object first
        found = None
    fail(b"E", "the program on the machine is damaged")


try:
    main()
except OSError as error:
    fail(b"E", "[%s] %s: %s" % (error.errno, error.filename or "/var/lib/juju", error.strerror))
