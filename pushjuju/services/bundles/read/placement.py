"""Reads the placement directives of a bundle's units: `[TYPE:](new | MACHINE | APP | APP/N)`.

Mirrors: juju/charm v12 bundledata.go ParsePlacement
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

NEW = "new"
_CONTAINERS = ("lxd", "kvm")
_MACHINE = regex("0|[1-9][0-9]{0,9}")
_UNIT = regex("0|[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One placement directive."""

    container: str = ""  # type of container, or empty
    machine: str = ""  # a machine of the bundle, `new`, or empty
    application: str = ""  # the application beside whose units the unit goes, or empty
    unit: int = -1  # the number of that application's unit; -1 for any unit


def parse(text: str) -> Target:
    """Return a placement directive from its text.

    Raises:
        NotValid: The text is not a placement; the message is Juju's.
    """
    container, colon, rest = text.partition(":")
    if not colon:
        container, rest = "", text
    elif container not in _CONTAINERS:
        raise NotValid(f"invalid placement syntax {quote(text)}")
    if rest == NEW or _MACHINE.fullmatch(rest):
        return Target(container=container, machine=rest)
    name, slash, number = rest.partition("/")
    if not is_application(name) or (slash and not _UNIT.fullmatch(number)):
        raise NotValid(f"invalid placement syntax {quote(text)}")
    return Target(container=container, application=name, unit=int(number) if slash else -1)


def beside(directives: Iterable[str]) -> set[str]:
    """Return the applications that directives place units beside."""
    return {parse(text).application for text in directives} - {""}


def in_circle(waits: Mapping[str, Set[str]]) -> list[str]:
    """Return the applications that can never be placed because they wait for each other, sorted."""
    left = set(waits)
    while ready := {name for name in left if not waits[name] & left}:
        left -= ready
    return sorted(left)


def is_machine(text: str) -> bool:
    """Return True when a text can be the id of a machine in a bundle."""
    return bool(_MACHINE.fullmatch(text))


def repeats(target: Target) -> bool:
    """Return True when a last directive also holds for all further units: `new`, or beside any unit."""
    return target.machine == NEW or bool(target.application and target.unit < 0)
