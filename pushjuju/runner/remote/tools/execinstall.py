"""Install ``/usr/bin/juju-exec`` on the machine, and remove it again.

It is a link into pushjuju's directory, where the program is beside the modules that it imports. A file of
another program under that name stays. Mirrors: juju cmd/jujud/agent/machine.go createJujudSymlinks (3.6).
"""

from __future__ import annotations

import os
import sys
import zlib

from pushjuju.runner.remote.base import layout
from pushjuju.runner.remote.disk.trees import remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pushjuju.runner.remote.base.layout import Layout

LINK = "/usr/bin/juju-exec"
_HOME = "pushjuju-exec-"
_MODULES = {
    "pushjuju/portable": ("flags", "gotypes", "jsontext", "names", "quote"),
    "pushjuju/runner/remote/base": ("layout", "signals", "wire"),
    "pushjuju/runner/remote/disk": ("requests",),
    "pushjuju/runner/remote/tools": ("jujuexec",),
}
_START = """#!%s -IS
# juju-exec of pushjuju: runs commands in the context of a unit.
import os, sys
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from pushjuju.runner.remote.tools import jujuexec
jujuexec.start(__file__)
"""


def keep(paths: Layout) -> None:
    """Make the link on a machine with units, unless this version of the program has made it already."""
    try:
        if os.readlink(paths.root + LINK) == layout.read_text(_note(paths)):
            return
    except OSError:
        pass
    if paths.units():
        install(paths)


def install(paths: Layout) -> str:
    """Make the link and the program it leads to; return why that failed, or ""."""
    link = paths.root + LINK
    try:
        if os.path.lexists(link) and not _is_ours(paths, link):
            return "%s belongs to another program and stays as it is" % LINK
        if not os.path.isdir(os.path.dirname(link)):
            return "there is no %s" % os.path.dirname(LINK)
        program = _write_program(paths)
        before = _point(link, program)
        _write(_note(paths), program.encode("utf-8"))
        _forget_others(paths, (program, before))
    except OSError as error:
        return "%s: %s" % (error.filename or LINK, error.strerror)
    return ""


def remove(paths: Layout) -> None:
    """Remove the link when pushjuju made it."""
    link = paths.root + LINK
    try:
        if _is_ours(paths, link):
            os.unlink(link)
    except OSError:
        pass


def _note(paths: Layout) -> str:
    """Return the path of the file that names the copy of juju-exec which this version installed."""
    return paths.program + "/juju-exec-home"


def _is_ours(paths: Layout, link: str) -> bool:
    try:
        return os.readlink(link).startswith(paths.tools + "/" + _HOME)
    except OSError:
        return False


def _write_program(paths: Layout) -> str:
    """Write the program to a directory that a checksum of the files names; return the path."""
    files = {"juju-exec": (_START % (sys.executable or "/usr/bin/python3")).encode("ascii")}
    for name in ["%s/%s.py" % (package, name) for package, names in _MODULES.items() for name in names]:
        with open(paths.program + "/" + name, "rb") as file:
            files[name] = file.read()
    crc = 0
    for name in sorted(files):
        crc = zlib.crc32(files[name], crc)
    home = "%s/%s%08x" % (paths.tools, _HOME, crc)
    if os.path.exists(home + "/juju-exec"):
        return home + "/juju-exec"
    for package in _MODULES:
        os.makedirs(home + "/" + package, 0o755, exist_ok=True)
        parts = package.split("/")
        for depth in range(1, len(parts) + 1):
            files["/".join(parts[:depth]) + "/__init__.py"] = b""
    for name in sorted(
        files, key=lambda name: name == "juju-exec"
    ):  # the program last: then its modules exist
        _write(home + "/" + name, files[name])
    return home + "/juju-exec"


def _write(path: str, data: bytes) -> None:
    temporary = "%s.%d" % (path, os.getpid())
    fd = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        os.write(fd, data)
        os.fchmod(fd, 0o755 if path.endswith("juju-exec") else 0o644)
    finally:
        os.close(fd)
    os.rename(temporary, path)


def _point(link: str, target: str) -> str:
    """Let the link lead to a program and return where it led before; a file at its place is an error."""
    try:
        before = os.readlink(link)
    except FileNotFoundError:
        os.symlink(target, link)
        return target
    if before != target:
        temporary = "%s.%d" % (link, os.getpid())
        os.symlink(target, temporary)
        os.rename(temporary, link)
    return before


def _forget_others(paths: Layout, used: tuple[str, ...]) -> None:
    """Delete copies that neither the link nor its previous target uses: that one may still be running."""
    for name in os.listdir(paths.tools):
        home = paths.tools + "/" + name
        if name.startswith(_HOME) and home + "/juju-exec" not in used:
            remove_tree(home)
