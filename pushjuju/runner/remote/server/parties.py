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
    """One operation that runs."""

    def __init__(self, op_id: str, lock: str, channel: Any = None, pid: int = 0) -> None:
        self.op_id = op_id
        self.lock = lock
        # socket to the operation's process, or None while that process is not connected
        self.channel = channel
        self.pid = pid
        self.reader = wire.Reader()
        self.subscriber: Attachment | None = None  # the attachment that gets events and the result
        # frames of questions that the controller has not answered, by call number
        self.live: dict[int, bytes] = {}
        self.live_since = 0.0
        self.queued: Queued | None = None
        self.uses = 0
        self.alone_since = monotonic()
        self.unsaved = b""  # the result frame that could not be written to the disk
        # the state for the next operation of a plan; empty when that operation may not begin
        self.quiet: frames.Quiet = {}


class Spare:
    """A process that waits for an operation."""

    def __init__(self, channel: Any, pid: int, uses: int = 0) -> None:
        self.channel = channel
        self.pid = pid
        self.uses = uses  # number of operations that the process has run


class Queued:
    """An operation that waits for its lock, or for the one before it in a plan, as it came over the wire."""

    def __init__(
        self, op_id: str, kind: str, lock: str, flag: int, payload: bytes, who: Attachment | None
    ) -> None:
        self.op_id = op_id
        self.kind = kind
        self.lock = lock
        self.message = bytes((flag,)) + payload
        self.who = who
        self.tries = 0
        self.inherits: frames.Quiet = {}  # the state that the operation before it in the plan hands over
        self.since = monotonic()

    def is_old(self, options: dict[str, Any]) -> bool:
        """Return True when an operation of a plan came too long ago to begin."""
        return monotonic() - self.since > float(options.get("plan_age", PLAN_AGE))


class State:
    """All that the server knows; what must survive the server is in the journal."""

    def __init__(self, paths: layout.Layout, options: dict[str, Any], listener: Any) -> None:
        self.paths = paths  # the paths of pushjuju's files
        self.options = options  # options of the controllers; those of the latest controller win
        self.listener = listener
        self.boot_id = layout.boot_id()  # the running boot of the machine
        self.poll = select.poll()  # the descriptors that the server waits for
        self.attachments: dict[int, Attachment] = {}  # controllers, by each of their descriptors
        # connections that have not yet introduced themselves, by descriptor
        self.newcomers: dict[int, Any] = {}
        self.queue: list[Queued] = []  # operations that wait for their lock, in order
        # operations that wait for the good end of another operation, by the id of the latter
        self.followers: dict[str, Queued] = {}
        self.running: dict[str, Running] = {}  # operations that run, by id
        # operations that run, by the descriptor of the socket to their process
        self.channels: dict[int, Running] = {}
        self.spare: Spare | None = None  # a process that waits for an operation
        # journal files of operations that ended and are not acknowledged, by id
        self.done: dict[str, str] = {}
        self.seen = journal.Seen(paths.journal)  # operations that are acknowledged
        # the request of juju-exec that an operation answers, by the id of the operation
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
