"""An API server for a controller in a folder, and clients with a real socket."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Self

import aiohttp

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.requests.user import passwords, users
from pushjuju.web.endpoints.commands import RunCommand
from pushjuju.web.server import Address, Server

PASSWORD = "a-password-of-tests"


def basic(user: str = "admin", password: str = PASSWORD) -> str:
    """Return the header Authorization of HTTP endpoints."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class ApiFailed(Exception):
    """The server answered with an error."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__(answer["error"])
        self.code = answer.get("error-code", "")


class ApiClient:
    """A connection that speaks JSON."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self._numbers = count(1)

    async def send(
        self, kind: str, method: str, params: Any = None, *, version: int = 0, name: str = ""
    ) -> int:
        """Send a request, and return its number."""
        number = next(self._numbers)
        message = {
            "request-id": number, "type": kind, "version": version, "request": method, "params": params,
            "id": name,
        }  # fmt: skip
        await self.socket.send_str(json.dumps(message))
        return number

    async def read(self) -> dict[str, Any]:
        """Return the next message."""
        found: dict[str, Any] = json.loads(
            await self.socket.receive_str(timeout=60)
        )  # a busy computer is slow
        return found

    async def ask(self, kind: str, version: int, method: str, params: Any = None, *, name: str = "") -> Any:
        """Return the response to a request; fail when the next message is not the response."""
        number = await self.send(kind, method, params, version=version, name=name)
        answer = await self.read()
        assert answer["request-id"] == number
        if "error" in answer:
            assert answer["response"] == {}
            raise ApiFailed(answer)
        return answer["response"]

    async def login(self, user: str = "admin", password: str = PASSWORD) -> Any:
        """Log in, and return the response."""
        params = {"auth-tag": f"user-{user}", "credentials": password}
        return await self.ask("Admin", 3, "Login", params)


class ApiWorld:
    """An API server on this host."""

    def __init__(self, ctx: Context, server: Server) -> None:
        self.ctx = ctx
        self.server = server
        self.api = server.api
        self.worked = 0

    @property
    def endpoint(self) -> str:
        """`HOST:PORT`."""
        host, port = self.api.addresses[0]
        return f"{host}:{port}"

    @property
    def trust(self) -> ssl.SSLContext:
        """A TLS context that trusts the controller's CA."""
        return ssl.create_default_context(cadata=self.api.ca)

    def add_user(self, name: str, password: str = PASSWORD) -> None:
        users.add(self.ctx, name, "")
        passwords.set_password(self.ctx, name, password)

    @asynccontextmanager
    async def connect(self, model: str = "", **headers: str) -> AsyncIterator[ApiClient]:
        """Connect to the controller or to a model without a login."""
        path = f"/model/{model}/api" if model else "/api"
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(
                f"wss://{self.endpoint}{path}", ssl=self.trust, max_msg_size=0, headers=headers
            ) as socket,
        ):
            yield ApiClient(socket)

    @asynccontextmanager
    async def entered(self, model: str = "", user: str = "admin") -> AsyncIterator[ApiClient]:
        """Connect and log in."""
        async with self.connect(model) as client:
            await client.login(user)
            yield client

    @classmethod
    @asynccontextmanager
    async def serve(
        cls, ctx: Context, commands: RunCommand | None = None, names: Collection[str] = ()
    ) -> AsyncIterator[Self]:
        """Serve a controller until the end of the block; the tests know admin's password."""
        world: list[Self] = []

        def work() -> None:
            world[0].worked += 1

        listen = [Address("127.0.0.1", 0)]
        made = cls(ctx, Server(ctx, listen, work, commands=commands, names=names))
        world.append(made)
        passwords.set_password(ctx, "admin", PASSWORD)
        await made.server.start()
        try:
            yield made
        finally:
            await made.server.close()
