"""The log of a model as a websocket: a frame with a status, then a frame for each line.

Mirrors: juju apiserver/debuglog.go (3.6)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.model import models
from pushjuju.services.views.listings import log_selection
from pushjuju.services.views.listings.log_selection import Record, Selection
from pushjuju.web import errors, messages, times
from pushjuju.web.call import reach
from pushjuju.web.endpoints.streams import Stream, opened, served
from pushjuju.web.subscriptions import Wanted
from pushjuju.web.transport.sockets import Socket

if TYPE_CHECKING:
    from multidict import MultiMapping

    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.rows.model import Model
    from pushjuju.web.endpoints.transfers import Transfers

_LARGEST = 1024  # the most bytes of a client's message, which is ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """The part of a log that a client asks for."""

    selection: Selection
    backlog: int | None = 0  # newest lines to send first; None stands for the whole log
    limit: int = 0  # the stream ends after this many lines; 0 stands for no limit
    since: str = ""  # older lines are left out: a time in the form of the store, or empty
    follow: bool = True

    @classmethod
    def read(cls, query: MultiMapping[str]) -> LogOptions:
        """Read the query of a request; raise ApiError when a value is not valid."""
        limit = _number(query, "limit") or _number(query, "maxLines")
        since = _time(query.get("startTime", ""))
        whole = bool(since) or _flag(query, "replay")
        return cls(
            selection=_selection(query), backlog=None if whole else _number(query, "backlog"), limit=limit,
            since=since, follow=not _flag(query, "noTail"),
        )  # fmt: skip


class LogStream:
    """Serves the logs of models."""

    def __init__(self, transfers: Transfers) -> None:
        self._transfers = transfers

    def routes(self) -> list[web.RouteDef]:
        """Return the paths of logs: of the controller's own model, and of any model."""
        return [web.get(path, self._open) for path in ("/log", "/model/{model}/log")]

    async def _open(self, request: web.Request) -> web.StreamResponse:
        socket = await opened(self._transfers.api, request, _LARGEST)
        return await served(_LogReader(self._transfers, socket, request.remote or ""), request)


class _LogReader(Stream):
    """One client that reads a log."""

    def __init__(self, transfers: Transfers, socket: Socket, peer: str) -> None:
        super().__init__(transfers.api, socket, peer)
        self._transfers = transfers
        self._model = ""
        self._last = 0
        self._left = 0

    async def serve(self, request: web.Request) -> None:
        """Send the log until the client disconnects, or has all requested lines."""
        try:
            options = await self._enter(request)
        except PushjujuError as error:
            await self.send(messages.dumped({"error": errors.told(error)}) + "\n")
        else:
            await self.send("{}\n")
            sending = asyncio.create_task(self._stream(options))
            leaving = asyncio.create_task(self._until_gone())
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        await self.close()

    async def _enter(self, request: web.Request) -> LogOptions:
        entered = await self._transfers.enter(request)
        self._model = await self._transfers.run(entered, lambda ctx: _reached(ctx, entered.model))
        options = LogOptions.read(request.query)
        self.api.enter(self, entered)
        return options

    async def _until_gone(self) -> None:
        async for _ in self.socket:  # messages of the client are ignored
            pass

    # --- sending ------------------------------------------------------------------------------------------

    async def _stream(self, options: LogOptions) -> None:
        """Send the backlog, then new lines after each write to the store."""
        self._left = options.limit or -1
        hub = self.api.hub
        signal = await hub.listen(Wanted(facade="Log", model=self._model, read=_nothing, writes=True))
        try:
            await self._send_lines(await self._run(lambda ctx: self._backlog(ctx, options)))
            while options.follow or options.backlog is None:
                signal.news.clear()
                while lines := await self._run(lambda ctx: self._page(ctx, options)):
                    await self._send_lines(lines)
                if not options.follow or self._left == 0 or signal.stopped:
                    return
                await signal.news.wait()
        except PushjujuError:  # the model was removed, or the user has lost access
            return
        finally:
            hub.unlisten(signal)

    async def _run(self, read: Callable[[Context], Sequence[Record]]) -> Sequence[Record]:
        assert self.entered is not None, "checked before"
        user = self.entered.user
        return await self.api.pool.run_patiently(lambda ctx: read(replace(ctx, user=user)))

    def _backlog(self, ctx: Context, options: LogOptions) -> Sequence[Record]:
        """Return the newest lines, oldest first, after which the stream continues."""
        if options.backlog is None:
            return []
        self._last = logs.newest(ctx.store, self._model)
        shown = options.selection.predicate()
        found = filter(shown, logs.newest_first(ctx.store, self._model, _among(options)))
        return [*islice((item for item in found if item.id <= self._last), options.backlog)][::-1]

    def _page(self, ctx: Context, options: LogOptions) -> Sequence[Record]:
        """Return the next lines to send; empty without new lines."""
        reach(ctx, self._model)
        shown = options.selection.predicate()
        for page in logs.pages_after(ctx.store, self._model, self._last, _among(options)):
            self._last = page[-1].id
            if found := [item for item in page if item.time >= options.since and shown(item)]:
                return found
        return []

    async def _send_lines(self, lines: Sequence[Record]) -> None:
        for item in lines:
            if self._left == 0:
                return
            self._left -= 1
            await self.send(_frame(item))


def _reached(ctx: Context, model: Model | None) -> str:
    """Return the UUID of a model, or of the controller's own for None, that the caller may read."""
    return reach(ctx, (model or models.own(ctx)).uuid).uuid


def _nothing(_ctx: Context, _models: object) -> None:
    """Return no answer, because a stream reads the log itself."""


def _among(options: LogOptions) -> logs.Among:
    return logs.Among(levels=options.selection.levels(), entities=options.selection.tags())


def _frame(item: Record) -> str:
    return messages.dumped(
        {
            "tag": item.entity, "ts": item.time, "sev": item.level, "mod": item.module, "loc": item.location,
            "msg": item.message, "lab": item.labels.split(",") if item.labels else None,
        }
    )  # fmt: skip


# --- the query --------------------------------------------------------------------------------------------


def _selection(query: MultiMapping[str]) -> Selection:
    level = query.get("level", "").upper()
    if level and level not in log_selection.CHOICES:
        listed = ", ".join(f'"{word}"' for word in log_selection.CHOICES)
        raise _invalid(f'level value "{level}" is not one of {listed}')
    return Selection(
        level=level,
        include=query.getall("includeEntity", []),
        exclude=query.getall("excludeEntity", []),
        include_module=query.getall("includeModule", []),
        exclude_module=query.getall("excludeModule", []),
        include_label=query.getall("includeLabel", []),
        exclude_label=query.getall("excludeLabel", []),
    )


def _number(query: MultiMapping[str], name: str) -> int:
    text = query.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _invalid(f'{name} value "{text}" is not a valid unsigned number')
    return int(text or 0)


def _flag(query: MultiMapping[str], name: str) -> bool:
    text = query.get(name, "")
    if text not in ("", "true", "false"):
        raise _invalid(f'{name} value "{text}" is not a valid boolean')
    return text == "true"


def _time(text: str) -> str:
    try:
        return to_iso(times.read(text)) if text else ""
    except NotValid as error:
        raise _invalid(f"start time {error.message}") from None


def _invalid(text: str) -> errors.ApiError:
    return errors.ApiError(text, errors.BAD_REQUEST)
