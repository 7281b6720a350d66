"""Checks the times of hook tools in the result of a machine.

They are for traces alone: what does not fit is dropped, and never makes an operation fail.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TypeGuard

from pushjuju.core.values import dataclass
from pushjuju.runner.remote.base.results import MOST_TIMED

_LONGEST = 10**12  # microseconds, over a week
_MOST_CALLS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a hook tool."""

    name: str
    begun: int  # microseconds from the begin of the operation
    took: int  # microseconds
    exit: int


def read(value: object, known: Container[str]) -> tuple[list[ToolCall], int]:
    """Return the calls of known tools that a result tells of, and how many more calls there were."""
    if not isinstance(value, dict):
        return [], 0
    calls, more = value.get("calls"), value.get("more")
    listed = calls[:MOST_TIMED] if isinstance(calls, list) else []
    found = [call for item in listed if (call := _call(item, known)) is not None]
    return found, more if _is_number(more, _MOST_CALLS) else 0


def _call(item: object, known: Container[str]) -> ToolCall | None:
    if not isinstance(item, list) or len(item) != 4:
        return None
    name, begun, took, code = item
    if not isinstance(name, str) or name not in known:
        return None
    if not (_is_number(begun, _LONGEST) and _is_number(took, _LONGEST) and _is_number(code, 255)):
        return None
    return ToolCall(name=name, begun=begun, took=took, exit=code)


def _is_number(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
