"""One websocket connection: its login, its requests, and the order of what is sent.

Requests of a connection run in parallel, up to a limit; those that change something run in order. No
watcher reports a change before the answer to the request that made the change has been sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode, WSMsgType

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.web import access, admin, call, errors, limits, messages, registry
from pushjuju.web.audit import Conversation, Speaker, answered, answering
from pushjuju.web.registry import On

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.web.api import Api
    from pushjuju.web.login import LoggedIn
    from pushjuju.web.registry import Method
    from pushjuju.web.transport.sockets import Socket
    from pushjuju.web.watch.watchers import Watchers


class Connection:
    """A connection to the controller, or to one of its models."""

    def __init__(self, api: Api, socket: Socket, *, peer: str, host: str, model: str = "") -> None:
        self.api = api
        self.peer = peer
        self.host = host  # the host and port of this server, as the client calls them
        self.model = model  # the UUID of the connection's model, or empty
        self.entered: LoggedIn | None = None  # the user, or None before Login
        self.what = ""  # the command that the client runs, as the client gives it
        self._conversation: Conversation | None = None
        self.watchers: Watchers = api.new_watchers(self)
        self._socket = socket
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._order = asyncio.Lock()
        self._room = asyncio.Semaphore(limits.MOST_UNDER_WAY)
        self._changing = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._unsent = 0
        self._login_until = asyncio.get_running_loop().time() + limits.LOGIN_WITHIN_S

    @property
    def on(self) -> On:
        return On.MODEL if self.model else On.CONTROLLER

    # --- reading ------------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Read requests until the client disconnects, or breaks a rule."""
        try:
            while await self._read():
                pass
        finally:
            self.watchers.stop_all()
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> bool:
        """Read one message; return False when the connection is over."""
        try:
            if self.entered:
                message = await self._socket.receive(timeout=limits.IDLE_S)
            else:  # neither pings nor refused requests give a client more time
                async with asyncio.timeout_at(self._login_until):
                    message = await self._socket.receive()
        except TimeoutError:
            await self.close(WSCloseCode.POLICY_VIOLATION, "no message for too long")
            return False
        if message.type is not WSMsgType.TEXT:
            return False
        if self.entered is None and len(message.data) > limits.LARGEST_BEFORE_LOGIN:
            await self.close(WSCloseCode.MESSAGE_TOO_BIG, "message too big")
            return False
        return await self._take(message.data)

    async def _take(self, text: str) -> bool:
        """Begin to answer a request; return False when a wrong request has closed the connection."""
        try:
            request = await self._read_request(text)
        except errors.BadMessage as error:
            await self._send(messages.failure(error.number, errors.told(error)))
            if error.number:
                return True
            await self.close(WSCloseCode.POLICY_VIOLATION, "bad message")
            return False
        if request.id in self._tasks:
            await self.close(WSCloseCode.POLICY_VIOLATION, "a request-id is used twice")
            return False
        await self._room.acquire()
        if self.entered is not None:
            await registry.ready(
                request.facade
            )  # here, because requests that change something keep their order
        task = asyncio.create_task(self._answer(request))
        self._tasks[request.id] = task
        task.add_done_callback(lambda _: self._finished(request.id))
        if self.entered is None:  # no other message is read before the answer to Login
            await asyncio.wait({task})
        return True

    async def _read_request(self, text: str) -> messages.Request:
        """Parse a message; a large one in a thread, so that other connections are served meanwhile."""
        if len(text) > limits.LARGEST_READ_AT_ONCE:
            return await asyncio.to_thread(messages.read_request, text)
        return messages.read_request(text)

    def _finished(self, number: int) -> None:
        self._tasks.pop(number, None)
        self._room.release()

    # --- answering ----------------------------------------------------------------------------------------

    async def _answer(self, request: messages.Request) -> None:
        try:
            await self._dispatch(request)
        except Exception as error:  # noqa: BLE001 - a bug ends a request, never the server
            await self._send(messages.failure(request.id, errors.told(error)))

    async def _dispatch(self, request: messages.Request) -> None:
        if request.facade == "Admin":
            await self._send(
                messages.answer(request.id, await admin.answer(self.api, self, self.model, request))
            )
            return
        if self.entered is None:
            raise errors.ApiError("not logged in", errors.UNAUTHORIZED)
        method = registry.find(request.facade, request.version, request.method, self.on)
        params = method.arguments(request.params)
        if method.waits:
            pool = self.api.pool
            run = pool.run_patiently if request.method == "Next" else pool.run
            made = await run(lambda ctx: self._facade(ctx, method, request))
            answer = await getattr(made, method.attribute)(**params)
            await self._send(messages.answer(request.id, answer))
        elif method.changes:
            await self._change(lambda ctx: self._carry_out_noted(ctx, method, request, params))
        else:
            await self._send(
                await self.api.pool.run(lambda ctx: self._carry_out(ctx, method, request, params))
            )

    @property
    def _user(self) -> str:
        assert self.entered is not None, "checked before"
        return self.entered.user

    def _facade(
        self, ctx: Context, method: Method, request: messages.Request, caller: Caller | None = None
    ) -> registry.Facade:
        """Return the facade for a request, after the check of access; runs in a thread."""
        ctx = replace(ctx, user=self._user, caller=caller or self._caller(request))
        model = access.permit(ctx, method, self.model)
        return method.facade(
            call.Call(
                ctx=ctx,
                server=self.api,
                watchers=self.watchers,
                model=model,
                version=request.version,
                object=request.object,
            )
        )

    def _caller(self, request: messages.Request) -> Caller:
        command = f"{request.facade}.{request.method}"
        made = Caller(door="api", command=command, host=self.peer, verified=True)
        if self.entered is not None and (found := self.entered.model):
            made.course.model = found.qualified, found.uuid
        return made

    def _carry_out(
        self, ctx: Context, method: Method, request: messages.Request, params: Mapping[str, Any]
    ) -> str:
        """Return the message that answers a request; runs in a thread."""
        try:
            made = self._facade(ctx, method, request)
            return messages.answer(request.id, getattr(made, method.attribute)(**params))
        except PushjujuError as error:
            return messages.failure(request.id, errors.told(error))

    def _carry_out_noted(
        self, ctx: Context, method: Method, request: messages.Request, params: Mapping[str, Any]
    ) -> str:
        """Do the same as `_carry_out`, with lines in the audit log before and after the request."""
        noted = self._conversation = self._conversation or self._begin(ctx)
        noted.asked(request.id, f"{request.facade}.{request.method}", request.version, request.params)
        failed = [errors.Error(message="internal error", code="")]
        caller = self._caller(request)
        try:
            with answering(replace(ctx, user=self._user, caller=caller)) as own:
                made = self._facade(ctx, method, request, caller)
                found = getattr(made, method.attribute)(**params)
            answer = messages.answer(request.id, found)
            failed = list(errors.of_items(found))
            answered(own, failed)
            return answer
        except PushjujuError as error:
            failed = [errors.told(error)]
            return messages.failure(request.id, failed[0])
        finally:
            noted.answered(request.id, *failed)

    def _begin(self, ctx: Context) -> Conversation:
        assert self.entered is not None, "checked before"
        found = self.entered.model
        named = {"model": found.uuid, "model_name": found.qualified} if found else {}
        return self.api.audit(ctx).conversation(Speaker(user=self.entered.user, what=self.what, **named))

    async def _change(self, act: Callable[[Context], str]) -> None:
        """Carry out a request that changes something; watchers wait until its answer has been sent."""
        self._changing += 1
        self._quiet.clear()
        try:
            async with self._order:
                text = await self.api.pool.run(act)
            await self._send(text)
        finally:
            self._changing -= 1
            if not self._changing:
                self._quiet.set()
            self.api.changed()

    def lower(self, level: str) -> None:
        """Note a lower access to the controller; the watchers end, as they may show too much now."""
        assert self.entered is not None, "the user had a higher access"
        self.entered = replace(self.entered, controller_access=level)
        self.watchers.stop_all()

    async def quiet(self) -> None:
        await self._quiet.wait()

    # --- sending ------------------------------------------------------------------------------------------

    async def _send(self, text: str) -> None:
        size = len(text)
        self._unsent += size
        try:
            if self._unsent > limits.MOST_UNSENT:
                await self.close(WSCloseCode.INTERNAL_ERROR, "the client reads too slowly")
                return
            async with asyncio.timeout(limits.SEND_WITHIN_S):
                await self._socket.send_str(text)
        except TimeoutError:
            await self.close(WSCloseCode.INTERNAL_ERROR, "the client reads too slowly")
        except ConnectionError:
            pass  # `_read` sees the end of the connection, too
        finally:
            self._unsent -= size

    async def close(self, code: int = WSCloseCode.OK, reason: str = "") -> None:
        await self._socket.end(code, reason)
