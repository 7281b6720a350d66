"""The rules of clouds for constraints: unsupported names, allowed values, names that exclude each other.

Pure. Mirrors: juju core/constraints/validation.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.constraints import ORDER, Constraints
from pushjuju.core.errors import NotValid

Conflicts = tuple[tuple[frozenset[str], frozenset[str]], ...]
"""Pairs of groups: a name of the one may not stand beside a name of the other."""

SIZES_OF_A_TYPE: Conflicts = (
    (frozenset({"instance-type"}), frozenset({"cores", "cpu-power", "mem"})),
)  # of most clouds: a type says its sizes
_MOST_SHOWN = 30  # values that an error names


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintRules:
    """The rules of a cloud for constraints.

    Attributes:
        unsupported: Names whose value is ignored, with a warning.
        conflicts: Attributes that exclude each other in one value. Where a weaker value is merged, those of
            the cloud's `ProviderType` count.
        vocabulary: Name -> the values that it may have.
    """

    unsupported: frozenset[str] = frozenset()
    conflicts: Conflicts = ()
    vocabulary: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def check(constraints: Constraints, rules: ConstraintRules) -> list[str]:
    """Check constraints against a cloud's rules, and return the names that it ignores, in Juju's order."""
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
    """Return constraints over weaker ones; a name takes along what it excludes among the weaker ones.

    A value of None is kept out: it was set to nothing, over whatever the weaker ones say.
    """
    weaker = dict(fallback)
    given = {name for name, value in constraints.items() if value not in (None, "", [])}
    for red, blue in conflicts:
        for mine, other in ((red, blue), (blue, red)):
            if mine & given:
                weaker = {name: value for name, value in weaker.items() if name not in other}
    return {name: value for name, value in {**weaker, **constraints}.items() if value is not None}
