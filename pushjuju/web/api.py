"""The state that all connections of a server share: threads, logins, watched models and connected users."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import WSCloseCode

from pushjuju.services.entities.basis.context import Context
from pushjuju.web import call, errors, limits, login, messages
from pushjuju.web.audit import AuditLog
from pushjuju.web.limits import Attempts
from pushjuju.web.login import LoggedIn, Logins
from pushjuju.web.messages import Encoded
from pushjuju.web.pool import Pool
from pushjuju.web.transport.staging import Staging
from pushjuju.web.watch.hub import Hub
from pushjuju.web.watch.watchers import Watchers

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.web.peers import Member
    from pushjuju.web.pool import Pool

_LOOK_S = 1.0  # seconds between checks whether connected users still have access
_WELL_S = 5.0  # seconds after such a check in which the store counts as usable
_VALID_S = 1.0  # a status depends on the time, too: a machine is `down` after a while without contact


class Api:
    """The state of a running server."""

    def __init__(self, ctx: Context, pool: Pool, work: Callable[[], None]) -> None:
        self.pool = pool
        self.controller_uuid = str(ctx.controller.settings().get("uuid", ""))
        # where uploads wait until they are checked
        self.staging = Staging(ctx.controller.root / "api" / "uploads")
        self.addresses: Sequence[tuple[str, int]] = ()  # (host, port) of all places where the server listens
        self.ca = ""  # the certificate that clients trust, as PEM
        self.public_name = ""  # the first name of the operator's certificate, or empty
        self.connections: set[Member] = set()
        self._audit: AuditLog | None = None
        self._auditing = threading.Lock()
        self.logins = Logins(pool, Attempts(time.monotonic), time.monotonic, self._note_refused)
        self.hub = Hub(pool)
        self.statuses = StatusAnswers(pool)
        self._work = work
        self._looking = pool.one_more()  # each SQLite connection counts versions of its own
        self._looked = 0.0  # when the store answered last, by the monotonic clock
        self._guard: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to check that connected users still have access, and whether the store answers."""
        self._looked = time.monotonic()
        self._guard = asyncio.create_task(self._look_after())

    async def close(self) -> None:
        """End all connections."""
        if self._guard is not None:
            self._guard.cancel()
            await asyncio.gather(self._guard, return_exceptions=True)
        await self._looking.close()
        await self.hub.close()
        await self.statuses.close()
        for connection in self.connections:
            self._end(connection, WSCloseCode.GOING_AWAY, "the server ends")
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._audit is not None:
            self._audit.close()

    def audit(self, ctx: Context) -> AuditLog:
        """Return the audit log of the controller; called in threads."""
        with self._auditing:
            if self._audit is None:
                self._audit = AuditLog(ctx)
            return self._audit

    def _note_refused(self, ctx: Context, user: str) -> None:
        self.audit(ctx).refused(user)

    def new_watchers(self, connection: Member) -> Watchers:
        return Watchers(self.hub, connection)

    def changed(self) -> None:
        """Wake the background work after a request's change, and let the watchers read the store."""
        self._work()
        self.hub.look()

    # --- who is connected ---------------------------------------------------------------------------------

    def has_room(self, peer: str) -> bool:
        """Return True when one more connection may come from an address."""
        waiting = sum(item.peer == peer and item.entered is None for item in self.connections)
        return len(self.connections) < limits.MOST_CONNECTIONS and waiting < limits.MOST_OF_ADDRESS

    def enter(self, connection: Member, entered: LoggedIn) -> None:
        """Record the user of a connection; raise ApiError when the user has too many connections."""
        users = Counter(item.entered.user for item in self.connections if item.entered)
        if users[entered.user] >= limits.MOST_OF_USER:
            raise errors.ApiError("too many connections", errors.TRY_AGAIN)
        connection.entered = entered

    async def _look_after(self) -> None:
        """End the connections of users who have lost their access, within a second of the change."""
        seen: tuple[int, int] | None = None
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                version = await self._looking.run(lambda ctx: ctx.store.version())
                self._looked = time.monotonic()
                if version != seen:
                    await self._end_refused()
                    seen = version
            except Exception:  # noqa: BLE001 - whatever fails is tried again, as the rights of users are at stake
                self._looked = -_WELL_S

    @property
    def is_well(self) -> bool:
        """True while the store answers; this reads nothing, so strangers may ask as often as they like."""
        return time.monotonic() - self._looked < _WELL_S

    async def _end_refused(self) -> None:
        entered = [(item, item.entered) for item in self.connections if item.entered]
        if not entered:
            return

        def judged(ctx: Context) -> tuple[list[Member], list[tuple[Member, str]]]:
            over = [item for item, user in entered if not login.still_in(ctx, user)]
            high = [(item, user.user) for item, user in entered if user.controller_access == call.SUPERUSER]
            levels = [(item, login.controller_access(ctx, user)) for item, user in high]
            return over, [(item, level) for item, level in levels if level != call.SUPERUSER]

        over, lowered = await self.pool.run(judged)
        for connection, level in lowered:
            connection.lower(level)
        for connection in over:
            self._end(connection, WSCloseCode.POLICY_VIOLATION, "access was taken away")

    def _end(self, connection: Member, code: int, reason: str) -> None:
        """End a connection without waiting for its client."""
        task = asyncio.create_task(connection.close(code, reason))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


class _Answer(NamedTuple):
    text: Encoded
    until: float


class StatusAnswers:
    """Reads statuses in a thread of its own, and keeps each for a second while nothing is written."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool.one_more()
        self._version: tuple[int, int] | None = None
        self._known: dict[Hashable, _Answer] = {}

    async def answer(self, key: Hashable, read: Callable[[Context], object]) -> Encoded:
        return await self._pool.run(lambda ctx: self._of(ctx, key, read))

    def _of(self, ctx: Context, key: Hashable, read: Callable[[Context], object]) -> Encoded:
        version, now = ctx.store.version(), time.monotonic()
        valid = version == self._version
        self._known = {name: item for name, item in self._known.items() if valid and item.until > now}
        self._version = version
        if key not in self._known:
            self._known[key] = _Answer(Encoded(messages.dumped(read(ctx))), time.monotonic() + _VALID_S)
        return self._known[key].text

    async def close(self) -> None:
        """End the thread."""
        await self._pool.close()
