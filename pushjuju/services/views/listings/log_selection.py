"""Selects the log records that `debug-log` and the API show. Pure.

Mirrors: juju apiserver/debuglog.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from pushjuju.core.names import is_machine, machine_tag, unit_tag
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.loglevels import LEVELS
from pushjuju.portable.names import is_unit

CHOICES = LEVELS[:-1]  # Juju does not offer CRITICAL for `--level`
_TAG = regex(r"unit-.+-\d+|machine-\d+(?:-[a-z]+-\d+)*|controller-\d+|application-.+|model-.+")


class Record(Protocol):
    """A record of the log; `time` is UTC, in the form of the store."""

    @property
    def time(self) -> str:
        """Time of the record."""

    @property
    def entity(self) -> str:
        """Tag of the entity that logged the line."""

    @property
    def level(self) -> str:
        """TRACE ... CRITICAL."""

    @property
    def module(self) -> str:
        """Dotted logger name."""

    @property
    def location(self) -> str:
        """`file:line`, may be empty."""

    @property
    def labels(self) -> str:
        """Comma list, may be empty."""

    @property
    def message(self) -> str:
        """The text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The records to show: a record must match a value of each filter that has values; exclusions win."""

    level: str = ""
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    include_module: Sequence[str] = ()
    exclude_module: Sequence[str] = ()
    include_label: Sequence[str] = ()
    exclude_label: Sequence[str] = ()

    def predicate(self) -> Callable[[Record], bool]:
        """Return a function that tests one record, with its patterns compiled."""
        levels = self.levels()
        wanted, unwanted = _either(self.include, _tag_pattern), _either(self.exclude, _tag_pattern)
        modules, no_modules = (
            _either(self.include_module, _module_pattern),
            _either(self.exclude_module, _module_pattern),
        )
        labels, no_labels = _either(self.include_label, _glob), _either(self.exclude_label, _glob)

        def shown(record: Record) -> bool:
            if levels and record.level not in levels:
                return False
            if not _fits(record.entity, wanted, unwanted) or not _fits(record.module, modules, no_modules):
                return False
            if labels is None and no_labels is None:
                return True
            return _labelled([word for word in record.labels.split(",") if word], labels, no_labels)

        return shown

    def levels(self) -> tuple[str, ...]:
        """Return the levels to show; an empty tuple stands for all levels."""
        return LEVELS[LEVELS.index(self.level) :] if self.level and self.level != LEVELS[0] else ()

    def tags(self) -> tuple[str, ...]:
        """Return the tags of the included entities; empty when a name stands for more than one tag."""
        found = tuple("" if "*" in name else exact_tag(name) for name in self.include)
        return found if all(found) and not any("," in tag for tag in found) else ()


def _fits(text: str, wanted: re.Pattern[str] | None, unwanted: re.Pattern[str] | None) -> bool:
    if wanted is not None and not wanted.fullmatch(text):
        return False
    return unwanted is None or not unwanted.fullmatch(text)


def _labelled(
    labels: Sequence[str], wanted: re.Pattern[str] | None, unwanted: re.Pattern[str] | None
) -> bool:
    if wanted is not None and not any(wanted.fullmatch(label) for label in labels):
        return False
    return unwanted is None or not any(unwanted.fullmatch(label) for label in labels)


def _either(names: Sequence[str], pattern: Callable[[str], str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the names, or None when there are no names."""
    return re.compile("|".join(pattern(name) for name in names)) if names else None


def _glob(name: str) -> str:
    return re.escape(name).replace(r"\*", ".*")


def _module_pattern(name: str) -> str:
    """Return the pattern of a logger and of the loggers below it."""
    return rf"{_glob(name)}(?:\..*)?"


def _tag_pattern(name: str) -> str:
    """Return the pattern of a name: a tag with globs, a machine id, a unit, or an application's units."""
    if "*" in name:
        return (
            rf"{_glob(name)}|{_glob(name.replace('/', '-'))}|(?:unit|machine)-{_glob(name.replace('/', '-'))}"
        )
    if tag := exact_tag(name):
        return re.escape(tag)
    return rf"unit-{re.escape(name)}-\d+|application-{re.escape(name)}"


def exact_tag(name: str) -> str:
    """Return the tag of a name without globs; empty for an application, which stands for its units."""
    if is_machine(name):
        return machine_tag(name)
    if is_unit(name):
        return unit_tag(name)
    return name if _TAG.fullmatch(name) else ""
