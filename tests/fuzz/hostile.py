"""What somebody who holds a machine may say: odd values, and good documents with something odd in them."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

TIMES = int(os.environ.get("FUZZ") or 0)  # `make fuzz`: so many times as many examples, other ones each time


def fuzz(examples: int) -> Callable[[Any], Any]:
    """Return the settings of a fuzz test: a few examples that never change, or many new ones."""
    return settings(
        max_examples=examples * max(TIMES, 1),
        derandomize=not TIMES,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


TEXTS = st.one_of(
    st.sampled_from(
        [
            "", "0", "-1", "web/0", "web/1", "web", "db/0", "unit-web-0", "../../etc/passwd", "a\x00b",
            "\ud800", "\udcff", "\x1b[2J\x1b]0;x\x07", "☃" * 50, "x" * 300, "now", "after", "ok", "failed",
            "error", "terminated", "9" * 5000, "NaN", "juju-info", "x; DROP TABLE unit; --", "$(id)", "%s%n",
        ]
    ),
    st.text(max_size=20),
    st.text(alphabet=st.characters(codec=None, categories=["Cs", "Cc", "Co"]), max_size=5),
)  # fmt: skip
NUMBERS = st.one_of(
    st.sampled_from(
        [0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, float("nan"), float("inf"), -float("inf"), 1e308]
    ),
    st.integers(),
    st.floats(),
)
ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def deep(levels: int) -> Any:
    """Return lists within lists."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, (*path, number))


def _spoil(document: Any, changes: list[tuple[tuple[Any, ...], str, Any]]) -> Any:
    made = copy.deepcopy(document)
    for path, how, value in changes:
        node = made
        try:
            for step in path[:-1]:
                node = node[step]
            if how == "drop":
                del node[path[-1]]
            elif how == "grow" and isinstance(node[path[-1]], dict):
                node[path[-1]]["web/1"] = value
            else:
                node[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    return made


def spoilt(*documents: Any) -> st.SearchStrategy[Any]:
    """Return good documents in which some fields are odd, gone or more than they should be."""

    def spoil(document: Any) -> st.SearchStrategy[Any]:
        places = [path for path in _places(document) if path]
        change = st.tuples(st.sampled_from(places), st.sampled_from(["set", "set", "drop", "grow"]), ODD)
        return st.lists(change, min_size=1, max_size=3).map(lambda changes: _spoil(document, changes))

    return st.sampled_from(documents).flatmap(spoil)
