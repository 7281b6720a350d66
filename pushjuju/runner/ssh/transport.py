"""SSH connections through asyncssh: login, host keys, jump hosts, and errors that name the next step."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core.errors import AuthFailed, HostKeyChanged, PushjujuError, Unreachable
from pushjuju.runner.ssh import packets
from pushjuju.runner.ssh.hostkeys import ACCEPTED, HostKeyFile, entry_name, fingerprint, normal
from pushjuju.runner.ssh.oneflight import log_in_at_once
from pushjuju.runner.target import MachineTarget

if TYPE_CHECKING:
    import asyncssh

KEEPALIVE_INTERVAL = 15  # seconds; a hook may be silent for hours, a dead peer is noticed within a minute
KEEPALIVE_COUNT = 3
QUICKACK_EVERY = 0.002  # seconds
QUICKACK_EACH = 0.0002  # ... for each connection, where that is more
QUICKACK_FOR = 5.0
# A machine gets neither a user's agent nor screen nor variables, whatever `~/.ssh/config` says.
_LENT: dict[str, Any] = {"agent_forwarding": False, "x11_forwarding": False, "send_env": None, "env": None}
_NOTHING_LENT = Path(__file__).with_name("nothing_lent.conf")
_AUTHENTICATED = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com")


class HostKeyCheck:
    """Decides about the host key of one machine and remembers why it was refused."""

    def __init__(self, target: MachineTarget, host: str, port: int) -> None:
        self.target = target
        self.name = target.host_key_alias or entry_name(host, port)
        self.file = HostKeyFile(target.known_hosts) if target.known_hosts else None
        self.known = [normal(key) for key in target.host_keys]
        if self.file:
            self.known += self.file.find(self.name, word=ACCEPTED if self.known else "")
        self.refused = ""

    def accept(self, key: str) -> bool:
        """Return True when a key is the machine's; a machine's first key is accepted and written down."""
        key = normal(key)
        if key in self.known:
            return True
        if self.known:
            self.refused = key
            return False
        if self.file:
            self.file.add(self.name, key)
        return True

    def error(self) -> HostKeyChanged:
        """Return the error for the refused key."""
        shown = fingerprint(self.refused)
        known = ", ".join(fingerprint(key) for key in self.known)
        hint = "Check with the machine's owner; the key came from the provider."
        if self.file and self.target.host_keys:
            path = shlex.quote(str(self.file.path))
            hint = f"If it is the right machine: echo '{self.name} {self.refused} {ACCEPTED}' >> {path}"
        elif self.file:
            hint = f"If the machine was reinstalled: ssh-keygen -f {self.file.path} -R '{self.name}'"
        return HostKeyChanged(
            f"host key of {self.target} changed: expected {known}, got {shown}",
            detail="Somebody may be between you and the machine, or it was reinstalled.",
            hint=hint,
        )


class Connection:
    """An open SSH connection.

    Attributes:
        ssh: asyncssh's connection.
    """

    def __init__(self, ssh: asyncssh.SSHClientConnection, quick_acks: QuickAcks) -> None:
        self.ssh = ssh
        self._quick_acks = quick_acks

    def settled(self) -> None:
        """Note that the first session has answered: from here on the kernel decides about ACKs."""
        self._quick_acks.stop(self.ssh.get_extra_info("socket"))


class QuickAcks:
    """Keeps TCP_QUICKACK set on the sockets of connections that are being set up: one timer for all.

    sshd writes two small packets before it sets TCP_NODELAY; without this the second one waits 40 ms for the
    delayed ACK of the first.
    """

    def __init__(self) -> None:
        self._until: dict[Any, float] = {}
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def start(self, sock: Any) -> None:
        """Begin, on the socket of a connection that was made."""
        if sock is None or not hasattr(socket, "TCP_QUICKACK") or sock.family == socket.AF_UNIX:
            return
        loop = asyncio.get_running_loop()
        self._until[sock] = loop.time() + QUICKACK_FOR
        self._acknowledge(sock)
        if self._timer is None or self._timer[0] is not loop:
            self._wait(loop)

    def stop(self, sock: Any) -> None:
        """End it for one connection."""
        self._until.pop(sock, None)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Plan the next look: the more connections, the rarer, so that they never take a core by this."""
        pause = max(QUICKACK_EVERY, QUICKACK_EACH * len(self._until))
        self._timer = (loop, loop.call_later(pause, self._tick, loop))

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for sock, end in list(self._until.items()):
            if end < now:
                del self._until[sock]
            else:
                self._acknowledge(sock)
        self._timer = None
        if self._until:
            self._wait(loop)

    def _acknowledge(self, sock: Any) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        except OSError:
            self._until.pop(sock, None)


@dataclass(slots=True)
class _Shared:
    """A connection to a jump host, shared by all targets behind it.

    Attributes:
        lock: Held during the login to the jump host: other targets wait for the connection.
        users: The number of sessions that go through it, or are about to.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    open: tuple[Connection, contextlib.AsyncExitStack] | None = None


class Connector:
    """Opens connections; keys are loaded and parsed once and shared by all of them.

    So are the connections to jump hosts: an sshd drops logins when too many come at once.
    """

    def __init__(self) -> None:
        self._keys: dict[Path, tuple[int, Any]] = {}
        self._quick_acks = QuickAcks()
        self._jumps: dict[MachineTarget, _Shared] = {}

    def _load_key(self, path: Path) -> Any:
        import asyncssh

        stamp = path.stat().st_mtime_ns
        known = self._keys.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, asyncssh.read_private_key(str(path)))
            self._keys[path] = known
        return known[1]

    def _load_keys(self, target: MachineTarget) -> list[Any]:
        import asyncssh

        keys = []
        for path in target.identity_files:
            try:
                keys.append(self._load_key(path))
            except (OSError, ValueError, asyncssh.Error) as error:
                why = error.strerror if isinstance(error, OSError) else None
                raise AuthFailed(f"cannot read the SSH key {path}", detail=why or str(error)) from error
        return keys

    @contextlib.asynccontextmanager
    async def connect(self, target: MachineTarget) -> AsyncIterator[Connection]:
        """Connect and log in; closed at the end of the block.

        Raises:
            Unreachable: No answer in time.
            HostKeyChanged: Another host key than the known one.
            AuthFailed: No key was taken.
        """
        async with contextlib.AsyncExitStack() as stack:
            tunnel = None
            if target.jump:
                tunnel = (await stack.enter_async_context(self._through(target.jump, target))).ssh
            connection = await self._login(target, tunnel)
            stack.push_async_callback(_close, connection)
            yield connection

    @contextlib.asynccontextmanager
    async def _through(self, jump: MachineTarget, target: MachineTarget) -> AsyncIterator[Connection]:
        """Connect to a jump host on the way to a target, or use the existing connection."""
        shared = self._jumps.setdefault(jump, _Shared())
        shared.users += 1
        try:
            async with shared.lock:
                if shared.open is None or shared.open[0].ssh.is_closed():
                    shared.open = await self._to_jump(jump, target)
                connection, _ = shared.open
            yield connection
        finally:
            shared.users -= 1
            if not shared.users:
                self._jumps.pop(jump, None)
                if shared.open is not None:
                    await shared.open[1].aclose()

    async def _to_jump(
        self, jump: MachineTarget, target: MachineTarget
    ) -> tuple[Connection, contextlib.AsyncExitStack]:
        """Log in to a jump host.

        Raises:
            Unreachable, HostKeyChanged, AuthFailed: The message names the machine behind it.
        """
        stack = contextlib.AsyncExitStack()
        try:
            return await stack.enter_async_context(self.connect(jump)), stack
        except PushjujuError as error:
            await stack.aclose()
            error.message = f"jump host on the way to {target}: {error.message}"
            raise

    async def _login(self, target: MachineTarget, tunnel: Any) -> Connection:
        """Log in with the target's own keys, then with what ``ssh`` would offer.

        Two attempts, because an agent full of keys would use up the attempts that the server allows before
        the target's own key is offered.
        """
        keys = self._load_keys(target)
        if keys:
            try:
                return await self._attempt(target, tunnel, {"client_keys": keys, "agent_path": None})
            except AuthFailed:
                if not target.use_ssh_config:
                    raise
        if not target.use_ssh_config:
            return await self._attempt(target, tunnel, {"client_keys": None, "agent_path": None})
        return await self._attempt(target, tunnel, {})

    async def _attempt(self, target: MachineTarget, tunnel: Any, keys: dict[str, Any]) -> Connection:
        import asyncssh

        checks: list[HostKeyCheck] = []
        client = _client_class(checks, self._quick_acks, own_keys=bool(keys.get("client_keys")))
        arguments = _arguments(target, checks) | {"client_factory": client} | keys
        try:
            async with asyncio.timeout(target.connect_timeout):
                ssh = await asyncssh.connect(target.host, tunnel=tunnel or (), **arguments)
        except TimeoutError as error:
            reason = f"no answer within {target.connect_timeout:g} seconds"
            raise Unreachable(f"cannot reach {target}: {reason}", reason=reason) from error
        except (OSError, asyncssh.Error) as error:
            raise _explain(target, error, checks) from error
        return Connection(ssh, self._quick_acks)


def _arguments(target: MachineTarget, checks: list[HostKeyCheck]) -> dict[str, Any]:
    """Return asyncssh's arguments for a target, without keys."""

    def known_hosts(host: str, _address: str, port: int | None) -> tuple[list[Any], list[Any], list[Any]]:
        check = HostKeyCheck(target, host, port or 22)
        checks.append(check)
        import asyncssh

        return [asyncssh.import_public_key(key) for key in check.known], [], []

    arguments: dict[str, Any] = {
        "known_hosts": known_hosts,
        "encryption_algs": _ciphers(),
        "server_host_key_algs": _host_key_algs(HostKeyCheck(target, target.host, target.port or 22).known),
        "compression_algs": ["none"],  # frames are compressed, and inflate to no more than they may
        "gss_kex": False,
        "gss_auth": False,
        "keepalive_interval": KEEPALIVE_INTERVAL,
        "keepalive_count_max": KEEPALIVE_COUNT,
        "login_timeout": target.connect_timeout,
        "password_auth": False,
        "kbdint_auth": False,
        "config": _configs() if target.use_ssh_config else None,
        **_LENT,
    }
    if target.port is not None:
        arguments["port"] = target.port
    if target.user is not None:
        arguments["username"] = target.user
    return arguments


def _configs() -> list[Path]:
    """Return pushjuju's SSH settings, then the user's; the former also apply to the latter's jump hosts."""
    own = Path("~/.ssh/config").expanduser()
    return [_NOTHING_LENT, *([own] if os.access(own, os.R_OK) else [])]


def _ciphers() -> list[str]:
    """Return asyncssh's default ciphers with the fastest one first."""
    from asyncssh.encryption import get_default_encryption_algs

    names = [name.decode() for name in get_default_encryption_algs()]
    return sorted(names, key=lambda name: name != "aes128-gcm@openssh.com")


def _host_key_algs(known: list[str]) -> list[str]:
    """Return the host key algorithms to ask for: those of known keys first.

    The others stay in the list: a machine that has no key of a known type shall show what it has instead, so
    that the error can say that its key changed.
    """
    from asyncssh.public_key import get_default_public_key_algs

    names = [name.decode() for name in get_default_public_key_algs()]
    kinds = {key.split()[0] for key in known}
    if "ssh-rsa" in kinds:
        kinds |= {"rsa-sha2-256", "rsa-sha2-512"}
    return sorted(names, key=lambda name: name not in kinds)


def _client_class(checks: list[HostKeyCheck], quick_acks: QuickAcks, *, own_keys: bool) -> Any:
    import asyncssh

    class Client(asyncssh.SSHClient):
        def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
            quick_acks.start(conn.get_extra_info("socket"))
            _send_no_padding(conn)
            packets.count(conn)
            if own_keys:
                log_in_at_once(conn)

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
            del host, addr, port
            return bool(checks) and checks[-1].accept(key.export_public_key("openssh").decode())

    return Client


def _send_no_padding(conn: asyncssh.SSHClientConnection) -> None:
    """Leave out the empty packet that asyncssh sends before each packet.

    It guards ciphers in CBC mode; with authenticated ones it only costs, here and on the machine.
    """
    from asyncssh.constants import MSG_IGNORE

    send = conn.send_packet

    def send_packet(kind: int, *parts: bytes, **options: Any) -> None:
        if kind != MSG_IGNORE or conn.get_extra_info("send_cipher") not in _AUTHENTICATED:
            send(kind, *parts, **options)

    conn.send_packet = cast("Any", send_packet)  # type: ignore[method-assign] # there is no option for it


def _explain(target: MachineTarget, error: Exception, checks: list[HostKeyCheck]) -> PushjujuError:
    """Return the error of pushjuju for an error of asyncssh or of the system."""
    import asyncssh

    check = checks[-1] if checks else None
    if check and check.refused:
        return check.error()
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        text = f"host key of a jump host on the way to {target} is not known"
        return HostKeyChanged(text, detail=str(error), hint="Connect to it once with ssh and accept its key.")
    if isinstance(error, asyncssh.PermissionDenied):
        user = target.user or "the default user"
        login = f"{target.user}@{target.host}" if target.user else target.host
        port = f" -p {target.port}" if target.port not in (None, 22) else ""
        return AuthFailed(
            f"{target} refuses the login of {user}",
            detail=str(error),
            hint=f"Check that one of your SSH keys is authorized there: ssh {login}{port}",
        )
    if isinstance(error, asyncssh.ChannelOpenError):
        return Unreachable(
            f"cannot reach {target}: the jump host in front of it does not get there",
            detail=str(error),
            hint="Its sshd must allow AllowTcpForwarding, and the machine must answer it.",
        )
    if isinstance(error, socket.gaierror):
        reason = "name not known"
        return Unreachable(f"cannot reach {target}: {reason}", reason=reason, detail=str(error))
    number = getattr(error, "errno", None)  # asyncio words these itself, and worse
    reason = os.strerror(number) if number else str(error) or type(error).__name__
    return Unreachable(f"cannot reach {target}: {reason}", reason=reason)


async def _close(connection: Connection) -> None:
    connection.settled()
    connection.ssh.close()
    with contextlib.suppress(Exception):
        async with asyncio.timeout(2):
            await connection.ssh.wait_closed()
    connection.ssh.abort()
