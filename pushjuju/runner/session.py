"""A session with one machine: send operations, receive their events and results.

A session outlives its SSH connection: when the connection is cut during an operation, the session connects
again, asks the machine which operations it knows, and continues. What runs on the machine goes on without a
connection; the machine keeps the result until the controller acknowledges it.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, ConnectionLost, DiskFull, Overtaken, RemoteFailed, Unreachable
from pushjuju.core.values import dataclass
from pushjuju.runner.push import bootstrap, delta
from pushjuju.runner.push.heard import Ahead, OnEvent, OnLive, Pending, Room, held_by
from pushjuju.runner.push.packer import Program, pack
from pushjuju.runner.remote.base import wire
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.runner.trust import intake
from pushjuju.runner.trust.waste import Answers, Waste

if TYPE_CHECKING:
    from pushjuju.portable.frames import Asked, Copy, Hello, Lease, LiveResult, OfOperation, Op, Request

TAIL = 0
"""The sequence number of a hook's last output line, which is shown to a user who watches and is no event."""

TAIL_LETTERS = 400
IsDown = Callable[[], Awaitable[bool]]
CHUNK = 256 * 1024
ANSWER_S = 60.0  # seconds in which a machine must answer what it can answer at once, or end a killed process
TAKE_S = 900.0  # seconds in which a machine must read a piece of a file, or check the whole file
_OF_OPERATIONS = ("event", "live", "result", "error")
BEAT_EVERY = 20.0  # seconds
BEAT = wire.pack({"t": "beat"})
MOMENT = 1.0  # seconds that a connection must last so that its messages count as progress
REATTACH_FOR = 30.0  # seconds of trying to connect again before an error
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
REATTACH_PAUSE = 0.25  # seconds before the second try; doubled each time, at most 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """How a plain command ended."""

    exit: int | None  # exit status; None when a signal ended it, or when `cut_short` is set
    signal: int | None  # number of the signal, or None
    stdout: str  # the output; bytes that are not UTF-8 are surrogates
    stderr: str  # the same for standard error; when `cut_short` is set and nothing was printed, the reason
    cut_short: bool = False  # True when the machine restarted meanwhile, or its runner was killed


class MachineSession:
    """A session with one machine, made by `open_session`."""

    def __init__(
        self,
        target: MachineTarget,
        *,
        program: Program,
        connector: Connector,
        root: str,
        options: Mapping[str, Any],
        reattach: float,
        waste: Waste | None = None,
        is_down: IsDown | None = None,
    ) -> None:
        self.target = target
        self._program = program
        self._connector = connector
        self._root = root
        self._options = dict(options)
        self._reattach = reattach
        self._is_down = is_down
        self._link: bootstrap.Link | None = None
        self._last_hello = cast("Hello", {})  # of the link before
        self._stack = contextlib.AsyncExitStack()
        self._opening = asyncio.Lock()
        self._putting = asyncio.Lock()
        self._pending: dict[str, Pending] = {}
        self._ahead: dict[str, Ahead] = {}
        self._room = Room()
        self._waste = waste or Waste()
        self._answers = Answers()
        self._puts: dict[str, asyncio.Future[dict[str, object]]] = {}
        self._blobs: set[str] = set()
        self._told = asyncio.Event()
        self._asks = False  # True while a question for the machine's facts is open
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._next_beat: asyncio.TimerHandle | None = None
        # sent with each operation; the machine refuses a lease if it has received a newer one
        self.lease: Lease | None = None
        # the history of writes of the store that the session began with; see `store.engine.Engine`
        self.line = ""
        self._frames = (0, 0)
        self._bytes = (0, 0)
        # requests of `juju-exec` on the machine that have not begun: id -> document, oldest first
        self.requests: dict[str, Request] = {}
        self.on_requests: Callable[[], None] = lambda: None  # called when a request arrives
        # runs when the connection is lost while no operation waits, with the seconds that it lasted
        self.on_loss: Callable[[float], Coroutine[Any, Any, None]] | None = None

    # -- facts ---------------------------------------------------------------------------------------------

    @property
    def hello(self) -> Hello:
        """The facts that the machine sent when it was connected last."""
        return self._link.hello if self._link else self._last_hello

    @property
    def connected(self) -> bool:
        """Return True while no loss of the connection is known."""
        return self._link is not None and not self._link.lost.done()

    @property
    def frames_out(self) -> int:
        """Frames sent since the session was opened."""
        return self._frames[0] + (self._link.frames_out if self._link else 0)

    @property
    def frames_in(self) -> int:
        """Frames received since the session was opened, without the hello frames."""
        return self._frames[1] + (self._link.frames_in if self._link else 0)

    @property
    def traffic(self) -> tuple[int, int]:
        """Bytes sent and received since the session was opened, without what SSH adds to them."""
        sent, received = self._bytes
        return (sent + self._link.bytes_out, received + self._link.bytes_in) if self._link else self._bytes

    # -- connection ----------------------------------------------------------------------------------------

    async def open(self) -> Self:
        """Connect; an error of this first contact is raised without further attempts."""
        await self._attach()
        self._options.pop("recall", None)  # asked once
        return self

    async def connect(self) -> None:
        """Connect unless the session is connected, with one attempt."""
        await self._attach()

    async def _attach(self) -> bootstrap.Link:
        """Return the live link; connect when there is no live link."""
        async with self._opening:
            if self._closed:
                raise ConnectionLost(f"the session with {self.target} is closed")
            if self._link and not self._link.lost.done():
                return self._link
            await self._drop_link()
            self._check_waste()
            async with contextlib.AsyncExitStack() as stack:
                connection = await stack.enter_async_context(self._connector.connect(self.target))
                link = await bootstrap.attach(
                    connection,
                    self._program,
                    self._root,
                    self._options,
                    name=str(self.target),
                    waste=self._waste,
                )
                link.hello = self._hello(link)
                link.on_message = self._on_message
                self._stack = stack.pop_all()
            self._link = link
            self._blobs = set(link.hello["blobs"])
            self.requests = {item["id"]: item for item in link.hello.get("requests", ())}
            self._beat(link)
            link.lost.add_done_callback(partial(self._lose, link, asyncio.get_running_loop().time()))
            return link

    def _lose(self, link: bootstrap.Link, begun: float, _lost: object) -> None:
        """Start what follows a loss at rest; an operation that waits connects again itself."""
        if self.on_loss is not None and not (self._closed or self._pending or link.fault):
            self._run_aside(self.on_loss(asyncio.get_running_loop().time() - begun), "connects again")

    def _run_aside(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run something beside the caller, until the session is closed at the latest."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _check_waste(self) -> None:
        """Refuse a machine that has sent too many useless bytes."""
        if over := self._waste.over_s():
            raise BadAnswer(
                f"{self.target} sent too many useless messages: pushjuju ignores it for {over:.0f} seconds"
            )

    def _hello(self, link: bootstrap.Link) -> Hello:
        size, seconds = link.hello_cost
        used = 0
        try:
            found = intake.read_hello(link.first, str(self.target))
            used = held_by(found, size)
        except BadAnswer:
            link.close()
            raise
        finally:
            if limits.PAYS_FOR * used < size:
                with contextlib.suppress(wire.BadFrame):  # over the limit: the next contact is refused
                    self._waste.add(size, seconds)
        return found

    async def look_again(self) -> None:
        """Ask the machine again for its hostname and addresses, which may have changed."""
        met = self._link
        link = await self._attach()
        if link is not met:
            return
        self._told.clear()
        self._asks = True
        link.send({"t": "facts"})
        told = asyncio.ensure_future(self._told.wait())
        try:
            waits = asyncio.wait(
                _either(told, link.lost), timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED
            )
            if not (await waits)[0]:
                raise BadAnswer(f"{self.target} does not answer which addresses it has")
        finally:
            told.cancel()

    def _beat(self, link: bootstrap.Link) -> None:
        """Send a heartbeat now and regularly: the machine detaches connections without heartbeats."""
        if not link.lost.done():
            link.write(BEAT)
            self._next_beat = asyncio.get_running_loop().call_later(BEAT_EVERY, self._beat, link)

    async def _drop_link(self) -> None:
        if self._next_beat:
            self._next_beat.cancel()
        if self._link:
            self._frames = (self.frames_out, self.frames_in)
            self._bytes, self._last_hello = self.traffic, self._link.hello
            await self._link.finish()
            self._link = None
        stack, self._stack = self._stack, contextlib.AsyncExitStack()
        await stack.aclose()

    async def close(self) -> None:
        """Detach; operations on the machine go on, and the machine keeps their results."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._opening:
            await self._drop_link()

    async def _attach_again(self, since: float) -> bootstrap.Link:
        """Connect again, with more attempts until `reattach` seconds since the loss have passed."""
        pause, down = REATTACH_PAUSE, False
        loop = asyncio.get_running_loop()
        while True:
            try:
                return await self._attach()
            except (Unreachable, ConnectionLost) as error:
                if pause == REATTACH_PAUSE and self._is_down is not None:
                    down = await self._is_down()  # True: more attempts are useless
                if down or self._closed or loop.time() + pause - since > self._reattach:
                    raise ConnectionLost(
                        f"the connection to {self.target} was lost",
                        detail=error.detail or error.message,
                        hint="What was started there goes on; the next contact fetches its result.",
                    ) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 4.0)

    # -- messages of the machine ---------------------------------------------------------------------------

    def _on_message(self, message: dict[str, object], size: int) -> int:
        """Handle a message of the machine; return how many of its bytes were useful."""
        kind, op_id = message.get("t"), message.get("id")
        if kind in _OF_OPERATIONS and isinstance(op_id, str):
            if pending := self._pending.get(op_id):
                return self._give(pending, message, size)
            ahead = self._ahead.get(op_id)
            return ahead.take(message, size) if ahead else 0
        if kind in ("ok", "put-error"):
            return self._take_put(message, size)
        if kind == "requests":
            return self._take_requests(message)
        return self._take_facts(message, size) if kind == "facts" else 0

    def _give(self, pending: Pending, message: dict[str, object], size: int) -> int:
        """Hand a message to the caller that waits for its operation; return its number of useful bytes."""
        kind = message.get("t")
        if kind == "event":
            found = pending.take(intake.numbered(message, "es"))
            if "tail" in message:
                line = intake.text(message["tail"], TAIL_LETTERS)[:TAIL_LETTERS]
                pending.tell(TAIL, {"k": "tail", "line": line})
            return found
        if kind == "live":
            return self._take_call(pending, message)
        if pending.result.done():
            return 0
        kept = intake.known_fields(message if kind == "result" else _refused(message), size)
        return pending.finish(kept) + held_by(kept, size)

    def _take_put(self, message: Mapping[str, object], size: int) -> int:
        digest = message.get("sha256")
        put = self._puts.get(digest) if isinstance(digest, str) else None
        if put is None or put.done():
            return 0
        said = {key: message.get(key) for key in ("t", "errno", "restart")}
        put.set_result({**said, "message": intake.text(message.get("message"))})
        return min(size, limits.LARGE)

    def _take_facts(self, message: Mapping[str, object], size: int) -> int:
        if not self._asks or self._link is None:
            return 0
        self._asks = False
        found = intake.network_facts(message)
        self._link.hello = {**self._link.hello, **found}
        self._told.set()
        return held_by(found, size)

    def _take_requests(self, message: Mapping[str, object]) -> int:
        found = intake.requests_of(message.get("requests"))
        new = {key: item for key, item in found.items() if self.requests.get(key) != item}
        if not new:
            return 0
        self.requests.update(new)
        size = sum(map(intake.cost, self.requests.values()))
        if len(self.requests) > limits.REQUESTS or size > limits.SCRIPTS:
            raise wire.BadFrame("too many requests")
        self.on_requests()
        return sum(map(intake.cost, new.values()))

    def _take_call(self, pending: Pending, message: Mapping[str, object]) -> int:
        """Queue a live call and start a task for the queue, up to the limit of tasks; return its size."""
        found = pending.ask({**intake.live_call(message), "id": str(message["id"])})
        if pending.calls and pending.answering < limits.LIVE_AT_ONCE:
            pending.answering += 1
            self._run_aside(self._answer_calls(pending), "live calls")
        return found

    async def _answer_calls(self, pending: Pending) -> None:
        """Answer queued calls one after the other; several of these tasks may share the queue."""
        try:
            while pending.calls:
                call = pending.calls.popleft()
                await self._answers.give(partial(self._answer_live, pending, call))
                pending.answered(call)
        finally:
            pending.answering -= 1

    async def _answer_live(self, pending: Pending, message: Asked) -> None:
        if pending.on_live is None:
            rc, out, err = 1, b"", f"ERROR {message['tool']} needs a live controller\n".encode()
        else:
            try:
                rc, out, err = await pending.on_live(message)
            except Exception as error:  # noqa: BLE001 - the hook gets an answer in any case
                rc, out, err = 1, b"", f"ERROR {message['tool']}: {error}\n".encode()
        answer: LiveResult = {"t": "live-result", "id": message["id"], "call": message["call"], "rc": rc}
        answer.update(_as_text("stdout", out))
        answer.update(_as_text("stderr", err))
        link = self._link
        if link is not None:
            with contextlib.suppress(ConnectionLost):
                await link.drain()  # a machine that does not read its answers delays only its own calls
                link.send(answer)

    # -- operations ----------------------------------------------------------------------------------------

    async def run(
        self, op: Op, on_event: OnEvent | None = None, on_live: OnLive | None = None, plan: Sequence[Op] = ()
    ) -> dict[str, Any]:
        """Run an operation and return its result.

        An id that the machine knows is never started again: its stored result is returned, or it is waited
        for. When the connection is cut, the session connects again and goes on waiting.

        Args:
            op: The operation; ``id`` is unique for all times and controllers.
            on_event: Called for each event as it comes.
            on_live: Answers live hook tool calls.
            plan: Operations sent with `op`, each ``after`` an earlier one; each begins when the earlier one
                has succeeded without writes. Call `run` or `forget` for each to free its kept messages.

        Returns:
            The result frame. ``events`` holds every event as ``{"seq", "e"}``, also those passed to
            ``on_event``. ``code`` ``plan`` means that the machine left out this operation of a plan, which
            begins only when it is sent again.

        Raises:
            ConnectionLost: The connection was cut, and connecting again failed; the operation may go on.
            Overtaken: Another controller process has a later lease; nothing was started.
        """
        behind = [self._order(item) for item in plan]
        result = await self._carry(self._order(op), on_event, on_live, behind)
        if result.get("code") == "lease":
            text = f"{self.target} works for another controller process now"
            raise Overtaken(text, intake.lease_of(result))
        return result

    def _order(self, op: Op) -> Op:
        return {**op, "t": "op", "lease": self.lease} if self.lease else {**op, "t": "op"}

    def forget(self, op_id: str) -> None:
        """Drop the messages of an operation of a plan whose result is not needed."""
        if ahead := self._ahead.pop(op_id, None):
            ahead.forget()

    def _send(self, link: bootstrap.Link, message: Op | OfOperation, behind: Sequence[Op]) -> None:
        """Send an operation and the operations of its plan."""
        link.send(message)
        for item in behind:
            self.forget(str(item["id"]))
            self._ahead[str(item["id"])] = Ahead(self._room, link)
            link.send(item)

    async def fetch(
        self, op_id: str, on_event: OnEvent | None = None, on_live: OnLive | None = None
    ) -> dict[str, object]:
        """Wait for an operation that was started at an earlier contact (``hello["journal"]``).

        Returns:
            The result; its outcome is ``unknown`` when the machine does not know the operation.
        """
        return await self._carry({"t": "fetch", "id": op_id}, on_event, on_live)

    async def _carry(
        self,
        message: Op | OfOperation,
        on_event: OnEvent | None,
        on_live: OnLive | None,
        behind: Sequence[Op] = (),
    ) -> dict[str, object]:
        op_id = str(message["id"])
        if op_id in self._pending:
            raise ValueError(f"operation {op_id} is being waited for already")
        pending = self._pending[op_id] = Pending(self._room, on_event, on_live)
        sent_on = self._claim(op_id, pending)
        loop = asyncio.get_running_loop()
        lost_at = loop.time()
        losses = 0  # consecutive losses of the connection without new messages, or soon after connecting
        try:
            while True:
                link = await self._attach_again(lost_at)
                heard, since = pending.spent, loop.time()
                if link is not sent_on:
                    self._send(link, message, behind)
                await asyncio.wait(_either(pending.result, link.lost), return_when=asyncio.FIRST_COMPLETED)
                if pending.result.done():
                    return pending.result.result()
                self._check_fault(link)
                lost_at = loop.time()
                is_news = pending.spent > heard and lost_at - since > MOMENT
                losses = 0 if is_news else losses + 1
                if losses > limits.LOSSES:
                    raise ConnectionLost(f"{self.target} hangs up each time", detail=link.lost.result())
        finally:
            del self._pending[op_id]
            pending.forget()
            self.requests.pop(str(message.get("request")), None)

    def _claim(self, op_id: str, pending: Pending) -> bootstrap.Link | None:
        """Take over the messages of an operation of a plan; return the connection on which it was sent."""
        ahead = self._ahead.pop(op_id, None)
        if ahead is None:
            return None
        ahead.forget()
        for said, size in ahead.messages:
            self._give(pending, said, size)
        return ahead.link

    def _check_fault(self, link: bootstrap.Link) -> None:
        """Raise the machine's breach of the protocol, which connecting again would only repeat."""
        if link.fault is not None:
            raise BadAnswer(f"{self.target}: {link.fault.message}")

    async def ack(self, op_id: str) -> None:
        """Tell the machine that the result is committed, so that the machine may delete it.

        Without a connection this does nothing: the machine lists the operation again at the next contact.
        """
        if self._link:
            self._link.send_soon({"t": "ack", "id": op_id})

    def answer(self, request: str, error: str) -> None:
        """Answer a request of `juju-exec` with an error; the machine ignores later answers."""
        self.requests.pop(request, None)
        if self._link:
            self._link.send_soon({"t": "answer", "request": request, "error": error})

    async def cancel(self, op_id: str, signal: str = "KILL") -> None:
        """Interrupt an operation: send ``KILL`` or ``TERM`` to the hook and everything in its process group.

        After ``KILL``, `run` and `fetch` of the operation end within ANSWER_S seconds, whatever the machine
        does.
        """
        link = await self._attach()
        link.send({"t": "cancel", "id": op_id, "signal": signal})
        if signal == "KILL":
            self._limit(op_id, ANSWER_S)

    def _limit(self, op_id: str, seconds: float) -> asyncio.TimerHandle:
        """Let the wait for an operation fail after some seconds."""
        return asyncio.get_running_loop().call_later(seconds, self._give_up, op_id)

    def _give_up(self, op_id: str) -> None:
        pending = self._pending.get(op_id)
        if pending is not None and not pending.result.done():
            text = f"{self.target} has not ended an operation that was killed or over its time limit"
            pending.result.set_exception(BadAnswer(text))

    async def exec(
        self,
        argv: Sequence[str] = (),
        *,
        script: str = "",
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the limit is kept on the machine
    ) -> ExecResult:
        """Run a plain command as root, without unit context: a program with arguments, or a shell script.

        Raises:
            RemoteFailed: The machine could not run the command.
            DiskFull: The machine's disk has no room for the operation's journal.
        """
        op = _exec(argv, script, stdin, dict(env or {}), timeout)
        limit = self._limit(op["id"], timeout + ANSWER_S) if timeout is not None else None
        try:
            result = await self.run(op)
        finally:
            if limit is not None:
                limit.cancel()
        await self.ack(op["id"])
        ended = intake.read_result(result)
        raise_for_error(ended, str(self.target))
        stdout, stderr = (
            intake.as_bytes(ended, stream).decode("utf-8", "surrogateescape")
            for stream in ("stdout", "stderr")
        )
        cut_short = bool(ended.get("recovered"))
        return ExecResult(
            exit=ended.get("exit"),
            signal=ended.get("signal"),
            stdout=stdout,
            stderr=stderr or (intake.text(ended.get("message")) if cut_short else ""),
            cut_short=cut_short,
        )

    # -- blobs ---------------------------------------------------------------------------------------------

    async def put_blob(self, sha256: str, path: Path, like: tuple[str, Path] | None = None) -> None:
        """Send a file to the machine's cache unless it is there; continue a cut transfer where it stopped.

        Args:
            like: SHA-256 and path of an archive that the machine may have: only the differences are sent.
        """
        async with self._putting:  # one after the other: parallel transfers would not be faster
            await self._put(sha256, path, like)

    def forget_blob(self, sha256: str) -> None:
        """Remember that a file is no longer in the machine's cache."""
        self._blobs.discard(sha256)

    async def _put(self, sha256: str, path: Path, like: tuple[str, Path] | None) -> None:
        loop = asyncio.get_running_loop()
        lost_at = loop.time()
        restarts = 0
        while True:
            link = await self._attach_again(lost_at)
            if sha256 in self._blobs:
                return
            done = self._puts[sha256] = loop.create_future()
            try:
                # After a failed attempt the whole file is sent: the old archive there may be damaged.
                source = like if like and not restarts and like[0] in self._blobs else None
                await self._send_blob(link, sha256, path, done, source)
                waits = asyncio.wait(
                    _either(done, link.lost), timeout=TAKE_S, return_when=asyncio.FIRST_COMPLETED
                )
                if not (await waits)[0]:
                    raise TimeoutError
            except ConnectionLost:
                pass
            except TimeoutError:
                raise BadAnswer(f"{self.target} does not take {path.name}") from None
            finally:
                self._puts.pop(sha256, None)
                if not done.done():
                    done.cancel()
            # The connection was cut before the answer: the next attempt continues the part that has arrived.
            if done.cancelled():
                self._check_fault(link)
                lost_at = loop.time()
            elif not done.result().get("restart"):
                self._check_put(done.result(), path)
                self._blobs.add(sha256)
                return
            elif (restarts := restarts + 1) > limits.RESTARTS:
                raise BadAnswer(f"{self.target} asks for {path.name} again and again")

    async def _send_blob(
        self,
        link: bootstrap.Link,
        sha256: str,
        path: Path,
        done: asyncio.Future[dict[str, object]],
        like: tuple[str, Path] | None = None,
    ) -> None:
        size = path.stat().st_size  # noqa: ASYNC240 - a local file, and it is read here anyway
        offset = min(link.hello["parts"].pop(sha256, 0), size)
        found = await asyncio.to_thread(delta.pieces, path, like[1]) if like else delta.pieces(path, None)
        link.send({"t": "put", "sha256": sha256, "size": size, "offset": offset})
        name = bytes.fromhex(sha256)
        with path.open("rb") as file:
            for piece in delta.behind(found, offset):
                if piece.source >= 0 and like:
                    copy: Copy = {
                        "t": "copy",
                        "sha256": sha256,
                        "from": like[0],
                        "offset": piece.source,
                        "length": piece.length,
                    }
                    link.send(copy)
                    continue
                file.seek(piece.at)
                left = piece.length
                while left and not done.done() and (data := file.read(min(CHUNK, left))):
                    left -= len(data)
                    link.send_frame(wire.BLOB, name + data)
                    async with asyncio.timeout(TAKE_S):
                        await link.drain()

    def _check_put(self, answer: dict[str, object], path: Path) -> None:
        if answer.get("t") == "ok":
            return
        text = intake.text(answer.get("message"))
        if answer.get("errno") in _NO_SPACE:
            raise DiskFull(f"the disk of {self.target} is full", detail=text)
        raise RemoteFailed(f"{self.target} does not take {path.name}", detail=text)


def _exec(
    argv: Sequence[str], script: str, stdin: str | None, env: dict[str, str], timeout: float | None
) -> Op:
    """Return the operation of a plain command."""
    name = f"exec-{uuid.uuid4().hex}"
    if argv:
        words = list(argv)
        return {
            "id": name,
            "kind": "exec",
            "stdin": stdin,
            "timeout": timeout,
            "argv": words,
            "env": env,
            "t": "op",
        }
    return {
        "id": name,
        "kind": "exec",
        "stdin": stdin,
        "timeout": timeout,
        "script": script,
        "env": env,
        "t": "op",
    }


def _refused(message: Mapping[str, object]) -> dict[str, object]:
    """Return the result of an operation that the machine refused."""
    text = intake.text(message.get("message"))
    return {"id": message["id"], "outcome": "error", "message": text, "writes": {}, "reboot": ""}


def _either(*futures: asyncio.Future[Any]) -> set[asyncio.Future[Any]]:
    return set(futures)


def raise_for_error(result: Mapping[str, Any], machine: str) -> None:
    """Raise the error of a result whose outcome is ``error``: the machine could not run the operation."""
    if result.get("outcome") != "error":
        return
    text = intake.text(result.get("message"))
    if result.get("errno") in _NO_SPACE:
        raise DiskFull(f"the disk of {machine} is full", detail=text)
    raise RemoteFailed(f"{machine}: {text}", detail=intake.text(result.get("trace")))


def with_disk_named(result: dict[str, object], machine: str) -> dict[str, object]:
    """Return a result whose message names the machine when the machine's disk was full."""
    if result.get("outcome") != "error" or result.get("errno") not in _NO_SPACE:
        return result
    return {**result, "message": f"the disk of {machine} is full: {intake.text(result.get('message'))}"}


def _as_text(name: str, data: bytes) -> Any:
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {name: base64.b64encode(data).decode(), f"{name}-encoding": "base64"}


@contextlib.asynccontextmanager
async def open_session(
    target: MachineTarget,
    *,
    program: Program | None = None,
    connector: Connector | None = None,
    root: str = "",
    options: Mapping[str, Any] | None = None,
    reattach: float = REATTACH_FOR,
    waste: Waste | None = None,
    is_down: IsDown | None = None,
) -> AsyncIterator[MachineSession]:
    """Open a session with a machine for the duration of the block.

    Args:
        program: The program to run on the machine, or None for a program without hook tools.
        connector: Shared by sessions of one run, so that keys are parsed once.
        root: Directory that replaces ``/`` in tests.
        options: For the machine's server: ``linger``, ``live_timeout`` (seconds), ``client`` (perl, python).
        reattach: Seconds of trying to connect again after a cut, before ConnectionLost is raised.
        waste: Counts the useless bytes that the machine has sent, also at earlier contacts.
        is_down: Called once after a cut, when the first attempt has failed; True ends the attempts.
    """
    session = MachineSession(
        target,
        program=program or pack(),
        connector=connector or Connector(),
        root=root,
        options=options or {},
        reattach=reattach,
        waste=waste,
        is_down=is_down,
    )
    try:
        yield await session.open()
    finally:
        await session.close()
