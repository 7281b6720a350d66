"""Results and events of operations, errors as one line, and the two clocks."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from pushjuju.portable import frames

# Codes of results, by which the controller knows what happened.
CHARM_GONE = "charm-gone"  # the unit's charm is not on the machine
TIMED_OUT = "timed-out"  # the commands took longer than they may


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
    """Return the message that brings a result."""
    return {**result, "t": "result", "id": op_id, "events": list(events)}


def refusal(op_id: str, why: str, outcome: str = "error", code: str = "") -> frames.ResultFrame:
    """Return the message that an operation was not run."""
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


def is_quiet(result: frames.Result) -> bool:
    """Return True when an operation ended well and left the model as it was, but for statuses and logs."""
    if result["outcome"] not in ("ok", "missing") or result["reboot"]:
        return False
    return not any(_says(value) for key, value in result["writes"].items() if key != "status_set")


def _says(value: Any) -> bool:
    return any(_says(item) for item in value.values()) if isinstance(value, dict) else bool(value)


def describe(error: BaseException) -> str:
    """Return one line about an exception, with the file it is about."""
    if isinstance(error, OSError) and error.strerror:
        return "%s: %s" % (error.filename, error.strerror) if error.filename else error.strerror
    return "%s: %s" % (type(error).__name__, error)
