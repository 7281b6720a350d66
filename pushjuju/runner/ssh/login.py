"""Logs in with asyncssh: keys, host keys, and errors with the next command to type.

Imported with the first connection: importing asyncssh takes longer than a whole command without machines.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pushjuju.core.errors import AuthFailed, HostKeyChanged, PushjujuError, Unreachable
from pushjuju.runner.ssh import packets
from pushjuju.runner.ssh.hostkeys import ACCEPTED, HostKeyFile, entry_name, fingerprint, normal
from pushjuju.runner.ssh.library import asyncssh
from pushjuju.runner.ssh.oneflight import log_in_at_once
from pushjuju.runner.target import HostKeys, MachineTarget

Act = Callable[[Any], None]

KEEPALIVE_INTERVAL = 15  # seconds; a hook may be silent for hours, a dead peer is noticed within a minute
KEEPALIVE_COUNT = 3
# Agent, screen and variables of the user are never forwarded to a machine, whatever `~/.ssh/config` says.
_LENT: dict[str, object] = {"agent_forwarding": False, "x11_forwarding": False, "send_env": None, "env": None}
_NOTHING_LENT = Path(__file__).with_name("nothing_lent.conf")
_AUTHENTICATED = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com")


class HostKeyCheck:
    """Decides whether a machine's host key is accepted, and keeps a refused key for the error."""

    def __init__(self, target: MachineTarget, host: str, port: int) -> None:
        self.target = target
        self.name = target.host_key_alias or entry_name(host, port)
        known = target.known_hosts
        self.file: HostKeys | None = HostKeyFile(known) if isinstance(known, Path) else known
        self.known = [normal(key) for key in target.host_keys]
        if self.file:
            self.known += self.file.find(self.name, word=ACCEPTED if self.known else "")
        self.refused = ""

    def accept(self, key: str) -> bool:
        """Return True when a key is the machine's; a machine's first key is accepted and kept in the file."""
        key = normal(key)
        if key in self.known:
            return True
        if self.known:
            self.refused = key
            return False
        if self.file:
            self.known = self.file.accept(self.name, key)  # another process may have been faster
        if self.known and key not in self.known:
            self.refused = key
            return False
        return True

    def error(self) -> HostKeyChanged:
        """Return the error for the refused key."""
        shown = fingerprint(self.refused)
        known = ", ".join(fingerprint(key) for key in self.known)
        hint = "Check with the machine's owner; the key came from the provider."
        if self.file and self.target.host_keys:
            hint = f"If it is the right machine: {self.file.how_to_accept(self.name, self.refused)}"
        elif self.file:
            hint = f"If the machine was reinstalled: {self.file.how_to_forget(self.name)}"
        return HostKeyChanged(
            f"host key of {self.target} changed: expected {known}, got {shown}",
            detail="Another host may answer in the machine's place, or the machine was reinstalled.",
            hint=hint,
        )


class Connection:
    """An open SSH connection."""

    failures = (OSError, asyncssh.Error)  # the exceptions that a broken connection raises
    Session = asyncssh.SSHClientSession[bytes]  # the base class of asyncssh for receivers of a session

    def __init__(self, ssh: asyncssh.SSHClientConnection, settled: Act) -> None:
        self.ssh = ssh
        self._settled = settled

    def settled(self) -> None:
        """Report that the first session has answered: from now on the kernel decides when to send ACKs."""
        self._settled(self.ssh.get_extra_info("socket"))


class Logins:
    """Logs in; all connections share the keys, which are read once.

    Args:
        begun: Called with the socket of each new connection.
        settled: Called with the socket when the first session on it has answered.
    """

    def __init__(self, begun: Act, settled: Act) -> None:
        self._keys: dict[Path, tuple[int, Any]] = {}
        self._begun = begun
        self._settled = settled

    def _load_key(self, path: Path) -> Any:
        stamp = path.stat().st_mtime_ns
        if not path.is_file():
            raise ValueError("not a regular file")
        known = self._keys.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, asyncssh.read_private_key(str(path)))
            self._keys[path] = known
        return known[1]

    def _load_keys(self, target: MachineTarget) -> list[Any]:
        keys = []
        for path in target.identity_files:
            try:
                keys.append(self._load_key(path))
            except (OSError, ValueError, asyncssh.Error) as error:
                why = error.strerror if isinstance(error, OSError) else None
                raise AuthFailed(f"cannot read the SSH key {path}", detail=why or str(error)) from error
        return keys

    async def log_in(self, target: MachineTarget, tunnel: Any) -> Connection:
        """Log in with the target's own keys, then with the keys that ``ssh`` would offer.

        Two attempts are needed: an agent with many keys would use up the server's limit of attempts before
        the target's own key is offered.
        """
        keys = self._load_keys(target)
        if keys:
            try:
                return await self._attempt(target, tunnel, {"client_keys": keys, "agent_path": None})
            except AuthFailed:
                if not target.use_ssh_config or _offers_nothing(target):
                    raise
        if not target.use_ssh_config:
            return await self._attempt(target, tunnel, {"client_keys": None, "agent_path": None})
        try:
            return await self._attempt(target, tunnel, {})
        except Unreachable as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
        return await self._attempt(target, tunnel, _keys_there(target))

    async def _attempt(self, target: MachineTarget, tunnel: Any, keys: dict[str, object]) -> Connection:
        checks: list[HostKeyCheck] = []
        made: list[asyncssh.SSHClientConnection] = []
        client = _client_class(checks, self._begun, made, own_keys=bool(keys.get("client_keys")))
        arguments = _arguments(target, checks) | {"client_factory": client} | keys
        try:
            async with asyncio.timeout(target.connect_timeout):
                ssh = await asyncssh.connect(target.host, tunnel=tunnel or (), **arguments)
        except TimeoutError as error:
            reason = f"no answer within {target.connect_timeout:g} seconds"
            raise Unreachable(f"cannot reach {target}: {reason}", reason=reason) from error
        except (OSError, ValueError, asyncssh.Error) as error:
            cut = isinstance(error, (asyncssh.ConnectionLost, ConnectionError))
            if cut and made and not made[-1].get_extra_info("server_version"):
                raise _turned_away(target) from error
            raise _explain(target, error, checks) from error
        return Connection(ssh, self._settled)


def _offers_nothing(target: MachineTarget) -> bool:
    """Return True when ``ssh`` would have no key to offer: sshd counts each failed login."""
    try:
        options = asyncssh.SSHClientConnectionOptions(config=_configs(), host=target.host)
    except (OSError, ValueError, asyncssh.Error):
        return False  # the login tells what is wrong
    return not options.client_keys and not options.agent_path


def _arguments(target: MachineTarget, checks: list[HostKeyCheck]) -> dict[str, object]:
    """Return asyncssh's arguments for a target, without keys."""

    def known_hosts(host: str, _address: str, port: int | None) -> tuple[list[Any], list[Any], list[Any]]:
        check = HostKeyCheck(target, host, port or 22)
        checks.append(check)
        return [asyncssh.import_public_key(key) for key in check.known], [], []

    arguments: dict[str, object] = {
        "known_hosts": known_hosts,
        "encryption_algs": _ciphers(),
        "server_host_key_algs": _host_key_algs(HostKeyCheck(target, target.host, target.port or 22).known),
        "compression_algs": ["none"],  # frames are compressed already, with a limit on their unpacked size
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


def _keys_there(target: MachineTarget) -> dict[str, object]:
    """Return the keys of the user's SSH settings whose files exist; as `ssh`, leave the others out."""
    settings = asyncssh.SSHClientConnectionOptions(config=_configs(), host=target.host, client_keys=None)
    named = map(str, cast("list[str]", settings.config.get("IdentityFile", [])))
    there = [name for name in named if Path(name).expanduser().exists()]
    return {"client_keys": there or None, "ignore_encrypted": True}


def _configs() -> list[Path]:
    """Return pushjuju's SSH settings, then the user's; pushjuju's also hold for the user's jump hosts."""
    own = Path("~/.ssh/config").expanduser()
    return [_NOTHING_LENT, *([own] if os.access(own, os.R_OK) else [])]


def _ciphers() -> list[str]:
    """Return asyncssh's default ciphers with the fastest one first."""
    names = [name.decode() for name in asyncssh.encryption.get_default_encryption_algs()]
    return sorted(names, key=lambda name: name != "aes128-gcm@openssh.com")


def _host_key_algs(known: list[str]) -> list[str]:
    """Return the host key algorithms in order of preference, those of known keys first.

    The others stay in the list: a machine without a key of a known type then sends another key, and the error
    says that the key changed.
    """
    names = [name.decode() for name in asyncssh.public_key.get_default_public_key_algs()]
    kinds = {key.split()[0] for key in known}
    if "ssh-rsa" in kinds:
        kinds |= {"rsa-sha2-256", "rsa-sha2-512"}
    return sorted(names, key=lambda name: name not in kinds)


def _client_class(
    checks: list[HostKeyCheck], begun: Act, made: list[asyncssh.SSHClientConnection], *, own_keys: bool
) -> Any:
    class Client(asyncssh.SSHClient):
        def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
            made.append(conn)
            begun(conn.get_extra_info("socket"))
            _send_no_padding(conn)
            packets.count(conn)
            if own_keys:
                log_in_at_once(conn)

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
            del host, addr, port
            return bool(checks) and checks[-1].accept(key.export_public_key("openssh").decode())

    return Client


def _send_no_padding(conn: asyncssh.SSHClientConnection) -> None:
    """Suppress the empty packet that asyncssh sends before each packet.

    The empty packets protect CBC ciphers; with authenticated ciphers they only cost time on both sides.
    """
    send = conn.send_packet

    def send_packet(kind: int, *parts: bytes, **options: Any) -> None:
        if kind != asyncssh.constants.MSG_IGNORE or conn.get_extra_info("send_cipher") not in _AUTHENTICATED:
            send(kind, *parts, **options)

    conn.send_packet = cast("Any", send_packet)  # type: ignore[method-assign] # asyncssh has no option for it


def _turned_away(target: MachineTarget) -> Unreachable:
    """Return the error for a host that closes the connection before it tells its version."""
    reason = "the host closes the connection before the login"
    return Unreachable(
        f"cannot reach {target}: {reason}",
        reason=reason,
        hint="An sshd does so for some seconds after failed logins, when many connections come at once, and "
        "while the host can start no process: try again in a minute.",
    )


def _explain(target: MachineTarget, error: Exception, checks: list[HostKeyCheck]) -> PushjujuError:
    """Return the error of pushjuju for an error of asyncssh or of the system."""
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
    if isinstance(error, ValueError) and target.use_ssh_config:
        reason = f"your SSH settings cannot be read: {error}"
        return Unreachable(f"cannot reach {target}: {reason}", reason=reason, hint="Correct ~/.ssh/config.")
    number = getattr(error, "errno", None)  # the system's text is clearer than asyncio's
    reason = os.strerror(number) if number else str(error) or type(error).__name__
    if name := getattr(error, "filename", None):
        reason = f"{name}: {reason}"
    return Unreachable(f"cannot reach {target}: {reason}", reason=reason)
