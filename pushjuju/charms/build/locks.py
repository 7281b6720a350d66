"""Reads lock files of Python projects: packages with their versions and markers.

Pure. The formats are those of uv (`uv.lock`, 1) and Poetry (`poetry.lock`, 1 and 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.quote import quote

_NAME = regex(r"[-_.]+")
_MOST = 20_000  # paths from dependencies to packages; no real project has more
Markers = frozenset[str]


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency on a package.

    An empty `version` means the only version in the lock file; `marker` is the condition under which the
    dependency applies.
    """

    name: str
    version: str = ""
    marker: str = ""
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package of a lock file; `source` is as the file has it, `own` is True for the project itself."""

    name: str
    version: str
    source: Any = None
    own: bool = False
    marker: str = ""
    edges: tuple[Edge, ...] = ()
    extras: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)


def plain(name: str) -> str:
    """Return the normalized name of a package."""
    return _NAME.sub("-", name).lower()


def reached(packages: Sequence[Package], roots: Iterable[Edge]) -> Iterator[tuple[Package, Markers]]:
    """Yield each package that the dependencies reach, once for each set of markers under which it is needed.

    Raises:
        NotValid: The dependencies reach packages on too many paths.
    """
    by_name: dict[str, list[Package]] = {}
    for package in packages:
        by_name.setdefault(package.name, []).append(package)
    waiting = [(edge, frozenset[str]()) for edge in roots]
    seen: set[tuple[str, str, tuple[str, ...], Markers]] = set()
    while waiting:
        if len(seen) >= _MOST:
            raise NotValid(f"its dependencies reach packages on more than {_MOST} paths")
        edge, above = waiting.pop()
        for package in by_name.get(edge.name, ()):
            if edge.version not in ("", package.version):
                continue
            markers = above | {marker for marker in (edge.marker, package.marker) if marker}
            key = (package.name, package.version, edge.extras, markers)
            if key in seen:
                continue
            seen.add(key)
            yield package, markers
            chosen = [item for name in edge.extras for item in package.extras.get(name, ())]
            waiting += [(item, markers) for item in (*package.edges, *chosen)]


def lines(found: Iterable[tuple[Package, Markers]]) -> list[str]:
    """Return sorted lines for requirements.txt; a package that is always needed has no markers."""
    ways: dict[str, set[Markers]] = {}
    for package, markers in found:
        ways.setdefault(f"{package.name}=={package.version}", set()).add(markers)
    out = []
    for pin, sets in ways.items():
        if frozenset() in sets:
            out.append(pin)
        else:
            out += [f"{pin} ; {_joined(markers)}" for markers in sets]
    return sorted(out)


def _joined(markers: Markers) -> str:
    if len(markers) == 1:
        return next(iter(markers))
    return " and ".join(f"({marker})" for marker in sorted(markers))


def chosen(
    what: str, names: Sequence[str], offered: Mapping[str, Sequence[Any]], problems: list[str]
) -> Iterator[str]:
    """Yield the names that are in `offered`, as spelled there; add a problem for each other name."""
    known = {plain(name): name for name in offered}
    for name in names:
        if plain(name) in known:
            yield known[plain(name)]
        else:
            listed = ", ".join(sorted(offered)) or "none"
            problems.append(f"{what} {quote(name)} is not in the project, which has: {listed}")


def texts(part: Mapping[str, Any], key: str) -> list[str]:
    """Return the list of texts at a key of a part; a single text becomes a list of one."""
    value = part.get(key) or []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def table(document: Any, *keys: str) -> dict[str, Any]:
    """Return the table at the path `keys` of a document, or an empty table when the path is missing."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def edge_of_line(line: str) -> Edge:
    """Return the dependency that a requirement line declares; its version is left to the lock file."""
    match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?", line)
    name, extras = (match[1], match[2] or "") if match else (line, "")
    marker = line.partition(";")[2].strip()
    return Edge(plain(name), "", marker, tuple(part.strip() for part in extras.split(",") if part.strip()))


# --- uv ---------------------------------------------------------------------------------------------------


def uv_packages(document: Mapping[str, Any]) -> list[Package]:
    """Return the packages of a `uv.lock`."""
    return [
        Package(
            name=plain(str(item.get("name"))),
            version=str(item.get("version", "")),
            source=item.get("source"),
            own=_is_own(item.get("source")),
            edges=_uv_edges(item.get("dependencies")),
            extras=_uv_groups(item.get("optional-dependencies")),
            groups=_uv_groups(item.get("dev-dependencies")),
        )
        for item in _tables(document.get("package"))
    ]


def _is_own(source: Any) -> bool:
    return isinstance(source, dict) and "." in (source.get("virtual"), source.get("editable"))


def _tables(value: Any) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _names(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _uv_groups(value: Any) -> dict[str, tuple[Edge, ...]]:
    return {name: _uv_edges(items) for name, items in value.items()} if isinstance(value, dict) else {}


def _uv_edges(value: Any) -> tuple[Edge, ...]:
    return tuple(
        Edge(
            plain(str(item["name"])),
            str(item.get("version", "")),
            str(item.get("marker", "")),
            _names(item.get("extra")),
        )
        for item in _tables(value)
        if "name" in item
    )


# --- Poetry -----------------------------------------------------------------------------------------------


def poetry_packages(document: Mapping[str, Any]) -> list[Package]:
    """Return the packages of a `poetry.lock`."""
    return [_poetry_package(item) for item in _tables(document.get("package"))]


def _poetry_package(item: Mapping[str, Any]) -> Package:
    offered = item.get("extras")
    extras = {
        str(name): tuple(Edge(plain(re.split(r"[\s\[<>=!~;@(]", str(line))[0])) for line in listed)
        for name, listed in (offered.items() if isinstance(offered, dict) else ())
        if isinstance(listed, list)
    }
    return Package(
        name=plain(str(item.get("name"))),
        version=str(item.get("version", "")),
        source=item.get("source"),
        marker=_main_marker(item.get("markers")),
        edges=poetry_edges(item.get("dependencies")),
        extras=extras,
    )


def _main_marker(value: Any) -> str:
    """Return the marker of the main dependencies; Poetry writes one marker, or one for each group."""
    return str(value.get("main", "")) if isinstance(value, dict) else str(value or "")


def poetry_edges(value: Any, *, optional: bool = False) -> tuple[Edge, ...]:
    """Return the dependencies of a Poetry table.

    Args:
        value: Name -> constraint, a table, or a list of tables.
        optional: True to include dependencies that only an extra asks for.
    """
    found = []
    for name, entry in value.items() if isinstance(value, dict) else ():
        if plain(str(name)) == "python":
            continue
        for part in entry if isinstance(entry, list) else [entry]:
            table = part if isinstance(part, dict) else {}
            if table.get("optional") and not optional:
                continue
            extras = _names(table.get("extras"))
            found.append(Edge(plain(str(name)), "", str(table.get("markers", "")), extras))
    return tuple(found)
