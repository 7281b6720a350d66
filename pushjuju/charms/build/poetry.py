"""Lists the dependencies that Poetry would export for a project; its lock file has the versions. Pure.

Mirrors: charmcraft's plugin poetry (4.5), poetry-plugin-export
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.charms.build import locks
from pushjuju.portable.quote import quote

_MAIN = "main"  # Poetry's name for the dependencies that belong to no group
_SHORT = {"-E": "--extras"}
_NAMED = ("--extras", "--all-extras", "--only", "--with", "--without")


def roots(project: Mapping[str, Any], part: Mapping[str, Any], problems: list[str]) -> list[locks.Edge]:
    """Return the dependencies from which `poetry export` starts: the main ones and those of chosen groups.

    Args:
        part: The part of `charmcraft.yaml`.
        problems: Takes the names of groups and extras that the project does not have.
    """
    asked = _export_arguments(part, problems)
    found: list[locks.Edge] = []
    if not asked["--only"] or _MAIN in asked["--only"]:
        tool = locks.table(project, "tool", "poetry")
        found += [*_project_edges(project), *locks.poetry_edges(tool.get("dependencies"))]
    return [*found, *_groups(project, part, asked, problems), *_extras(project, asked, problems)]


def _export_arguments(part: Mapping[str, Any], problems: list[str]) -> dict[str, list[str]]:
    """Return option -> names, read from `poetry-export-extra-args`."""
    asked: dict[str, list[str]] = {name: [] for name in _NAMED}
    words = iter(locks.texts(part, "poetry-export-extra-args"))
    for word in words:
        key, _, value = word.partition("=")
        key = _SHORT.get(key, key)
        if key == "--all-extras":
            asked[key].append("")
        elif key in asked:
            asked[key] += [name.strip() for name in (value or next(words, "")).split(",") if name.strip()]
        elif key not in ("--without-hashes", "--without-urls"):
            problems.append(f'"poetry-export-extra-args" has {quote(word)}')
    return asked


def _groups(
    project: Mapping[str, Any], part: Mapping[str, Any], asked: Mapping[str, list[str]], problems: list[str]
) -> list[locks.Edge]:
    """Return the dependencies of the groups that a part asks for.

    With `--only`, Poetry ignores the groups that other arguments name.
    """
    groups = {**locks.table(project, "dependency-groups"), **locks.table(project, "tool", "poetry", "group")}
    only, without = asked["--only"], asked["--without"]
    named = [name for name in only if name != _MAIN]
    if not only:
        named = [*locks.texts(part, "poetry-with"), *asked["--with"]]
        named = [name for name in named if name not in without]
    found: list[locks.Edge] = []
    for name in locks.chosen("--only:" if only else "poetry-with:", named, groups, problems):
        group = groups[name]
        lines = group if isinstance(group, list) else ()
        found += [locks.edge_of_line(line) for line in lines if isinstance(line, str)]
        found += locks.poetry_edges(group.get("dependencies") if isinstance(group, dict) else None)
    return found


def _extras(
    project: Mapping[str, Any], asked: Mapping[str, list[str]], problems: list[str]
) -> list[locks.Edge]:
    """Return the dependencies of the extras that `poetry-export-extra-args` names."""
    offered = {
        **locks.table(project, "project", "optional-dependencies"),
        **locks.table(project, "tool", "poetry", "extras"),
    }
    names = [*asked["--extras"], *(offered if asked["--all-extras"] else ())]
    chosen = locks.chosen("--extras:", names, offered, problems)
    return [locks.edge_of_line(str(line)) for name in chosen for line in offered[name]]


def _project_edges(project: Mapping[str, Any]) -> list[locks.Edge]:
    listed = locks.table(project, "project").get("dependencies")
    return [locks.edge_of_line(str(line)) for line in listed] if isinstance(listed, list) else []
