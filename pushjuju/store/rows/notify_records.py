"""Rows of notifications as values; see `records`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRow:
    """A target of notifications; `sealed` is the address and its secret, encrypted with `key`."""

    name: str
    events: list[str]
    models: list[str]
    body: str
    shown: str
    key: str
    sealed: bytes
    created: datetime
    attempts: int = 0
    due: datetime | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRow:
    """A state of an entity of which an event tells; `due` is None after the event."""

    model: str
    kind: str
    entity: str
    event: str
    text: str
    since: datetime
    due: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRow:
    """An event for a target; `time` and `latest` are of the first and the last of `count` equal events."""

    model: str
    number: int
    target: str
    event: str
    kind: str
    entity: str
    text: str
    data: Mapping[str, Any]
    time: datetime
    latest: datetime
    count: int
    due: datetime
    sent: datetime | None
