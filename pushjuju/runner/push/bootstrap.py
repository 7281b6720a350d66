"""Start the program on a machine over an open SSH connection; send it or install Python where missing."""

from __future__ import annotations

import asyncio
import json
import shlex
import time
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core import limits
from pushjuju.core.errors import (
    BadAnswer,
    ConnectionLost,
    DiskFull,
    HeldElsewhere,
    PushjujuError,
    RemoteFailed,
    SudoRefused,
)
from pushjuju.portable.jsontext import dumps
from pushjuju.runner.push.packer import Program
from pushjuju.runner.remote.base import wire
from pushjuju.runner.trust import frames
from pushjuju.runner.trust.waste import Waste

if TYPE_CHECKING:
    import asyncssh

    from pushjuju.portable.frames import Hello, ToMachine
    from pushjuju.runner.ssh.login import Connection

MARK = b"PJ1"
NOISE_LIMIT = 64 * 1024  # bytes that a login shell may print before the first answer
BOOT_ANSWERS = 8  # limit of answers of ``boot.py`` before it attaches
STDERR_KEEP = 8 * 1024
HELLO_TIMEOUT = 60.0
INSTALL_TIMEOUT = 600.0
CLOSE_TIMEOUT = 2.0
COMPANY_WAIT = 0.005  # seconds that an acknowledgement waits to be sent with another message

_PYTHONS = (
    "/usr/bin/python3 /usr/local/bin/python3 python3 /usr/libexec/platform-python "
    "python3.13 python3.12 python3.11 python3.10 python3.9 python3.8"
)
# Becoming root here saves a start of Python as the login user; without sudo, boot.py reports the error. The
# owner of `/` is root, so `id` need not be started; where another user owns `/`, root uses sudo, too.
_SCRIPT = (
    's=; [ -O / ] || { command -v sudo >/dev/null 2>&1 && s="sudo -n --"; }; '
    f"for p in {_PYTHONS}; do "
    'case "$p" in /*) [ -x "$p" ] || continue;; *) command -v "$p" >/dev/null 2>&1 || continue;; esac; '
    'exec $s "$p" -I -S -c "$0" "$@" "$SSH_CONNECTION"; done; '  # sudo deletes the variable
    r"printf 'PJ1P\000\000\000\000'"
)
_INSTALL = """
set -e
s=; if [ "$(id -u)" != 0 ]; then s='sudo -n'; $s true; fi
export DEBIAN_FRONTEND=noninteractive
if command -v apt-get >/dev/null; then
  $s apt-get -qq update || true
  $s env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends python3
elif command -v dnf >/dev/null; then $s dnf -q -y install python3
elif command -v yum >/dev/null; then $s yum -q -y install python3
elif command -v apk >/dev/null; then $s apk add -q python3
elif command -v zypper >/dev/null; then $s zypper -q -n install python3
else echo 'no package manager known (apt-get, dnf, yum, apk, zypper)' >&2; exit 3
fi
"""


def command(program: Program, root: str, options: Mapping[str, Any]) -> str:
    """Return the command line for the machine's login shell."""
    given = (program.digest, root, json.dumps(dict(options)), program.boot)
    words = ["sh", "-c", _SCRIPT, program.start, *given]
    return "exec " + shlex.join(words)


class Link:
    """The SSH channel to a machine's server, as soon as the program is started."""

    def __init__(self, waste: Waste | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.first: dict[str, object] = {}  # the machine's first message, not checked
        self.hello = cast("Hello", {})  # the first message, checked
        # done when the channel has ended, with the reason as its value
        self.lost: asyncio.Future[str] = loop.create_future()
        # the machine's breach of the protocol, which connecting again would repeat; or None
        self.fault: BadAnswer | None = None
        self.hello_cost = (0, 0.0)  # the bytes of the hello, and the processor seconds that reading it took
        # called with each JSON message and its size; returns how many of its bytes were useful
        self.on_message: Callable[[dict[str, object], int], int] = lambda _, size: size
        self.waste = waste or Waste()  # counts the useless bytes
        self.frames_in = 0  # frames received after hello
        self.frames_out = 0  # frames sent
        self.bytes_in = 0  # bytes received, the hello frame with them
        self.bytes_out = 0  # bytes sent
        self.stderr = b""
        self.exit_status: int | None = None
        self.channel: asyncssh.SSHClientChannel[bytes] | None = None
        self._answers: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self._buffer = b""
        self._boot_answers = 0
        self._discards = False
        self._reader: wire.Reader | None = None
        self._greeted: asyncio.Future[None] = loop.create_future()
        self._writable = asyncio.Event()
        self._writable.set()
        self._waiting = b""
        self._timer: asyncio.TimerHandle | None = None

    # -- called by asyncssh --------------------------------------------------------------------------------

    def discard_output(self) -> None:
        """Ignore what a plain command prints on stdout."""
        self._discards = True

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Handle bytes of the channel."""
        self.bytes_in += len(data)
        if self.fault is not None or (self._discards and datatype is None):
            return
        if datatype is not None:
            self.stderr = (self.stderr + data)[-STDERR_KEEP:]
            self._wasted(len(data))
        elif self._reader is None:
            self._boot_received(data)
        else:
            self._frames_received(data)

    def _boot_received(self, data: bytes) -> None:
        self._buffer += data
        while self._reader is None and self.fault is None:
            at = self._buffer.find(MARK)
            if at < 0 or len(self._buffer) < at + 8:
                if len(self._buffer) > NOISE_LIMIT:
                    self._answers.put_nowait(
                        ("E", "the login shell prints without end instead of starting Python")
                    )
                    self.break_off("the login shell prints without end")
                return
            if not self._boot_answered(at):
                return

    def _boot_answered(self, at: int) -> bool:
        """Read the answer that begins at a mark; return False while the answer is not complete."""
        letter = chr(self._buffer[at + 3])
        if letter == "R":
            rest = self._buffer[at + 4 :]
            self._buffer = b""
            self._reader = wire.Reader()
            self._answers.put_nowait(("R", ""))
            self._frames_received(rest)
            return False
        size = int.from_bytes(self._buffer[at + 4 : at + 8], "big")
        if size > limits.BOOT_TEXT:
            self.break_off(f"an answer of {size} bytes while the program starts")
            return False
        text = self._buffer[at + 8 : at + 8 + size]
        if len(text) < size:
            return False
        self._buffer = self._buffer[at + 8 + size :]
        self._answers.put_nowait((letter, text.decode("utf-8", "replace")))
        self._boot_answers += 1
        if self._boot_answers > BOOT_ANSWERS:
            self.break_off("answers without end while the program starts")
        return True

    def _frames_received(self, data: bytes) -> None:
        assert self._reader is not None
        begun = time.thread_time()
        try:
            found = self._reader.feed(data)
            if not found and len(data) < limits.DRIBBLE:
                self.waste.add(4 * limits.DRIBBLE, 0.0)  # the cost of an SSH packet of any size
            for flag, payload in found:
                message, size = frames.read(flag, payload)
                if self._greeted.done():
                    self.frames_in += 1
                    useless = limits.FRAME_COST + size - limits.PAYS_FOR * self.on_message(message, size)
                    if useless > 0:
                        now = time.thread_time()
                        self.waste.add(useless, now - begun)
                        begun = now
                else:
                    self.first, self.hello_cost = message, (size, time.thread_time() - begun)
                    self._greeted.set_result(None)
        except ValueError as error:
            self._wasted(len(data), time.thread_time() - begun)
            self.break_off(str(error))

    def _wasted(self, size: int, seconds: float = 0.0) -> None:
        """Count useless bytes, and hang up when they exceed the limit."""
        try:
            self.waste.add(limits.FRAME_COST + size, seconds)
        except wire.BadFrame as error:
            self.break_off(str(error))

    def break_off(self, why: str) -> None:
        """Hang up on a machine that breaks the protocol."""
        self.fault = self.fault or BadAnswer(f"the machine breaks the protocol: {why}")
        self._buffer = b""
        self.connection_lost(self.fault)
        self.close()

    def connection_lost(self, error: Exception | None) -> None:
        """Record the end of the channel and its reason."""
        if not self.lost.done():
            reason = str(error) if error else self.stderr.decode("utf-8", "replace").strip()
            self.lost.set_result(reason or "the connection was closed")
        self._writable.set()
        if not self._greeted.done():
            self._greeted.cancel()
        self._answers.put_nowait(("", ""))

    @property
    def printed(self) -> str:
        """The end of what the machine printed instead of an answer."""
        return self._buffer[-STDERR_KEEP:].decode("utf-8", "replace").strip()

    def set_writable(self, writable: bool) -> None:
        """Record whether asyncssh accepts more data (flow control)."""
        if writable:
            self._writable.set()
        else:
            self._writable.clear()

    # -- called by the session -----------------------------------------------------------------------------

    def send(self, message: ToMachine) -> None:
        """Send a JSON message; after a loss it is dropped, and the session notices the loss by ``lost``."""
        self.write(self._framed(message))

    def send_soon(self, message: ToMachine) -> None:
        """Queue a JSON message that is not urgent: sent with the next message, or after COMPANY_WAIT."""
        self._waiting += self._framed(message)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COMPANY_WAIT, self.write, b"")

    def _framed(self, message: ToMachine) -> bytes:
        self.frames_out += 1
        data = dumps(message).encode()
        if len(data) > wire.MAX_FRAME:
            raise RemoteFailed(f"a message for the machine is larger than {wire.MAX_FRAME} bytes")
        if len(data) > wire.COMPRESS_FROM:
            return wire.frame(wire.ZLIB, zlib.compress(data, 1))
        return wire.frame(wire.RAW, data)

    def send_frame(self, flag: int, payload: bytes) -> None:
        """Send one frame."""
        self.frames_out += 1
        self.write(wire.frame(flag, payload))

    def write(self, data: bytes) -> None:
        """Write raw bytes, after the queued messages."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        data, self._waiting = self._waiting + data, b""
        if data and self.channel is not None and not self.lost.done():
            self.bytes_out += len(data)
            try:
                self.channel.write(data)
            except (OSError, BrokenPipeError) as error:
                self.connection_lost(error)

    async def drain(self) -> None:
        """Wait until the channel accepts more data."""
        await self._writable.wait()
        if self.lost.done():
            raise ConnectionLost(detail=self.lost.result())

    async def answer(self) -> tuple[str, str]:
        """Return the next answer of ``boot.py`` as (letter, text); letter "": the channel has ended."""
        return await self._answers.get()

    async def greeting(self) -> None:
        """Wait for the hello frame."""
        await self._greeted

    async def finish(self) -> None:
        """Hang up after everything that was sent has arrived."""
        self.write(b"")
        if self.channel is not None and not self.lost.done():
            self.channel.write_eof()
            await asyncio.wait({self.lost}, timeout=CLOSE_TIMEOUT)
        self.close()

    def close(self) -> None:
        """Hang up; operations on the machine go on."""
        self.write(b"")
        if self.channel is not None:
            self.channel.close()


async def _open_channel(connection: Connection, line: str, waste: Waste | None = None) -> Link:
    link = Link(waste)

    class Session(connection.Session):  # type: ignore[name-defined,misc] # read from the connection
        def data_received(self, data: bytes, datatype: int | None) -> None:
            link.data_received(data, datatype)

        def exit_status_received(self, status: int) -> None:
            link.exit_status = status

        def connection_lost(self, exc: Exception | None) -> None:
            link.connection_lost(exc)

        def pause_writing(self) -> None:
            link.set_writable(False)

        def resume_writing(self) -> None:
            link.set_writable(True)

    try:
        channel, _ = await connection.ssh.create_session(Session, line, encoding=None)
    except connection.failures as error:
        raise ConnectionLost("the machine refuses a session", detail=str(error)) from error
    link.channel = channel
    return link


async def attach(
    connection: Connection,
    program: Program,
    root: str,
    options: Mapping[str, Any],
    *,
    name: str,
    waste: Waste | None = None,
) -> Link:
    """Start the program on a machine, or attach to its running server.

    Args:
        program: The program to run on the machine.
        root: Directory that replaces ``/``; "" on real machines.
        options: Options of the machine's server.
        name: The machine's name in error texts.
        waste: Counts the useless bytes that the machine has sent, also at earlier contacts.
    """
    line = command(program, root, options)
    for attempt in range(2):
        link = await _open_channel(connection, line, waste)
        try:
            async with asyncio.timeout(HELLO_TIMEOUT):
                if await _converse(link, program, name):
                    connection.settled()
                    return link
        except TimeoutError as error:
            link.close()
            raise RemoteFailed(f"the program on {name} does not start", detail=_tail(link)) from error
        except PushjujuError:
            link.close()
            raise
        link.close()
        if attempt == 0:
            await _install_python(connection, name)
    raise RemoteFailed(f"{name} has no python3", hint="Install python3 on the machine.")


async def _converse(link: Link, program: Program, name: str) -> bool:
    """Handle answers of ``boot.py`` until hello arrives; return False when the machine has no Python."""
    while True:
        letter, text = await link.answer()
        if letter == "R":
            try:
                await link.greeting()
            except asyncio.CancelledError:
                if link.fault is not None:
                    raise BadAnswer(f"{name}: {link.fault.message}") from None
                if link.lost.done():
                    raise ConnectionLost(detail=link.lost.result()) from None
                raise
            return True
        if letter == "N":
            link.write(program.data)
        elif letter == "P":
            return False
        else:
            raise _refusal(letter, text, link, name)


def _refusal(letter: str, text: str, link: Link, name: str) -> PushjujuError:
    """Return the error for an answer of ``boot.py`` that reports a failure."""
    said = _tail(link)
    if link.fault is not None and letter != "E":
        return BadAnswer(f"{name}: {link.fault.message}", detail=said)
    if letter == "S" or (not letter and "sudo:" in said):
        return SudoRefused(
            f"cannot become root on {name}",
            detail=text or said,
            hint="Log in as root, or allow the user to run sudo without a password.",
        )
    if letter == "H":
        return HeldElsewhere(f"{name} is held by another controller or model", detail=text)
    if letter == "E":
        if "[28]" in text or "[122]" in text or "No space left" in text:
            return DiskFull(f"the disk of {name} is full", detail=text)
        return RemoteFailed(f"the program on {name} cannot start", detail=text)
    if link.exit_status:
        return RemoteFailed(
            f"the program on {name} cannot start: exit status {link.exit_status}",
            detail=f"{said}\n{link.printed}".strip(),
        )
    return ConnectionLost(f"the connection to {name} was lost while the program started", detail=said)


def _tail(link: Link) -> str:
    return link.stderr.decode("utf-8", "replace").strip()


async def _install_python(connection: Connection, name: str) -> None:
    """Install python3 with the machine's package manager."""
    try:
        async with asyncio.timeout(INSTALL_TIMEOUT):
            status, said = await _run(connection, "exec sh -c " + shlex.quote(_INSTALL.strip()))
    except TimeoutError as error:
        raise RemoteFailed(f"installing python3 on {name} does not end") from error
    except connection.failures as error:
        raise ConnectionLost(f"the connection to {name} was lost", detail=str(error)) from error
    if status == 0:
        return
    if "sudo:" in said:
        raise SudoRefused(f"cannot become root on {name}", detail=said)
    raise RemoteFailed(
        f"{name} has no python3 and it cannot be installed",
        detail=said,
        hint="Install python3 on the machine.",
    )


async def _run(connection: Connection, line: str) -> tuple[int | None, str]:
    """Run a command without input; return its exit status and the end of its error output."""
    link = await _open_channel(connection, line)
    link.discard_output()
    assert link.channel is not None
    link.channel.write_eof()
    await link.lost
    return link.exit_status, _tail(link)[-2000:]
