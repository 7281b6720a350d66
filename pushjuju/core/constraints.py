"""Reads and writes constraints on machines, and checks them by the rules of a cloud.

Mirrors: juju core/constraints (3.6)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import bool_of

Constraints = Mapping[str, Any]
"""Key -> value: text, int (MiB for sizes), bool, list of text, or None when the user unset the key."""

ORDER = (
    "arch", "container", "cores", "cpu-power", "instance-role", "instance-type", "mem", "root-disk",
    "root-disk-source", "tags", "spaces", "virt-type", "zones", "allocate-public-ip", "image-id",
)  # fmt: skip
ARCHES = ("amd64", "arm64", "ppc64el", "s390x", "riscv64")
_OF_UNAME: Mapping[str, str] = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64el"}
CONTAINERS = ("none", "lxd", "kvm")
_SIZES = ("mem", "root-disk")
_COUNTS = ("cores", "cpu-power")
_LISTS = ("tags", "spaces", "zones")
_SUFFIX = {"M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
Conflicts = tuple[tuple[frozenset[str], frozenset[str]], ...]
"""Pairs of groups: a name of the first group cannot be set together with a name of the second."""
SIZES_OF_A_TYPE: Conflicts = (
    (frozenset({"instance-type"}), frozenset({"cores", "cpu-power", "mem"})),
)  # for most clouds, where an instance type fixes the sizes
_MOST_SHOWN = 30  # values that an error names


def parse(texts: str | Iterable[str]) -> dict[str, Any]:
    """Read constraints as the command line gives them.

    Args:
        texts: One text of blank-separated `key=value`, or several texts (from a repeated flag).

    Raises:
        NotValid: A constraint is malformed, unknown or repeated; the message is Juju's.
    """
    joined = texts if isinstance(texts, str) else " ".join(texts)
    found: dict[str, object] = {}
    for word in re.findall(r"(?:\\ |\S)+", joined):
        name, equals, value = word.replace("\\ ", " ").partition("=")
        if not equals or not name:
            raise NotValid(f'malformed constraint "{word}"')
        name = "cores" if name == "cpu-cores" else name
        if name not in ORDER:
            raise NotValid(f'unknown constraint "{name}"', hint=f"known constraints: {', '.join(ORDER)}")
        if name in found:
            raise NotValid(f'bad "{name}" constraint: already set')
        found[name] = _value(name, value) if value else None
    return found


def _value(name: str, text: str) -> Any:
    if name == "arch" and text not in ARCHES:
        known = f"known architectures: {', '.join(ARCHES)}"
        raise NotValid(f'bad "arch" constraint: "{text}" not recognized', hint=known)
    if name == "container" and text not in CONTAINERS:
        known = f"known types of containers: {', '.join(CONTAINERS)}"
        raise NotValid(f'bad "container" constraint: invalid container type "{text}"', hint=known)
    if name in _COUNTS:
        if not re.fullmatch("[0-9]{1,19}", text):
            raise NotValid(f'bad "{name}" constraint: must be a non-negative integer')
        return int(text)
    if name in _SIZES:
        return _size(name, text)
    if name in _LISTS:
        return [item for item in text.split(",") if item]
    if name == "allocate-public-ip":
        found = bool_of(text)
        if found is None:
            raise NotValid(f"bad \"{name}\" constraint: must be 'true' or 'false'")
        return found
    return text


def _size(name: str, text: str) -> int:
    try:
        return parse_size(text)
    except NotValid as error:
        raise NotValid(f'bad "{name}" constraint: {error.message}') from None


def parse_size(text: str) -> int:
    """Return a size, a number with an optional M, G, T or P, in MiB, rounded up.

    Raises:
        NotValid: The text is not a size; the message is Juju's.
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)([MGTP]?)", text)
    if not match:
        raise NotValid("must be a non-negative float with optional M/G/T/P suffix")
    return math.ceil(float(match[1]) * _SUFFIX[match[2] or "M"])


def of_hardware(known: Mapping[str, Any]) -> dict[str, object]:
    """Return what is known of a machine as values: sizes in MiB, counts as numbers, tags as a list."""
    return {key: value if key == "arch" else _value(key, str(value)) for key, value in known.items() if value}


_OF_CONTAINERS = ("arch", "cores", "mem", "root-disk", "root-disk-source")


def of_container(wanted: Constraints, *, alone: bool = True) -> dict[str, object]:
    """Return the constraints that apply to a container inside a machine; the others are about the cloud.

    Args:
        alone: True when the machine was not made for the container: then the names of disks are those of the
            machine's LXD.
    """
    names = _OF_CONTAINERS if alone else _OF_CONTAINERS[:-1]
    return {key: value for key, value in wanted.items() if key in names}


def container_of(wanted: Constraints) -> str:
    """Return the type of container that constraints ask for; empty for no container."""
    found = str(wanted.get("container") or "none")
    return "" if found == "none" else found


def juju_arch(machine: str) -> str:
    """Return Juju's name for an architecture that `uname -m` prints; an unknown name stays the same.

    Mirrors: juju core/arch (3.6)
    """
    return _OF_UNAME.get(machine, machine)


def of_host(wanted: Constraints) -> dict[str, object]:
    """Return the constraints for a machine that is made to hold a container with these constraints."""
    return {key: value for key, value in wanted.items() if key != "container"}


def render(constraints: Constraints) -> str:
    """Return the text that Juju shows: fixed order, sizes in MiB."""
    shown = ((name, constraints[name]) for name in ORDER if constraints.get(name) is not None)
    return " ".join(f"{name}={_text(name, value)}" for name, value in shown)


def _text(name: str, value: Any) -> str:
    if name in _SIZES:
        return f"{value}M"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = ",".join(value) if isinstance(value, list) else str(value)
    return text.replace(" ", "\\ ")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintRules:
    """The rules of a cloud for constraints.

    Attributes:
        unsupported: Names whose value is ignored, with a warning.
        conflicts: Names that exclude each other in one set of constraints. When a set is merged over weaker
            constraints, the conflicts of the cloud's `ProviderType` count instead.
        vocabulary: Name -> the values that the cloud accepts.
    """

    unsupported: frozenset[str] = frozenset()
    conflicts: Conflicts = ()
    vocabulary: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def check(constraints: Constraints, rules: ConstraintRules) -> list[str]:
    """Check constraints against a cloud's rules; return the names that the cloud ignores, in Juju's order."""
    given = {name: value for name, value in constraints.items() if value not in (None, "", [])}
    for red, blue in rules.conflicts:
        first, second = sorted(red & given.keys()), sorted(blue & given.keys())
        if first and second and first != second:
            raise NotValid(f'ambiguous constraints: "{first[0]}" overlaps with "{second[0]}"')
    for name in ORDER:
        if name in given and name in rules.vocabulary and name not in rules.unsupported:
            _check_value(name, given[name], rules.vocabulary[name])
    return [name for name in ORDER if name in given and name in rules.unsupported]


def _check_value(name: str, value: Any, known: Sequence[Any]) -> None:
    for item in value if isinstance(value, list) else [value]:
        if item not in known:
            listed = " ".join(str(word) for word in known[:_MOST_SHOWN])
            more = " ..." if len(known) > _MOST_SHOWN else ""
            raise NotValid(f"invalid constraint value: {name}={item}\nvalid values are: [{listed}{more}]")


def merge(
    fallback: Constraints, constraints: Constraints, conflicts: Conflicts = SIZES_OF_A_TYPE
) -> dict[str, object]:
    """Return constraints merged over weaker ones; a name that is set removes weaker names that it excludes.

    A name with the value None was unset by the user: the result does not have this name at all.
    """
    weaker = dict(fallback)
    given = {name for name, value in constraints.items() if value not in (None, "", [])}
    for red, blue in conflicts:
        for mine, other in ((red, blue), (blue, red)):
            if mine & given:
                weaker = {name: value for name, value in weaker.items() if name not in other}
    return {name: value for name, value in {**weaker, **constraints}.items() if value is not None}
