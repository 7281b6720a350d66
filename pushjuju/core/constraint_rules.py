"""The rules of clouds for constraints: unsupported names, allowed values, names that exclude each other.

Pure. Mirrors: juju core/constraints/validation.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.constraints import ORDER, Constraints
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass

Conflicts = tuple[tuple[frozenset[str], frozenset[str]], ...]
"""Pairs of groups: a name of the first group cannot be set together with a name of the second."""

SIZES_OF_A_TYPE: Conflicts = (
    (frozenset({"instance-type"}), frozenset({"cores", "cpu-power", "mem"})),
)  # for most clouds, where an instance type fixes the sizes
_MOST_SHOWN = 30  # values that an error names


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
