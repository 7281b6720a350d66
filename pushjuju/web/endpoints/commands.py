"""The web terminal of Juju's dashboard as a websocket: a client sends command lines, and reads their output.

The first frame is `{}`. A request is `{"user", "credentials" or "macaroons", "commands"}`; the answer is a
frame `{"output": [LINE]}` for each line, with `"stderr": true` for lines of stderr, then `{"done": true}`.
When a command failed or was refused, the last frame has `error` and its `hint`, and `login`, which is false
when the user was refused. The command that starts the server gives it the function that runs a command line;
without such a function the server refuses all command lines. Mirrors: juju apiserver/embeddedcli.go (3.6)
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from aiohttp import WSMsgType, web

from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.services.entities.model import models
from pushjuju.web import decoding, errors, limits, messages, tags
from pushjuju.web.call import reach
from pushjuju.web.endpoints.streams import Stream, opened, served
from pushjuju.web.login import Proof
from pushjuju.web.login_macaroons import read_presented
from pushjuju.web.transport.sockets import Socket

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.rows.model import Model
    from pushjuju.web.api import Api
    from pushjuju.web.endpoints.transfers import Transfers

RunCommand = Callable[["Context", "Model", str, str, TextIO, TextIO], None]
"""Runs a command line that reads a model, with the rights of the context's user; raises PushjujuError.

The texts are the user's access to the model and the line. The two streams are stdout and stderr.
"""

_MOST_LINES = 20  # command lines of one request
_AT_ONCE = 2  # command lines that run at the same time
_OFF = "this server runs no commands: it was started without --web-cli"
_TURN_ON = "on the host of the controller: pushjuju api --web-cli"


@dataclass(frozen=True, slots=True, kw_only=True)
class CliCommands:
    """A request: name and password of the user, or macaroons, and command lines without `juju`."""

    user: str = ""
    credentials: str = ""
    macaroons: list[Any] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a command line wrote to stdout and stderr, and its error or None."""

    out: str
    err: str
    error: PushjujuError | None


class Commands:
    """Serves web terminals."""

    def __init__(self, transfers: Transfers, run: RunCommand | None) -> None:
        self._transfers = transfers
        self._run = run
        self._room = asyncio.Semaphore(_AT_ONCE)

    def routes(self) -> list[web.RouteDef]:
        """Return the paths of web terminals: of the controller, and of a model."""
        return [web.get(path, self._open) for path in ("/commands", "/model/{model}/commands")]

    async def _open(self, request: web.Request) -> web.StreamResponse:
        socket = await opened(self._transfers.api, request, limits.LARGEST_BEFORE_LOGIN)
        stream = _Terminal(self, self._transfers.api, socket, request.remote or "")
        return await served(stream, request)

    async def run(self, terminal: _Terminal, model: str, line: str) -> Printed:
        run, entered = self._run, terminal.entered
        assert entered is not None, "checked before"
        if run is None:
            raise errors.not_supported(_OFF, _TURN_ON)

        def act(ctx: Context) -> Printed:
            found = reach(ctx, model or models.own(ctx).uuid)
            with ctx.store.read() as tx:
                access = models.access_level(tx, ctx.user, found)
            out, err, failure = io.StringIO(), io.StringIO(), None
            try:
                run(ctx, found, access, line, out, err)
            except PushjujuError as error:
                failure = error
            return Printed(out=out.getvalue(), err=err.getvalue(), error=failure)

        async with self._room:
            return await self._transfers.run(entered, act)


class _Terminal(Stream):
    """One client that runs commands."""

    def __init__(self, commands: Commands, api: Api, socket: Socket, peer: str) -> None:
        super().__init__(api, socket, peer)
        self._commands = commands

    async def serve(self, request: web.Request) -> None:
        """Answer requests until the client disconnects."""
        await self.send("{}\n")
        model = request.match_info.get("model", "")
        async for message in self.socket:
            if message.type is not WSMsgType.TEXT:
                break
            await self._answer(message.data, model)
        await self.close()

    async def _answer(self, text: str, model: str) -> None:
        done: dict[str, object] = {"done": True}
        try:
            await self._carry_out(text, model)
        except Exception as error:  # noqa: BLE001 - a bug ends a request, never the server
            done["error"] = told = errors.told(error)
            done["hint"] = error.hint if isinstance(error, PushjujuError) else ""
            done["login"] = self.entered is not None
            if told["message"]:
                await self._print(f"ERROR {told['message']}", stderr=True)
        await self.send(messages.dumped(done))

    async def _carry_out(self, text: str, model: str) -> None:
        """Run the command lines of a request, up to the first that fails."""
        asked = decoding.decode(CliCommands, messages.parse(text), "request")
        if len(asked.commands) > _MOST_LINES:
            raise NotValid(f"more than {_MOST_LINES} commands in one request")
        await self._enter(asked, model)
        for line in asked.commands:
            printed = await self._commands.run(self, model, line)
            for shown in printed.out.splitlines():
                await self._print(shown)
            for shown in printed.err.splitlines():
                await self._print(shown, stderr=True)
            if printed.error is not None:
                raise printed.error

    async def _enter(self, asked: CliCommands, model: str) -> None:
        """Check name and password; each request has its own."""
        self.entered = None
        if not asked.user:
            raise errors.not_supported("CLI command for anonymous user not supported")
        name = tags.user(asked.user) if asked.user.startswith("user-") else asked.user
        presented = read_presented(asked.macaroons) if asked.macaroons else ()
        proof = Proof(name=name, password=asked.credentials, macaroons=presented)
        entered = await self.api.logins.check_proof(proof, peer=self.peer, model=model)
        self.api.enter(self, entered)

    async def _print(self, line: str, **more: bool) -> None:
        await self.send(messages.dumped({"output": [line], **more}))
