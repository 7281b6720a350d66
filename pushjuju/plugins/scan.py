"""Finds the plugins of installed packages, quickly and without importing them.

`importlib.metadata` takes 30 to 60 ms. This module reads the few files itself in less than 1 ms, and reads
only its cache when no directory of `sys.path` has changed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from pushjuju.core.values import dataclass
from pushjuju.store.files import kept


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """One plugin in an installed package.

    Attributes:
        value: `module` or `module:attribute`.
        distribution: The package that contains the plugin.
    """

    name: str
    value: str
    distribution: str
    version: str


def find_entry_points(group: str, path: Sequence[str], cache: Path | None = None) -> list[EntryPoint]:
    """Return the entry points of a group, in the order of their packages on the path.

    Args:
        group: For example `pushjuju`.
        path: Directories, as in `sys.path`.
        cache: A file that stores the result until a directory changes; None for no cache.
    """
    found_in = search_key(path)
    key: list[object] = [group, *map(list, found_in)]
    with suppress(TypeError):  # nothing is kept, or in another form
        return [EntryPoint(**item) for item in kept.read(cache, key)]
    found: dict[str, EntryPoint] = {}
    for folder, _ in found_in:
        for item in _in_folder(folder, group):
            found.setdefault(item.name, item)
    answer = list(found.values())
    kept.write(cache, key, [asdict(item) for item in answer])
    return answer


def search_key(path: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return the directories of a path and the times of their last changes."""
    return tuple((folder or os.curdir, _mtime(folder or os.curdir)) for folder in dict.fromkeys(path))


def _mtime(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 (a Path per entry would cost more than the call)
    except OSError:
        return 0


def _in_folder(folder: str, group: str) -> list[EntryPoint]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []
    found = []
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            found += _in_distribution(f"{folder}/{name}", name.rsplit(".", 1)[0], group)
    return found


def _in_distribution(folder: str, stem: str, group: str) -> list[EntryPoint]:
    try:
        text = Path(folder, "entry_points.txt").read_text(encoding="utf-8")
    except OSError:
        return []
    if f"[{group}]" not in text:
        return []
    distribution, _, rest = stem.partition("-")
    found, here = [], False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            here = line == f"[{group}]"
        elif here and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.append(
                EntryPoint(
                    name=name.strip(),
                    value=value.split("[")[0].strip(),
                    distribution=distribution,
                    version=rest.partition("-")[0],
                )
            )
    return found
