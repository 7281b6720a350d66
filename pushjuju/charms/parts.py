"""What a charm's `parts` ask to be built, and which of that can be done here. Layer: charms, pure.

Only pure Python charms: the plugins charm, uv, python, dump and nil. Everything else is named, not guessed.
Mirrors: charmcraft's plugins (4.5)
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from pushjuju.charms import yamlsafe
from pushjuju.charms.charmcraft import FILE, PREFIX
from pushjuju.charms.goform import quote, typed
from pushjuju.core.errors import InvalidCharm, NotValid

Read = Callable[[str], bytes | None]
"""Returns the bytes of a file of the tree, None if it is not there."""

_PYTHON = ("charm", "uv", "python")
_PLUGINS = (*_PYTHON, "dump", "nil")
# Tools of the build itself, which pip stands in for; what else a build installs is not needed for wheels.
_HARMLESS = frozenset(
    {
        "plugin", "source", "source-type", "build-packages", "build-snaps", "build-environment", "prime",
        "stage", "after", "build-attributes", "charm-entrypoint", "charm-requirements",
        "charm-python-packages", "charm-binary-python-packages", "charm-strict-dependencies",
        "python-requirements", "python-packages", "python-constraints", "uv-extras", "uv-groups",
        "parse-info",
    }
)  # fmt: skip
_NAME = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """What has to be installed beside a charm's own files.

    Attributes:
        requirements: Lines as in requirements.txt, with versions where a lock file gives them.
        files: Files of the tree with such lines.
        local: Packages that lie in the tree: paths.
        locked: The lines are all that is needed: nothing else is resolved.
        dumps: Folders of the tree whose content goes to the charm's root.
        wanted_by: The file that asks for the packages, for texts.
    """

    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    locked: bool = False
    dumps: tuple[str, ...] = ()
    wanted_by: str = ""

    @property
    def installs(self) -> bool:
        """Whether packages have to be installed."""
        return bool(self.requirements or self.files or self.local)


@dataclass(slots=True)
class _Found:
    requirements: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    local: list[str] = field(default_factory=list)
    dumps: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    locked: bool = False
    wanted_by: str = ""


def plan(data: bytes, read: Read) -> BuildPlan:
    """Return what a source tree's parts ask for.

    Args:
        data: Bytes of `charmcraft.yaml`.
        read: Reads files of the tree.

    Raises:
        InvalidCharm: Something cannot be built here; all of it is named.
    """
    try:
        project = yamlsafe.load(data, text_keys=4)
    except NotValid as error:
        raise InvalidCharm(PREFIX + error.message, file=FILE) from None
    parts = project.get("parts") if isinstance(project, dict) else None
    if parts is None:
        parts = {"charm": {"plugin": "charm", "source": "."}}  # as charmcraft did before it wanted parts
    if not isinstance(parts, dict):
        raise InvalidCharm(f"{PREFIX}parts: expected map, got {typed(parts)}", file=FILE, key="parts")
    found = _Found()
    for name, part in parts.items():
        _part(str(name), part if isinstance(part, dict) else {}, read, found)
    if found.problems:
        raise InvalidCharm(
            f"charm cannot be built here: {found.problems[0]}",
            file=FILE,
            detail="\n".join(found.problems[1:]),
            hint="run `charmcraft pack` and deploy the .charm file that it makes",
        )
    return BuildPlan(
        requirements=tuple(dict.fromkeys(found.requirements)),
        files=tuple(dict.fromkeys(found.files)),
        local=tuple(dict.fromkeys(found.local)),
        locked=found.locked,
        dumps=tuple(found.dumps),
        wanted_by=found.wanted_by,
    )


def _part(name: str, part: Mapping[str, Any], read: Read, found: _Found) -> None:
    plugin = str(part.get("plugin", name))
    if plugin not in _PLUGINS:
        found.problems.append(f"part {quote(name)} uses the plugin {quote(plugin)}")
        return
    for key in part:
        if str(key) not in _HARMLESS:
            found.problems.append(f"part {quote(name)} has {quote(str(key))}")
    source = str(part.get("source", "."))
    if "://" in source or source.startswith("/") or ".." in PurePosixPath(source).parts:
        found.problems.append(f"part {quote(name)} has its source at {quote(source)}")
        return
    if plugin == "dump" and PurePosixPath(source) != PurePosixPath():
        found.dumps.append(source)
    elif plugin == "charm":
        _charm(part, read, found)
    elif plugin == "python":
        _python(part, read, found)
    elif plugin == "uv":
        _uv(part, read, found)


def _texts(part: Mapping[str, Any], key: str) -> list[str]:
    value = part.get(key) or []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _charm(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    files = _texts(part, "charm-requirements") or ["requirements.txt"]
    _take_files([name for name in files if name != "requirements.txt" or read(name) is not None], read, found)
    binary = _texts(part, "charm-binary-python-packages")
    found.requirements += [*_texts(part, "charm-python-packages"), *binary]


def _python(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    _take_files(_texts(part, "python-requirements"), read, found)
    found.requirements += [item for item in _texts(part, "python-packages") if item not in _TOOLS]
    if not found.files and read("pyproject.toml") is not None:
        _pyproject(read, found)


_TOOLS = ("pip", "setuptools", "wheel")


def _take_files(names: Iterable[str], read: Read, found: _Found) -> None:
    for name in names:
        content = read(name)
        if content is None:
            found.problems.append(f"{name} is missing from the tree")
            continue
        lines = content.decode("utf-8", "replace").splitlines()
        if any(line.strip() and not line.lstrip().startswith("#") for line in lines):
            found.files.append(name)
            found.wanted_by = found.wanted_by or name


def _uv(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    for key in ("uv-extras", "uv-groups"):
        if _texts(part, key):
            found.problems.append(f"{key}: {', '.join(_texts(part, key))}")
    lock = read("uv.lock")
    if lock is None:
        _pyproject(read, found)
        return
    found.wanted_by = found.wanted_by or "uv.lock"
    found.locked = True
    _locked(_toml(lock, "uv.lock"), read, found)


def _toml(content: bytes, name: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidCharm(f"parsing {quote(name)} file: {error}", file=name) from None


def _pyproject(read: Read, found: _Found) -> None:
    """Take the dependencies of pyproject.toml; those that lie in the tree are installed from there."""
    document = _toml(read("pyproject.toml") or b"", "pyproject.toml")
    project = document.get("project", {})
    if not isinstance(project, dict) or not project.get("dependencies"):
        return
    found.wanted_by = found.wanted_by or "pyproject.toml"
    tool = document.get("tool", {})
    sources = tool.get("uv", {}).get("sources", {}) if isinstance(tool, dict) else {}
    placed = {_plain(str(name)): source for name, source in sources.items()}
    for line in map(str, project["dependencies"]):
        name = _plain(re.split(r"[\s\[<>=!~;@(]", line, maxsplit=1)[0])
        source = placed.get(name)
        if source is None:
            found.requirements.append(line)
        else:
            _source(name, source, read, found)


def _plain(name: str) -> str:
    return _NAME.sub("-", name).lower()


def _source(name: str, source: Any, read: Read, found: _Found) -> None:
    path = source.get("path") if isinstance(source, dict) else None
    if not isinstance(path, str) or path.startswith("/") or ".." in PurePosixPath(path).parts:
        found.problems.append(f"package {quote(name)} does not come from PyPI or the tree")
    elif read(path) is None:
        found.problems.append(f"{path} is missing from the tree, from which {quote(name)} is installed")
    else:
        found.local.append(path)


def _locked(document: Mapping[str, Any], read: Read, found: _Found) -> None:
    """Take the packages of a lock file that the charm itself leads to, with their versions."""
    packages = [item for item in document.get("package", ()) if isinstance(item, dict)]
    by_name = {_plain(str(item.get("name"))): item for item in packages}
    roots = [item for item in packages if _is_root(item.get("source"))]
    seen: set[str] = set()
    waiting = [edge for item in roots for edge in _edges(item)]
    while waiting:
        name, marker = waiting.pop()
        package = by_name.get(name)
        if package is None or f"{name};{marker}" in seen:
            continue
        seen.add(f"{name};{marker}")
        waiting += [edge for edge in _edges(package) if f"{edge[0]};{edge[1]}" not in seen]
        source = package.get("source")
        if isinstance(source, dict) and "registry" in source:
            line = f"{name}=={package.get('version')}"
            found.requirements.append(f"{line} ; {marker}" if marker else line)
        elif not _is_root(source):
            _source(name, source, read, found)
    found.requirements.sort()


def _is_root(source: Any) -> bool:
    return isinstance(source, dict) and "." in (source.get("virtual"), source.get("editable"))


def _edges(package: Mapping[str, Any]) -> list[tuple[str, str]]:
    listed = package.get("dependencies") or ()
    return [
        (_plain(str(item["name"])), str(item.get("marker", "")))
        for item in listed
        if isinstance(item, dict) and "name" in item
    ]
