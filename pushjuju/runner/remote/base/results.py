"""Build results and events of operations, write errors as one line, read the two clocks."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from pushjuju.portable import frames

# Codes of results: the controller decides by them, never by the message.
CHARM_GONE = "charm-gone"  # the unit's charm is not on the machine
KNOWN = "known"  # the operation was done, and the controller has had its result
TIMED_OUT = "timed-out"  # the commands took longer than they may

MOST_TIMED = 200  # calls of hook tools whose times a result has

_NAME = 200  # letters of a name; the controller takes no longer name


def log_event(level: str, module: str, message: str) -> frames.Event:
    """Return a log event."""
    return {"k": "log", "level": level, "module": module, "message": message, "time": wall_time()}


def monotonic() -> float:
    """Return seconds of a clock that never jumps."""
    return time.monotonic()


def wall_time() -> float:
    """Return seconds since the epoch."""
    return time.time()


def error_result(message: str, errno: int | None = None) -> frames.Result:
    """Return the result of an operation that could not be done."""
    return {**plain_result("error", message=message), "errno": errno}


def result_frame(
    result: frames.Result, op_id: str, events: Sequence[frames.Numbered] = ()
) -> frames.ResultFrame:
    """Return the frame that carries a result to the controller."""
    return {**result, "t": "result", "id": op_id, "events": list(events)}


def refusal(op_id: str, why: str, outcome: str = "error", code: str = "") -> frames.ResultFrame:
    """Return the result frame of an operation that the machine refused to run."""
    frame = result_frame(error_result(why), op_id)
    frame["outcome"] = outcome
    if code:
        frame["code"] = code
    return frame


def plain_result(outcome: str = "ok", via: str | None = None, message: str = "") -> frames.Result:
    """Return a result without writes."""
    return {
        "outcome": outcome,
        "exit": None,
        "signal": None,
        "via": via,
        "message": message,
        "writes": {},
        "reboot": "",
    }


def named(op: frames.Begun | frames.Op) -> tuple[str, str]:
    """Return the unit of a hook, an action or commands, and its name; ("", "") for any other operation."""
    name = op.get("hook") or ""
    if op.get("action"):
        name = "action " + op["action"]
    elif op.get("kind") == "commands" and not op.get("request"):
        name = "commands"
    unit = op.get("unit") or ""
    return (unit, name[:_NAME]) if unit and name else ("", "")


def is_quiet(result: frames.Result) -> bool:
    """Return True when an operation succeeded and wrote nothing to the model but statuses and logs."""
    if result["outcome"] not in ("ok", "missing") or result["reboot"]:
        return False
    return not any(_has_value(value) for key, value in result["writes"].items() if key != "status_set")


def _has_value(value: Any) -> bool:
    return any(_has_value(item) for item in value.values()) if isinstance(value, dict) else bool(value)


def describe(error: BaseException) -> str:
    """Return an exception as one line, with the file name of an OSError."""
    if isinstance(error, OSError) and error.strerror:
        return "%s: %s" % (error.filename, error.strerror) if error.filename else error.strerror
    return "%s: %s" % (type(error).__name__, error)


class Refused(Exception):
    """The operation cannot be done; the text becomes the message of its result."""


class Known(Exception):
    """Another process has begun this operation: the server was restarted, or there are two servers."""


class Interrupted(Refused):
    """The user cancelled the operation before it did anything."""


class Withdrawn(Refused):
    """The juju-exec process that requested the commands has ended."""


def masked(event: frames.Event, masks: list[str]) -> frames.Event:
    """Return an event without the values of secrets that this run has read or written."""
    found: Any = dict(event)
    for key in ("message", "line", "version"):
        text = found.get(key)
        if isinstance(text, str):
            for value in masks:
                text = text.replace(value, "*****")
            found[key] = text
    hidden: frames.Event = found
    return hidden
