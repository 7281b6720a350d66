"""``juju-exec``: run commands in the context of a unit, called on the unit's machine.

juju-exec writes a request to pushjuju's directory, wakes the servers that run, and waits. Only a controller
knows the unit's context, so without a controller the request waits for the next contact. With
``--no-context``, juju-exec runs the commands itself, under the machine lock.

Runs on machines, from the copy to which ``/usr/bin/juju-exec`` leads (see ``execinstall``): stdlib only.

Mirrors: juju cmd/containeragent/jujuexec, worker/uniter/runlistener.go (3.6).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import fcntl
import os
import select
import sys
import time

from pushjuju.portable.flags import Flag, FlagTable, HelpWanted, UsageError, help_text
from pushjuju.portable.flags import parse as parse_flags
from pushjuju.portable.names import is_unit
from pushjuju.portable.quote import atoi, quote
from pushjuju.runner.remote.base import signals, wire
from pushjuju.runner.remote.base.layout import AGENT_PATH, Layout
from pushjuju.runner.remote.disk import requests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

NAME = "juju-exec"
NOT_GIVEN = "-"  # the default of `-u`, as in Juju
LOOK_S = 2.0  # seconds between checks for an answer and for a controller
KNOCK_S = 2.0  # seconds in which a server must answer whether a controller is attached
WAITS = "no controller is attached: the commands wait for its next contact\n"
_TAGS = ("unit", "machine", "application", "model", "relation", "user", "controller", "action", "charm")
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+=:,./")

FLAGS = (
    Flag("u", default=NOT_GIVEN, help="unit-name, all other arguments are commands; empty: infer it"),
    Flag("r", "relation", help="run the commands for a specific relation context on a unit"),
    Flag("remote-unit", help="run the commands for a specific remote unit in a relation context on a unit"),
    Flag("remote-app", help="run the commands for a specific remote application in a relation context"),
    Flag("force-remote-unit", boolean=True, help="run the commands without checking the remote unit"),
    Flag("no-context", boolean=True, help="do not run the commands in a unit context"),
    Flag("operator", boolean=True, help="for charms on Kubernetes"),
)
_DETAILS = """
Run the specified commands in the hook context for the unit.

UNIT is a name (web/0) or a tag (unit-web-0); it may be left out on a machine with one unit. One argument
is run unchanged by a shell, several are quoted and joined. The commands wait for the machine lock and, where
no controller is attached to this machine, for its next contact. Exit code and output are the commands'."""


class Failed(Exception):
    """juju-exec ends with an error message and an exit code of its own."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class Stopped(BaseException):
    """A signal ends juju-exec."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


# -- the command line ----------------------------------------------------------------------------------------


def parse(argv: Sequence[str], environ: Mapping[str, str], units: Sequence[str]) -> dict[str, Any]:
    """Return the request: ``unit`` ("" without context), ``script``, and the parts of the relation.

    Args:
        argv: The arguments after the program's name.
        environ: The caller's environment.
        units: The units of this machine.

    Raises:
        Failed: The arguments are wrong; the message is Juju's.
        HelpWanted: The arguments ask for help.
    """
    try:
        flags, words = parse_flags(FlagTable(FLAGS), argv, None)
    except UsageError as error:
        raise Failed(str(error), 2) from None
    inside = environ.get("JUJU_CONTEXT_ID", "")
    if inside:
        raise Failed("juju-exec cannot be called from within a hook, have context %s" % quote(inside), 2)
    if flags["operator"]:
        raise Failed("--operator is for charms on Kubernetes", 2)
    unit, words = _unit(flags, words, units)
    if not words:
        raise Failed("missing commands", 2)
    script = words[0] if len(words) == 1 else " ".join(map(shell_quote, words))
    if any("\udc80" <= char <= "\udcff" for char in script):
        raise Failed("the commands are not UTF-8", 2)
    found = {"unit": unit, "script": script}
    return found if flags["no-context"] else dict(found, **_relation(flags))


def _unit(flags: Mapping[str, Any], words: list[str], units: Sequence[str]) -> tuple[str, list[str]]:
    """Return the unit, and the words that belong to the command."""
    given = flags["u"]
    if flags["no-context"]:
        if given != NOT_GIVEN:
            text = "-no-context cannot be passed with an explicit unit-name (-u %s)" % quote(given)
            raise Failed(text, 2)
        return "", words
    if given == NOT_GIVEN:
        if not words:
            raise Failed("missing unit-name", 2)
        # The first word is the unit; on a machine with one unit, the name may be left out.
        try:
            unit, words = unit_name(words[0]), words[1:]
        except Failed:
            if len(units) != 1:
                raise
            return units[0], words
    elif given:
        unit = unit_name(given)
    else:
        return _only(units), words
    if words and unit not in units:
        raise Failed("unit %s not found on this machine" % quote(unit))
    return unit, words


def _only(units: Sequence[str]) -> str:
    if len(units) != 1:
        has = "has %s" % ", ".join(units) if units else "has none"
        raise Failed("cannot infer the unit: this machine %s" % has)
    return units[0]


def unit_name(text: str) -> str:
    """Return ``web/0`` for a unit's name or tag.

    Raises:
        Failed: The text is neither a unit's name nor a tag.
    """
    if "/" in text:
        name = text
    else:
        kind, _, rest = text.partition("-")
        if kind not in _TAGS or not rest:
            raise Failed("%s is not a valid tag" % quote(text), 2)
        app, _, number = rest.rpartition("-")
        name = "%s/%s" % (app, number) if kind == "unit" else ""
    if not is_unit(name):
        raise Failed("%s is not a valid %s" % (quote(text), "unit name" if "/" in text else "unit tag"), 2)
    return name


def _relation(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the relation that the arguments name; whether it exists is checked by the controller."""
    unit, number = str(flags["remote-unit"]), None
    if flags["relation"]:
        try:
            number = atoi(str(flags["relation"]).rpartition(":")[2])
        except ValueError:
            raise Failed("invalid relation id") from None
    elif unit:
        raise Failed("remote unit provided without a relation: %s" % unit)
    if unit and not is_unit(unit):
        raise Failed("invalid remote unit: %s" % unit)
    found = {"relation": number, "remote_unit": unit, "remote_app": str(flags["remote-app"])}
    return dict(found, force=bool(flags["force-remote-unit"]))


def shell_quote(word: str) -> str:
    """Quote a word for the shell."""
    if word and all(char in _SAFE for char in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


# -- commands with a unit's context --------------------------------------------------------------------------


def ask(paths: Layout, wanted: Mapping[str, Any]) -> int:
    """Write a request, wait for its answer and print the answer; return the exit code of the commands.

    Raises:
        Failed: The request cannot be written, or no answer will come.
        Stopped: A signal ended the wait; the request is withdrawn unless it has begun.
    """
    document = dict(wanted, pid=os.getpid(), asked=time.time())
    try:
        ticket = requests.Ticket(paths.base, requests.new_id(time.time(), os.getpid()), document)
    except requests.Full as error:
        raise Failed("cannot leave the request: %s" % error) from None
    except OSError as error:
        raise Failed("cannot leave the request: %s" % (error.strerror or error)) from None
    poll = select.poll()
    poll.register(ticket.bell, select.POLLIN)
    told = False
    try:
        while True:
            found = ticket.answer()
            if found is not None:
                return _pass_on(*found)
            if ticket.is_lost():
                raise Failed("unit %s was removed from this machine" % quote(str(wanted["unit"])))
            if not told and ticket.waits() and not knock(paths.base):
                told = True
                _write(2, ("%s: %s" % (NAME, WAITS)).encode("ascii"))
            poll.poll(int(LOOK_S * 1000))
            ticket.hush()
    except Stopped:
        if not ticket.withdraw() and not ticket.is_lost():
            _write(2, b"juju-exec: the commands have begun and go on\n")
        raise


def _pass_on(code: int, stdout: bytes, stderr: bytes) -> int:
    _write(1, stdout)
    _write(2, stderr)
    return code


def knock(base: str) -> bool:
    """Wake the servers to read new requests; return True when a controller is attached to any of them."""
    attached = False
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return False
    for name in names:
        if os.path.exists(base + "/" + name + "/server.sock"):
            attached |= _knock_at(base + "/" + name)
    return attached


def _knock_at(program: str) -> bool:
    here = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    door.settimeout(KNOCK_S)
    try:
        os.chdir(program)  # a relative path is never too long for a socket address
        door.connect("server.sock")
        door.sendall(wire.frame(wire.HELLO, b'{"knock":1}'))
        return bool(door.recv(1) == b"1")
    except OSError:
        return False
    finally:
        door.close()
        os.fchdir(here)
        os.close(here)


# -- commands without context --------------------------------------------------------------------------------


def run_plain(paths: Layout, script: str, environ: Mapping[str, str]) -> int:
    """Run commands under the machine lock, with the caller's environment, files and directory.

    Raises:
        Failed: The commands cannot be started.
        Stopped: A signal ended the wait for the lock.
    """
    try:
        lock = os.open(paths.machine_lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        shell = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
        env = dict(environ)
        env.setdefault("PATH", AGENT_PATH)
        child = os.posix_spawn(shell, [shell, "-c", script], env, setsigdef=_SIGNALS)
    except OSError as error:
        raise Failed("cannot run the commands: %s" % (error.strerror or error)) from None
    while True:
        try:
            status = os.waitpid(child, 0)[1]
            break
        except Stopped as stopped:  # the lock must be held until the commands end
            os.kill(child, stopped.number)
    if os.WIFSIGNALED(status):
        raise Failed("signal: %s" % signals.text(os.WTERMSIG(status)))
    return os.WEXITSTATUS(status)


# -- the program ---------------------------------------------------------------------------------------------

_SIGNALS = (1, 2, 15)  # hang-up, interrupt, termination


def _on_signal(number: int, _frame: object) -> None:
    raise Stopped(number)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        pass  # the reader has closed the pipe


def main(argv: Sequence[str], environ: Mapping[str, str], root: str) -> int:
    """Run juju-exec: send the command to the unit's controller, or run it; return the exit code."""
    paths = Layout(root, "")
    for number in _SIGNALS:
        _signal.signal(number, _on_signal)
    try:
        wanted = parse(argv, environ, paths.units())
        if os.geteuid():
            raise Failed("juju-exec needs root: try sudo juju-exec")
        if not wanted["unit"]:
            return run_plain(paths, wanted["script"], environ)
        return ask(paths, wanted)
    except HelpWanted:
        usage = "[UNIT] COMMANDS"
        summary = "Run commands in a unit's hook context."
        text = help_text(NAME, usage=usage, summary=summary, details=_DETAILS.strip(), flags=FLAGS)
        _write(1, text.encode("utf-8"))
        return 0
    except Failed as error:
        _write(2, ("ERROR %s\n" % error).encode("utf-8", "surrogateescape"))
        return error.code
    except Stopped as stopped:
        return 128 + stopped.number


def start(program: str) -> None:
    """Run the program ``/usr/bin/juju-exec``, whose path contains the root; never returns."""
    root = os.path.realpath(program).rpartition("/var/lib/juju/")[0]
    environ = dict(os.environ)
    sys.exit(main(sys.argv[1:], environ, root))
