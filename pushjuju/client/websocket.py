"""The network side of a connection to the API: websocket, HTTP and TLS.

The server must show a certificate of the CA that the user got at the registration. Needs aiohttp and PyNaCl.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from pushjuju.client.accounts import Account
from pushjuju.core.errors import ControllerUnreachable, NotValid

FAULTS = (aiohttp.ClientError, OSError, ValueError)
"""What a function of this module raises when the network or the server fails."""
HOST = "juju-apiserver"  # a name in the certificate of every controller
CONNECT_S, ANSWER_S = 20.0, 300.0
HEARTBEAT_S = 30.0  # between pings; without an answer in half that time the server is gone
_CLOSED = "the server closed the connection"
_LOOKS, _LOOK_S, _AT_ONCE = 200, 0.005, 3  # at a connection that ends; the first looks do not wait
LARGEST = 256 * 1024 * 1024  # bytes of an answer


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT` or `[HOST]:PORT`."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise NotValid(f'"{address}" is not an address of the form HOST:PORT')
    return host.strip("[]"), int(port)


class Addresses(AbstractResolver):
    """Resolves every name to the addresses of one controller."""

    def __init__(self, addresses: tuple[str, ...]) -> None:
        self._addresses = [split_address(address) for address in addresses]

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of the controller, with their ports."""
        del port, family
        found: list[ResolveResult] = []
        fault = OSError("the controller has no address")
        for name, number in self._addresses:
            try:
                infos = await asyncio.get_running_loop().getaddrinfo(name, number, type=socket.SOCK_STREAM)
            except OSError as error:
                fault = error
                continue
            found += [
                ResolveResult(
                    hostname=host, host=str(at[0]), port=int(at[1]), family=kind, proto=proto, flags=0
                )
                for kind, _, proto, _, at in infos
            ]
        if not found:
            raise fault
        return found

    async def close(self) -> None:
        """Nothing is open."""


class Socket:
    """An open websocket of a controller or of a model."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._number = 0
        self._used: list[Any] = []  # the network sockets of websockets

    async def open(self, path: str) -> None:
        """Connect to a path of the controller."""
        context = ssl.create_default_context(cadata=self._account.ca)
        places = Addresses(self._account.addresses)
        # without a cache, each connection tries the first address first
        connector = aiohttp.TCPConnector(resolver=places, use_dns_cache=False, ssl=context)
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        self._session = aiohttp.ClientSession(connector=connector, timeout=limits)
        async with asyncio.timeout(CONNECT_S):
            self._socket = await self._session.ws_connect(
                f"wss://{HOST}{path}", max_msg_size=LARGEST, heartbeat=HEARTBEAT_S
            )
        self._used.append(self._socket.get_extra_info("socket"))

    async def close(self) -> None:
        """Cut the connection; a server that does not answer delays the end by a second at most."""
        if self._session is not None:
            await self._session.close()
        if self._socket is not None:
            await self._socket.close()
        for look in range(_LOOKS):  # the loop hands the end of the connection on
            if all(item is None or item.fileno() == -1 for item in self._used):
                break
            await asyncio.sleep(_LOOK_S if look > _AT_ONCE else 0)

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and return the answer to it."""
        assert self._socket is not None, "the connection is open"
        self._number += 1
        async with asyncio.timeout(ANSWER_S):
            await self._socket.send_str(json.dumps({"request-id": self._number, **request}))
            while True:
                answer = await self.read()
                if answer.get("request-id") == self._number:
                    return answer

    async def read(self) -> dict[str, Any]:
        """Return the next message."""
        assert self._socket is not None, "the connection is open"
        message = await self._socket.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise ConnectionResetError(_CLOSED)
        found = json.loads(message.data)
        if not isinstance(found, dict):
            raise ValueError("the server sent something else than an answer")
        return found

    async def command(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Send a command line to a web terminal; return the frames of the answer."""
        assert self._socket is not None, "the connection is open"
        found: list[dict[str, Any]] = []
        async with asyncio.timeout(ANSWER_S):
            await self._socket.send_str(json.dumps(request))
            while not (found and "done" in found[-1]):
                found.append(await self.read())
        return found

    async def send_file(
        self, method: str, path: str, stream: Any, headers: Mapping[str, str]
    ) -> tuple[int, str, Mapping[str, str]]:
        """Send a file over HTTP; return status, body and headers of the answer."""
        assert self._session is not None, "the connection is open"
        sent = {"Authorization": self._basic(), **headers}
        async with self._session.request(
            method, f"https://{HOST}{path}", data=stream, headers=sent
        ) as answer:
            return answer.status, await answer.text(), dict(answer.headers)

    async def messages(self, path: str, params: list[tuple[str, str]]) -> AsyncGenerator[dict[str, Any]]:
        assert self._session is not None, "the connection is open"
        headers = {"Authorization": self._basic()}
        url = f"wss://{HOST}{path}"
        async with asyncio.timeout(CONNECT_S):
            found = await self._session.ws_connect(url, params=params, headers=headers, heartbeat=HEARTBEAT_S)
        async with found:
            self._used.append(found.get_extra_info("socket"))
            while (message := await found.receive()).type is aiohttp.WSMsgType.TEXT:
                yield json.loads(message.data)
            if found.close_code != aiohttp.WSCloseCode.OK:
                raise ConnectionResetError(_CLOSED)

    def _basic(self) -> str:
        words = f"user-{self._account.user}:{self._account.password}"
        return "Basic " + base64.b64encode(words.encode()).decode()


def unreachable(account: Account, error: Exception) -> ControllerUnreachable:
    """Return the error for users of a connection that failed."""
    where = ", ".join(account.addresses)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        text = f'the server at {where} has no certificate of controller "{account.name}"'
        hint = f"if the controller was made anew: pushjuju unregister {account.name}, then register"
        return ControllerUnreachable(text, detail=str(error.certificate_error), hint=hint)
    reason = "no answer in time" if isinstance(error, TimeoutError) else _reason(error)
    return ControllerUnreachable(
        f'controller "{account.name}" does not answer at {where}: {reason}',
        hint="on the host of the controller, `pushjuju api` serves it",
    )


def _reason(error: Exception) -> str:
    cause = getattr(error, "os_error", error)
    number = getattr(cause, "errno", None)
    text = os.strerror(number) if number and number > 0 else str(cause) or type(cause).__name__
    return text[:1].lower() + text[1:]


async def post_sealed(addresses: tuple[str, ...], user: str, key: bytes, payload: Any) -> tuple[int, Any]:
    """Send a sealed registration; return the status, and the opened answer or the error's body.

    The certificate is not checked: request and answer are sealed with the secret key.
    """
    box = SecretBox(key)
    sealed = box.encrypt(json.dumps(payload).encode())
    request = {
        "user": f"user-{user}",
        "nonce": base64.b64encode(sealed.nonce).decode(),
        "cipher-text": base64.b64encode(sealed.ciphertext).decode(),
    }
    connector = aiohttp.TCPConnector(resolver=Addresses(addresses), ssl=False)
    limits = aiohttp.ClientTimeout(total=CONNECT_S)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=limits) as session,
        session.post(f"https://{HOST}/register", json=request) as answer,
    ):
        body = json.loads(await answer.text())
        return answer.status, _opened(box, body) if answer.status == 200 else body


def _opened(box: SecretBox, answer: Mapping[str, Any]) -> Any:
    try:
        nonce, text = (base64.b64decode(answer[key]) for key in ("nonce", "cipher-text"))
        return json.loads(box.decrypt(text, nonce))
    except (CryptoError, ValueError, LookupError, TypeError) as error:
        raise ControllerUnreachable("the answer to the registration is not from the controller") from error
