"""The common work of HTTP endpoints: Basic authentication, access, and bodies that are written to a file.

A body is hashed, and its size checked, while the server reads it.
Mirrors: juju apiserver/charms.go, resources.go (3.6)
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import web

from pushjuju.core.errors import NotValid, PushjujuError, UsageError
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.entities.model import controller_config, models
from pushjuju.web import errors, macaroons, messages, tags
from pushjuju.web.audit import Speaker, answering
from pushjuju.web.call import reach, require_unblocked
from pushjuju.web.login import Proof
from pushjuju.web.login_macaroons import Presented, read_presented
from pushjuju.web.pool import PEER

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.web.api import Api
    from pushjuju.web.login import LoggedIn
    from pushjuju.web.macaroons import Macaroon

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_COOKIES = "macaroon-"  # how the names of cookies with macaroons begin
COOKIE = f"{_COOKIES}login"
MOST_AT_ONCE = 4  # uploads of one user
CONTROLLER_CHARMS = "/charms"  # the path of the charms of the controller's own model
_SLOWEST, _WITHIN_S = 1024, 60.0  # bytes that a client must send at least in that time
_STATUS = {
    errors.UNAUTHORIZED: 401, errors.NO_CREDENTIALS: 401, errors.NOT_FOUND: 404, errors.MODEL_NOT_FOUND: 404,
    errors.BAD_REQUEST: 400, errors.FORBIDDEN: 403, errors.TRY_AGAIN: 429, "operation is blocked": 400,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The body of a request in a file that is deleted after the block; the digests are in hex."""

    path: Path
    sha256: str
    sha384: str


class Transfers:
    """Checks the users of HTTP endpoints, and receives their files."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._under_way: Counter[str] = Counter()

    async def enter(self, request: web.Request) -> LoggedIn:
        """Return the user of a request.

        Raises:
            ApiError: The name or password is wrong, or the user has no access to the model of the path.
        """
        model = request.match_info.get("model", "")
        if request.path == CONTROLLER_CHARMS:
            model = await self.api.pool.run(lambda ctx: models.own(ctx).uuid)
        return await self.api.logins.check_proof(_proof(request), peer=request.remote or "", model=model)

    async def run(self, entered: LoggedIn, act: Callable[[Context], T]) -> T:
        """Run a function in a thread with the rights of a user, and return the function's result."""
        return await self.api.pool.run(lambda ctx: act(replace(ctx, user=entered.user)))

    async def change(self, entered: LoggedIn, name: str, act: Callable[[Context], T]) -> T:
        """Do the same as `run` for a function that changes something, with lines in the audit log."""
        model = entered.model.uuid if entered.model else ""

        def noted(ctx: Context) -> T:
            conversation = self.api.audit(ctx).conversation(Speaker(user=ctx.user, model=model))
            caller = Caller(door="api", command=name, host=PEER.get(), verified=True)
            own = replace(ctx, caller=caller)
            with conversation.request(0, name, 0, {}), answering(own):
                return act(own)

        return await self.run(entered, noted)

    async def admit(self, request: web.Request, level: str) -> tuple[LoggedIn, str]:
        """Return the user, and the UUID of the path's model, to which the user must have a level of access.

        Raises:
            ApiError: The user is refused, or has no such access.
            Blocked: The commands that change the model are disabled, and the level is not `read`.
        """
        entered = await self.enter(request)
        assert entered.model is not None, "the path names a model"
        model = entered.model.uuid

        def check(ctx: Context) -> None:
            reach(ctx, model, level)
            if level != "read":
                require_unblocked(ctx, model, blocks.CHANGE)

        await self.run(entered, check)
        return entered, model

    @asynccontextmanager
    async def received(self, request: web.Request, user: str, largest: int) -> AsyncIterator[Received]:
        """Receive the body of a request in a file, which is deleted after the block."""
        if self._under_way[user] >= MOST_AT_ONCE:
            raise errors.ApiError("too many uploads at once", errors.TRY_AGAIN)
        self._under_way[user] += 1
        try:
            with self.api.staging.folder() as folder:
                yield await self._receive(request, folder / "upload", largest)
        finally:
            self._under_way[user] -= 1

    async def _receive(self, request: web.Request, path: Path, largest: int) -> Received:
        short, long = hashlib.sha256(), hashlib.sha384()

        def keep(chunk: bytes) -> None:
            self.api.staging.require_room(len(chunk))
            short.update(chunk)
            long.update(chunk)
            file.write(chunk)

        self.api.staging.require_room(request.content_length or 0)
        with path.open("wb") as file:
            try:
                await _read_body(request, largest, keep)
            except TimeoutError:
                raise web.HTTPRequestTimeout(text="the upload is too slow\n") from None
        return Received(path=path, sha256=short.hexdigest(), sha384=long.hexdigest())


async def require_room(api: Api, request: web.Request) -> None:
    """Check that a websocket may be opened.

    Raises:
        HTTPException: A web page of another origin opens the websocket, as its `Origin` shows, or there are
            too many connections.
    """
    origin = request.headers.get("Origin")
    if origin is not None and not await _may_connect(api, origin, request.headers.get("Host", "")):
        raise web.HTTPForbidden(text="this origin may not connect\n")
    if not api.has_room(request.remote or ""):
        raise web.HTTPServiceUnavailable(text="too many connections\n")


async def _may_connect(api: Api, origin: str, host: str) -> bool:
    """Return True for a page of this server, or of an origin that the controller allows now."""
    if host and origin.partition("://")[2] == host:
        return True
    return await api.pool.run(lambda ctx: origin in _allowed(ctx))


def _allowed(ctx: Context) -> frozenset[str]:
    return controller_config.parse_origins(str(ctx.controller.config().get(controller_config.ORIGINS, "")))


def refusing(handler: Handler, body: Callable[[errors.Error], Any], invalid: int = 400) -> Handler:
    """Return a handler that answers a refused request as `refusal` does."""

    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except PushjujuError as error:
            return refusal(error, body, invalid)

    return answer


def refusal(error: BaseException, body: Callable[[errors.Error], Any], invalid: int = 400) -> web.Response:
    """Return the answer to a request that is refused; `invalid` is the HTTP status of NotValid."""
    found = errors.told(error)
    is_invalid = isinstance(error, (NotValid, UsageError))
    status = invalid if is_invalid else _STATUS.get(found["code"], 500)
    headers = {"WWW-Authenticate": 'Basic realm="juju"'} if status == 401 else {}
    return web.json_response(body(found), status=status, headers=headers)


def _proof(request: web.Request) -> Proof:
    """Return name and password of Basic authentication, or the macaroons of a header."""
    name, password = _credentials(request)
    found = [_macaroons(text) for text in request.headers.getall("Macaroons", ()) if not password]
    return Proof(name=name, password=password, macaroons=[item for every in found for item in every])


def presented(request: web.Request) -> Presented:
    """Return the macaroons in the cookies of a request, and in its header `Macaroons`."""
    texts = [text for name, text in request.cookies.items() if name.startswith(_COOKIES)]
    found = [_macaroons(text) for text in (*texts, *request.headers.getall("Macaroons", ()))]
    return [item for every in found for item in every]


def cookie_value(made: Macaroon) -> str:
    return macaroons.base64_text(messages.dumped([made.document()]).encode())


def _macaroons(text: str) -> Presented:
    """Return the macaroons of a cookie or header: JSON in base64; none when it cannot be read."""
    try:
        return read_presented(messages.parse(macaroons.read_base64(text).decode()))
    except (ValueError, NotValid):
        return []


def _credentials(request: web.Request) -> tuple[str, str]:
    """Return name and password of Basic authentication, both may be empty; the name may be a tag."""
    kind, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise errors.refused_login() from None
    try:
        return (tags.user(name) if name.startswith("user-") else name), password
    except NotValid:
        raise errors.refused_login() from None


async def read_small(request: web.Request, largest: int) -> bytes:
    """Return the body of a request, however many packets bring it.

    Raises:
        ApiError: The body has more bytes than `largest`, or is too slow.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(_WITHIN_S):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > largest:
                    raise errors.ApiError(f"the body has more than {largest} bytes", errors.BAD_REQUEST)
    except TimeoutError:
        raise errors.ApiError("the body is too slow", errors.BAD_REQUEST) from None
    return bytes(body)


async def _read_body(request: web.Request, largest: int, keep: Callable[[bytes], None]) -> None:
    if (request.content_length or 0) > largest:
        raise web.HTTPRequestEntityTooLarge(largest, request.content_length or 0)
    size, since = 0, 0
    deadline = asyncio.get_running_loop().time() + _WITHIN_S
    async with asyncio.timeout(None) as limit:
        async for chunk in request.content.iter_chunked(1024 * 1024):
            size, since = size + len(chunk), since + len(chunk)
            if size > largest:
                raise web.HTTPRequestEntityTooLarge(largest, size)
            if since >= _SLOWEST:
                since, deadline = 0, asyncio.get_running_loop().time() + _WITHIN_S
            limit.reschedule(deadline)
            await asyncio.to_thread(keep, chunk)
