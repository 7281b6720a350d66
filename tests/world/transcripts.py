"""Plays transcripts: the requests of a client, and the fields that the client reads from the answers.

A transcript is a JSON file: `client`, `source` (what the transcript was written from) and `steps`. A step has
a name, `calls`, and `on`: "controller", or the UUID of a model. Each step has its own connection and login.
A call:

- `send`: {type, version, request, params}; or `http`: {method, path, headers, body} with a password,
  whose answer is {status, headers, body};
- `expect`: path -> what must be there. The parts of a path are separated by dots; `*` stands for each item of
  a list or map. A value is a word for a type (`WORDS`), `=TEXT` for this text, `~TEXT` for a text that
  contains TEXT, or the number, flag, list or map itself;
- `refused`: {code, text}, what the error of the whole call must be; `text` is a part of the message;
- `until`: as `expect`, but the call is repeated, and the played machines work before each repetition;
- `learn`: name -> path; later calls use the value as `${name}`, alone or within a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from tests.world.api import ApiClient, ApiFailed, ApiWorld, basic

REPETITIONS = 20
_VARIABLE = re.compile(r"\$\{([a-z0-9_]+)\}")
WORDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str) and value != "",
    "any text": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "number": lambda value: isinstance(value, str) and value.isdecimal(),
    "absent": lambda value: value is None,
}


class Player:
    """Plays the transcripts of a client against a server.

    Attributes:
        known: name -> value of the variables.
        work: Lets the played machines work.
    """

    def __init__(self, served: ApiWorld, work: Callable[[], object], **known: Any) -> None:
        self.known = known
        self._served = served
        self._work = work

    async def play(self, transcript: Mapping[str, Any]) -> None:
        """Play all steps of a transcript."""
        for step in transcript["steps"]:
            on = self.filled(step["on"])
            async with self._served.entered("" if on == "controller" else on) as client:
                for number, call in enumerate(step["calls"]):
                    await self._call(client, call, f"{step['step']}, call {number}")

    async def _call(self, client: ApiClient, call: Mapping[str, Any], where: str) -> None:
        for _ in range(REPETITIONS if "until" in call else 1):
            answer = await self._asked(client, call)
            wrong = self._wrong(answer, call.get("until") or call.get("expect", {}))
            if not wrong:
                break
            self._work()
        assert not wrong, f"{where}: {wrong} in {json.dumps(answer)[:3000]}"
        for name, path in call.get("learn", {}).items():
            (self.known[name],) = found(answer, self.filled(path))

    async def _asked(self, client: ApiClient, call: Mapping[str, Any]) -> Any:
        """Return the response, or an empty map for a call that is refused as it must be."""
        if "http" in call:
            return await self._transfer(self.filled(call["http"]))
        send = self.filled(call["send"])
        try:
            answer = await client.ask(send["type"], send["version"], send["request"], send.get("params"))
        except ApiFailed as error:
            refused = call.get("refused")
            if refused is None or error.code != refused["code"] or refused.get("text", "") not in str(error):
                raise
            return {}
        assert "refused" not in call, answer
        return answer

    async def _transfer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        body = asked.get("body", b"")
        headers = {"Authorization": basic(), **asked.get("headers", {})}
        url = f"https://{self._served.endpoint}{asked['path']}"
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                asked["method"], url, data=body, headers=headers, ssl=self._served.trust
            ) as answer,
        ):
            body = json.loads(await answer.read())
            return {"status": answer.status, "headers": dict(answer.headers), "body": body}

    def filled(self, value: Any) -> Any:
        """Return a value of a transcript with the variables in its texts replaced."""
        if isinstance(value, dict):
            return {self.filled(key): self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        if alone := _VARIABLE.fullmatch(value):
            return self.known[alone[1]]
        return _VARIABLE.sub(lambda match: str(self.known[match[1]]), value)

    def _wrong(self, answer: Any, expected: Mapping[str, Any]) -> list[str]:
        """Return the paths whose values are not what a transcript expects."""
        return [
            f"{path} is not {wanted!r}"
            for path, wanted in self.filled(expected).items()
            if not all(fits(value, wanted) for value in found(answer, path))
        ]


def fits(value: Any, wanted: Any) -> bool:
    """Return True when a value is what a transcript expects."""
    if not isinstance(wanted, str):
        return bool(value == wanted)
    if wanted[:1] == "=":
        return bool(value == wanted[1:])
    if wanted[:1] == "~":
        return isinstance(value, str) and wanted[1:] in value
    return WORDS[wanted](value)


def found(answer: Any, path: str) -> list[Any]:
    """Return the values at a path; None stands for a part that is not there."""
    values = [answer]
    for part in path.split("."):
        values = [item for value in values for item in _inside(value, part)]
    return values


def _inside(value: Any, part: str) -> list[Any]:
    if part == "*":
        return list(value.values() if isinstance(value, dict) else value or ())
    if isinstance(value, list):
        return [value[int(part)] if part.isdecimal() and int(part) < len(value) else None]
    return [value.get(part) if isinstance(value, dict) else None]
