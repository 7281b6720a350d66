"""`debug-log`: which records are shown, and each as a line. Layer: cli, pure.

Mirrors: juju cmd/juju/commands/debuglog.go, apiserver/debuglog.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from pushjuju.cli.paint import CYAN, GRAY, GREEN, RED, YELLOW, escape, paint
from pushjuju.core.clock import from_iso
from pushjuju.core.names import is_machine, is_unit, machine_tag, unit_tag

LEVELS = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR")
_ORDER = (*LEVELS, "CRITICAL")
_TAG = re.compile(r"unit-.+-\d+|machine-\d+(?:-[a-z]+-\d+)*|controller-\d+|application-.+|model-.+")
_COLOURS = {"WARNING": YELLOW, "ERROR": RED, "CRITICAL": RED, "INFO": GREEN, "DEBUG": GREEN, "TRACE": GREEN}


class Record(Protocol):
    """One record of the log; `time` is UTC as the store keeps it."""

    @property
    def time(self) -> str:
        """When."""
        ...

    @property
    def entity(self) -> str:
        """Tag of who said it."""
        ...

    @property
    def level(self) -> str:
        """TRACE ... CRITICAL."""
        ...

    @property
    def module(self) -> str:
        """Dotted logger name."""
        ...

    @property
    def location(self) -> str:
        """`file:line`, may be empty."""
        ...

    @property
    def labels(self) -> str:
        """Comma list, may be empty."""
        ...

    @property
    def message(self) -> str:
        """The text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a line looks."""

    date: bool = False
    milliseconds: bool = False
    utc: bool = False
    location: bool = False
    colour: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which records are shown: kinds are all-of, values of one kind any-of, exclusions win."""

    level: str = ""
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    include_module: Sequence[str] = ()
    exclude_module: Sequence[str] = ()
    include_label: Sequence[str] = ()
    exclude_label: Sequence[str] = ()

    def predicate(self) -> Callable[[Record], bool]:
        """Return the test for one record, patterns compiled."""
        lowest = _ORDER.index(self.level) if self.level else 0
        wanted, unwanted = _entities(self.include), _entities(self.exclude)

        def shown(record: Record) -> bool:
            level = _ORDER.index(record.level) if record.level in _ORDER else len(_ORDER)
            labels = set(record.labels.split(",")) - {""}
            return (
                level >= lowest
                and (wanted is None or bool(wanted.fullmatch(record.entity)))
                and not (unwanted is not None and unwanted.fullmatch(record.entity))
                and (not self.include_module or _in_modules(record.module, self.include_module))
                and not _in_modules(record.module, self.exclude_module)
                and (not self.include_label or bool(labels & set(self.include_label)))
                and not labels & set(self.exclude_label)
            )

        return shown


def _in_modules(module: str, prefixes: Iterable[str]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def _entities(names: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern for tags, or None for no names."""
    if not names:
        return None
    return re.compile("|".join(_tag_pattern(name) for name in names))


def _tag_pattern(name: str) -> str:
    """Return the pattern of one name: a tag with globs, a machine id, a unit, or an application's units."""
    if "*" in name:
        return re.escape(name).replace(r"\*", ".*")
    if is_machine(name):
        return re.escape(machine_tag(name))
    if is_unit(name):
        return re.escape(unit_tag(name))
    if _TAG.fullmatch(name):
        return re.escape(name)
    return rf"unit-{re.escape(name)}-\d+|application-{re.escape(name)}"


def line(record: Record, look: Look) -> str:
    """Return a record as a line, without newline."""

    def shown(text: str, colour: str) -> str:
        return escape(paint(text, colour)) if look.colour else text

    parts = [
        f"{shown(record.entity, CYAN)}:",
        time_text(from_iso(record.time), look),
        shown(record.level, _COLOURS.get(record.level, "")),
        record.module,
    ]
    if look.location and record.location:
        parts.append(shown(record.location, GRAY))
    if record.labels:
        parts.append(record.labels)
    return " ".join((*parts, record.message))


def time_text(moment: datetime, look: Look) -> str:
    """Return the time of a record."""
    shown = moment.astimezone(UTC) if look.utc else moment.astimezone()
    text = f"{shown:%Y-%m-%d %H:%M:%S}" if look.date else f"{shown:%H:%M:%S}"
    return f"{text}.{shown.microsecond // 1000:03}" if look.milliseconds else text
