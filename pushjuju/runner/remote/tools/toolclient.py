"""The hook tool client and its links.

A hook calls its tools by name from PATH. Every name is a link to one small client that passes its arguments
over the unit's socket and prints the answer. The client is a program of a few kB without a libc if there is
such a program for the processor, else Perl without modules, else Python with built-in modules only.

Wire: the client sends length (4 bytes) and ``context id NUL cwd NUL name NUL argument ...``; the answer is
``I`` (send your stdin: length and bytes) any number of times, then ``R``, exit code (1 byte), length and
bytes of stdout, length and bytes of stderr.

Mirrors: juju cmd/jujud/main.go jujuCMain (3.6).
"""

from __future__ import annotations

import binascii
import os
import sys
import zlib

from pushjuju.runner.remote.base.layout import has_perl, read_text
from pushjuju.runner.remote.base.results import wall_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable

    from pushjuju.runner.remote.base.layout import Layout


PERL_CLIENT = r"""#!/usr/bin/perl
# Hook tool client of pushjuju: passes the call to the process that runs the hook.
sub fail { print STDERR "ERROR $_[0]\n"; exit 1 }
sub put { my $d = shift; my $o = 0;
  while ($o < length $d) {
    my $n = syswrite S, $d, length($d) - $o, $o; defined $n or fail("write unix: \l$!"); $o += $n } }
sub get { my ($n) = @_; my $d = ''; my $o = 0;
  while ($o < $n) {
    my $k = sysread S, $d, $n - $o, $o; $k or fail('connection is shut down'); $o += $k }
  $d }
my $id = $ENV{JUJU_CONTEXT_ID}; my $path = $ENV{JUJU_AGENT_SOCKET_ADDRESS};
defined $id && length $id or fail('JUJU_CONTEXT_ID not set');
defined $path && length $path or fail('JUJU_AGENT_SOCKET_ADDRESS not set');
my $cwd = readlink '/proc/self/cwd'; $cwd = '' unless defined $cwd;
my $name = $0; $name =~ s!.*/!!s;
my $addr = $path; $addr =~ s/^@/\0/;
my @closed = map { open my $null, '+<', '/dev/null'; $null } 0 .. 2;  # no socket in place of a closed stream
socket(S, 1, 1, 0) && connect(S, pack('S a*', 1, "$addr\0")) or fail("dial unix $path: connect: \l$!");
my $call = join "\0", $id, $cwd, $name, @ARGV;
put(pack('N a*', length $call, $call));
while ((my $kind = get(1)) eq 'I') {
  my $in = ''; my $o = 0; my $k;
  $o += $k while $k = sysread STDIN, $in, 65536, $o;
  put(pack('N a*', length $in, $in));
}
my $rc = ord get(1);
for my $h (\*STDOUT, \*STDERR) {
  my $d = get(unpack 'N', get(4)); my $o = 0;
  while ($o < length $d) { my $n = syswrite $h, $d, length($d) - $o, $o; defined $n or last; $o += $n }
}
exit $rc;
"""

PYTHON_CLIENT = r"""#!@PYTHON@ -IS
# Hook tool client of pushjuju: passes the call to the process that runs the hook.
import posix, sys
from _socket import socket
e = posix.environ
def write(fd, d):
    while d:
        d = d[posix.write(fd, d):]
def fail(m):
    write(2, b'ERROR ' + m + b'\n'); posix._exit(1)
def get(n):
    d = b''
    while len(d) < n:
        k = s.recv(min(n - len(d), 1 << 20))
        if not k: fail(b'connection is shut down')
        d += k
    return d
def put(d):
    s.sendall(len(d).to_bytes(4, 'big') + d)
i = e.get(b'JUJU_CONTEXT_ID'); p = e.get(b'JUJU_AGENT_SOCKET_ADDRESS')
if not i: fail(b'JUJU_CONTEXT_ID not set')
if not p: fail(b'JUJU_AGENT_SOCKET_ADDRESS not set')
enc = lambda t: t.encode('utf-8', 'surrogateescape')
try: cwd = posix.readlink(b'/proc/self/cwd')
except OSError: cwd = b''
for _ in 0, 1, 2: posix.open(b'/dev/null', posix.O_RDWR)  # no socket in place of a closed stream
s = socket(1, 1)
try: s.connect(b'\0' + p[1:] if p[:1] == b'@' else p)
except OSError as x: fail(b'dial unix ' + p + b': connect: ' + enc(str(x.strerror).lower()))
args = [enc(a) for a in sys.argv]
args[0] = args[0].rpartition(b'/')[2]
put(b'\0'.join([i, cwd] + args))
while get(1) == b'I':
    d = []
    while 1:
        k = posix.read(0, 65536)
        if not k: break
        d.append(k)
    put(b''.join(d))
rc = get(1)[0]
for fd in (1, 2):
    d = get(int.from_bytes(get(4), 'big'))
    try: write(fd, d)
    except OSError: pass
posix._exit(rc)
"""

# Every hook tool of Juju 3.6 has a link on PATH, also the tools that pushjuju does not support.
TOOL_NAMES = (
    "action-fail action-get action-log action-set add-metric application-version-set close-port "
    "config-get credential-get goal-state is-leader juju-log juju-reboot k8s-raw-get k8s-raw-set "
    "k8s-spec-get k8s-spec-set leader-get leader-set network-get open-port opened-ports payload-register "
    "payload-status-set payload-unregister pod-spec-get pod-spec-set relation-get relation-ids "
    "relation-list relation-model-get relation-set resource-get secret-add secret-get secret-grant "
    "secret-ids secret-info-get secret-remove secret-revoke secret-set state-delete state-get "
    "state-set status-get status-set storage-add storage-get storage-list unit-get "
).split()

# Folders of links that this process found complete: the time of their last change, and what was asked for.
_complete: dict[str, tuple[int, tuple[str, ...]]] = {}


def client_source(client: str = "") -> str:
    """Return the client as a script: ``client`` is ``perl``, ``python`` or "" for the faster of them."""
    if client == "perl" or (not client and has_perl()):
        return PERL_CLIENT
    return PYTHON_CLIENT.replace("@PYTHON@", sys.executable or "/usr/bin/python3")


def native_client() -> str:
    """Return the client for this processor, packed as in ``nativeclient``, or ""."""
    from pushjuju.runner.remote.tools.nativeclient import PROGRAMS  # imported here: large

    return PROGRAMS.get(os.uname().machine, "")


def ensure_tools(layout: Layout, unit: str, names: Iterable[str] = (), client: str = "") -> str:
    """Make the links of a unit's hook tools unless they exist; return their directory.

    Args:
        client: ``native``, ``perl``, ``python``, or "" for the fastest client that runs on the machine.
    """
    directory, asked = layout.unit_tools(unit), (client, *names)
    if _is_unchanged(directory, asked):
        return directory
    native = native_client() if client in ("", "native") else ""
    script = client_source("" if client == "native" else client)
    homes = [_home(native, "")] if native else []
    homes.append(_home(script, "-instead" if native else ""))
    wanted = set(TOOL_NAMES) | set(names)
    if _is_complete(directory, wanted, homes):
        _note(directory, asked)
        return directory
    home = homes[0]
    if not native or not _write_native(layout.tools + "/" + home, native):
        home = homes[-1]
        _write_client(layout.tools + "/" + home, script.encode("utf-8"))
    os.makedirs(directory, 0o755, exist_ok=True)
    for name in sorted(wanted):
        _link("../%s/hook-tool" % home, directory + "/" + name)
    return directory


def _home(text: str, suffix: str) -> str:
    """Return the directory name of a client, which contains a checksum of the client."""
    return "pushjuju-%08x%s" % (zlib.crc32(text.encode("utf-8")), suffix)


def _is_unchanged(directory: str, asked: tuple[str, ...]) -> bool:
    """Return True when this process found the links complete before, and none was made or removed since."""
    moment, names = _complete.get(directory, (0, ()))
    try:
        return names == asked and os.stat(directory).st_mtime_ns == moment and _leads_on(directory)
    except OSError:
        return False


def _leads_on(directory: str) -> bool:
    return os.path.exists(directory + "/juju-log")


def _note(directory: str, asked: tuple[str, ...]) -> None:
    """Remember complete links, unless they changed just now: a second change may have the same time."""
    moment = os.stat(directory).st_mtime_ns
    if moment < (wall_time() - 1) * 1e9:
        _complete[directory] = moment, asked


def _is_complete(directory: str, wanted: set[str], homes: list[str]) -> bool:
    """Return True when all links exist and lead to one of the clients."""
    try:
        target = os.readlink(directory + "/juju-log")
        return (
            target in ["../%s/hook-tool" % home for home in homes]
            and set(os.listdir(directory)) >= wanted
            and _leads_on(directory)
        )
    except OSError:
        return False


def _write_native(home: str, packed: str) -> bool:
    """Write the client for this processor; return False when the client does not run here."""
    _write_client(home, zlib.decompress(binascii.a2b_base64(packed)))
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        pid = os.posix_spawn(home + "/hook-tool", ["hook-tool"], {}, file_actions=null)
    except OSError:
        return False
    return os.waitpid(pid, 0)[1] == 1 << 8  # it runs: without a hook's environment it exits with 1


def _write_client(home: str, source: bytes) -> None:
    os.makedirs(home, 0o755, exist_ok=True)
    path = home + "/hook-tool"
    temporary = "%s.%d" % (path, os.getpid())
    fd = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o755)
    try:
        os.write(fd, source)
        os.fchmod(fd, 0o755)
    finally:
        os.close(fd)
    os.rename(temporary, path)


def _link(target: str, path: str) -> None:
    if "/" in os.path.basename(path) or os.path.basename(path) in ("", ".", ".."):
        raise ValueError("bad hook tool name: %r" % path)
    try:
        if os.readlink(path) == target:
            return
        os.unlink(path)
    except OSError:
        pass
    os.symlink(target, path)


def ensure_jujud(layout: Layout, machine: str, version: str) -> None:
    """Write the program ``jujud``, from which charmhelpers reads the version of the agent.

    Charms glob ``/var/lib/juju/tools/machine-*/jujud`` and run it with ``version``.
    """
    if not machine or not all(c.isalnum() or c in "-/" for c in machine):
        return
    if not version or not all(c.isalnum() or c in ".-+~" for c in version):
        return
    directory = layout.tools + "/machine-" + machine.replace("/", "-")
    path = directory + "/jujud"
    text = "#!/bin/sh\necho %s\n" % version
    if read_text(path) == text:
        return
    os.makedirs(directory, 0o755, exist_ok=True)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.chmod(path + ".new", 0o755)
    os.rename(path + ".new", path)
