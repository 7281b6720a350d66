"""Messages of the API: reads JSON within limits, and writes compact JSON.

A request is `{"request-id", "type", "version", "id", "request", "params"}`. Keys are matched without regard
to case, and null means absent, as in Go. Mirrors: juju rpc/jsoncodec/codec.go (3.6)
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.values import regex
from pushjuju.web.errors import BadMessage

DEEPEST = 64  # levels of nested objects and lists
MOST_KEYS = 10_000  # the most keys of an object
MOST_ITEMS = 10_000  # the most items of a list
_LONE = regex("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a client."""

    id: int  # the client's number of the request
    facade: str  # the facade's name, `Application` for example
    method: str
    version: int = 0
    object: str = ""  # the id of a watcher, or empty
    params: Any = field(default_factory=dict)  # what the client sent, still unchecked


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not valid")


def parse(text: str) -> Any:
    """Return the value of a JSON text within the limits.

    Raises:
        BadMessage: The text is not JSON, or exceeds a limit.
    """
    return _checked(_loaded(text), text)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"the message is not valid JSON: {type(error).__name__}") from error


def _checked(value: Any, text: str) -> Any:
    return _within_limits(value, scrub="\\ud" in text or "\\uD" in text)


def _within_limits(value: Any, *, scrub: bool, depth: int = 1) -> Any:
    """Return a value whose texts can be encoded; refuse a value that is too deep or too large."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value) if scrub else value
    if not isinstance(value, (dict, list)):
        return value
    if depth > DEEPEST:
        raise BadMessage(f"the message is nested deeper than {DEEPEST} levels")
    if len(value) > (MOST_KEYS if isinstance(value, dict) else MOST_ITEMS):
        raise BadMessage(f"the message has an object or a list of {len(value)} entries")
    if isinstance(value, list):
        return [_within_limits(item, scrub=scrub, depth=depth + 1) for item in value]
    return {
        _within_limits(key, scrub=scrub): _within_limits(item, scrub=scrub, depth=depth + 1)
        for key, item in value.items()
    }


def folded(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its keys in lower case, without those whose value is null."""
    return {key.lower(): item for key, item in value.items() if item is not None}


def read_request(text: str) -> Request:
    """Return the request of a message.

    Raises:
        BadMessage: The message is not a request, or exceeds a limit.
    """
    value = _loaded(text)
    if not isinstance(value, dict):
        raise BadMessage("the message is not an object")
    number = folded(value).get("request-id", 0)
    if not _is_count(number) or not number:
        raise BadMessage("the message has no request-id")
    found = folded(_answerable(number, value, text))
    version, params = found.get("version", 0), found.get("params", {})
    words = [found.get(key, "") for key in ("type", "request", "id")]
    if not _is_count(version) or not all(isinstance(word, str) for word in words):
        raise BadMessage("the message is not a request")
    facade, method, name = words
    return Request(id=number, facade=facade, method=method, version=version, object=name, params=params)


def _answerable(number: int, value: dict[str, Any], text: str) -> Any:
    """Return a request within the limits; the error of another request names its number."""
    try:
        return _checked(value, text)
    except BadMessage as error:
        error.number = number
        raise


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


class Encoded(str):
    """A response that is already encoded as JSON."""

    __slots__ = ()


def answer(number: int, response: Any) -> str:
    """Return the message that answers a request; without a result, the response is an empty object."""
    if isinstance(response, Encoded):
        return f'{{"request-id":{number},"response":{response}}}'
    return dumped({"request-id": number, "response": {} if response is None else response})


def failure(number: int, error: Mapping[str, Any]) -> str:
    """Return the message that refuses a request; libjuju reads `response` in this message, too.

    Args:
        error: `message`, `code` and perhaps `info`, as `errors.told` returns them.
    """
    found: dict[str, Any] = {"request-id": number, "error": error["message"]}
    if error["code"]:
        found["error-code"] = error["code"]
    if info := error.get("info"):
        found["error-info"] = info
    return dumped({**found, "response": {}})


def dumped(value: Any) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
