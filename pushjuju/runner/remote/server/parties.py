"""The state of the server: attached controllers, operations and their processes.

The classes hold data only: ``attachments``, ``ledger``, ``hosts`` and ``controllers`` work with the data.
"""

from __future__ import annotations

import select

from pushjuju.runner.remote.base import layout, wire
from pushjuju.runner.remote.base.results import monotonic
from pushjuju.runner.remote.disk import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames
    from pushjuju.runner.remote.disk.blobs import Receiver

LINGER = 10.0  # seconds without attachment and work before the server ends
SILENCE = 90.0  # seconds without a heartbeat after which a controller counts as dead
PLAN_AGE = 5.0  # seconds after which an operation of a plan does not begin: its decision may be out of date
LIVE_TIMEOUT = 300.0  # seconds that a live hook tool call waits for a controller


class Attachment:
    """One controller connection: the descriptors of its SSH channel, handed over by the attach process."""

    def __init__(self, conn: Any, inp: int, out: int) -> None:
        self.conn = conn
        self.ctl: int = conn.fileno()
        self.inp = inp
        self.out = out
        self.reader = wire.Reader()
        self.backlog = bytearray()
        self.receivers: dict[str, Receiver] = {}
        self.open = True
        self.heard = 0.0  # time of its last heartbeat; 0 for a controller that sends no heartbeats
        self.told: set[str] = set()  # ids of the juju-exec requests that were sent to it

    def fds(self) -> tuple[int, int, int]:
        """Return the descriptors of the connection."""
        return (self.ctl, self.inp, self.out)


class Running:
    """One operation that runs.

    Attributes:
        channel: Socket to the operation's process, or None while that process is not connected.
        subscriber: The attachment that gets events and the result.
        live: Frames of questions that the controller has not answered, by call number.
        unsaved: The result frame that could not be written to the disk.
        quiet: The state for the next operation of a plan; empty when that operation may not begin.
    """

    def __init__(self, op_id: str, lock: str, channel: Any = None, pid: int = 0) -> None:
        self.op_id = op_id
        self.lock = lock
        self.channel = channel
        self.pid = pid
        self.reader = wire.Reader()
        self.subscriber: Attachment | None = None
        self.live: dict[int, bytes] = {}
        self.live_since = 0.0
        self.queued: Queued | None = None
        self.uses = 0
        self.alone_since = monotonic()
        self.unsaved = b""
        self.quiet: frames.Quiet = {}


class Spare:
    """A process that waits for an operation.

    Attributes:
        uses: Number of operations that the process has run.
    """

    def __init__(self, channel: Any, pid: int, uses: int = 0) -> None:
        self.channel = channel
        self.pid = pid
        self.uses = uses


class Queued:
    """An operation that waits for its lock, or for the one before it in a plan, as it came over the wire.

    Attributes:
        inherits: The state that the operation before it in the plan hands over.
    """

    def __init__(
        self, op_id: str, kind: str, lock: str, flag: int, payload: bytes, who: Attachment | None
    ) -> None:
        self.op_id = op_id
        self.kind = kind
        self.lock = lock
        self.message = bytes((flag,)) + payload
        self.who = who
        self.tries = 0
        self.inherits: frames.Quiet = {}
        self.since = monotonic()

    def is_old(self, options: dict[str, Any]) -> bool:
        """Return True when an operation of a plan came too long ago to begin."""
        return monotonic() - self.since > float(options.get("plan_age", PLAN_AGE))


class State:
    """All that the server knows; what must survive the server is in the journal.

    Attributes:
        paths: The paths of pushjuju's files.
        options: Options of the controllers; those of the latest controller win.
        boot_id: The running boot of the machine.
        poll: The descriptors that the server waits for.
        attachments: Controllers, by each of their descriptors.
        newcomers: Connections that have not yet introduced themselves, by descriptor.
        queue: Operations that wait for their lock, in order.
        followers: Operations that wait for the good end of another operation, by the id of the latter.
        running: Operations that run, by id.
        channels: Operations that run, by the descriptor of the socket to their process.
        spare: A process that waits for an operation.
        done: Journal files of operations that ended and are not acknowledged, by id.
        seen: Operations that are acknowledged.
        requests: The request of juju-exec that an operation answers, by the id of the operation.
    """

    def __init__(self, paths: layout.Layout, options: dict[str, Any], listener: Any) -> None:
        self.paths = paths
        self.options = options
        self.listener = listener
        self.boot_id = layout.boot_id()
        self.poll = select.poll()
        self.attachments: dict[int, Attachment] = {}
        self.newcomers: dict[int, Any] = {}
        self.queue: list[Queued] = []
        self.followers: dict[str, Queued] = {}
        self.running: dict[str, Running] = {}
        self.channels: dict[int, Running] = {}
        self.spare: Spare | None = None
        self.done: dict[str, str] = {}
        self.seen = journal.Seen(paths.journal)
        self.requests: dict[str, str] = {}

    def limit(self, name: str, default: float) -> float:
        """Return an option that is a number of seconds."""
        return float(self.options.get(name, default))

    def waiting(self) -> list[Queued]:
        """Return all operations that have not begun."""
        return self.queue + list(self.followers.values())

    def journal_file(self, op_id: str) -> str:
        """Return the path of an operation's journal file, which need not exist."""
        return self.paths.journal + "/" + journal.file_name(op_id)
