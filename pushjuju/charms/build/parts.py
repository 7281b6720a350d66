"""Plans how to build a charm's `parts`, and names the parts that cannot be built here. Pure.

Pure Python charms can be built: the plugins charm, uv, python, poetry, dump and nil, and reactive where
scripts may run. Anything else is reported, never guessed.
Mirrors: charmcraft's plugins (4.5)
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath
from typing import Any

from pushjuju.charms.build import locks, poetry
from pushjuju.charms.build import scripts as build_scripts
from pushjuju.charms.build.charmcraft import FILE, PREFIX
from pushjuju.charms.format import yamlsafe
from pushjuju.charms.format.places import Places
from pushjuju.charms.format.tomlsafe import TomlFault, load_toml
from pushjuju.charms.values.goform import typed
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import InvalidCharm, NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote

Read = Callable[[str], bytes | None]
"""Returns the bytes of a file of the tree, or None when the file is missing."""

HINT = (
    "run `charmcraft pack` and deploy the .charm file that it makes; scripts can be run in a machine that is "
    "thrown away: --allow-build-scripts"
)
_PYTHON = ("charm", "uv", "python", "poetry")
_PLUGINS = (*_PYTHON, "dump", "nil")
REACTIVE = "reactive"
TOOLS = "charm-tools"  # builds reactive charms; a part that installs this package has the same name
_SNAPS = {"astral-uv": "uv"}  # snap -> the Python package with the same program
# Build tools that pip replaces; other packages that a build installs are not needed for wheels.
_HARMLESS = frozenset(
    {
        "plugin", "source", "source-type", "build-packages", "build-snaps", "build-environment", "prime",
        "stage", "after", "build-attributes", "charm-entrypoint", "charm-requirements",
        "charm-python-packages", "charm-binary-python-packages", "charm-strict-dependencies",
        "python-requirements", "python-packages", "python-constraints", "uv-extras", "uv-groups",
        "poetry-with", "poetry-keep-bins", "python-keep-bins", "uv-keep-bins", "parse-info", "source-depth",
        "source-submodules", "build-for", "permissions", "override-build", "poetry-export-extra-args",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A part that is built by a script of the charm's author."""

    part: str
    text: str
    packages: tuple[str, ...] = ()  # packages of the base's operating system that the build needs
    tools: tuple[str, ...] = ()  # python packages that provide the programs of snaps
    plugin: str = ""  # the plugin that `craftctl default` in the script runs
    arguments: tuple[str, ...] = ()  # the arguments of `charm build`, for the plugin reactive


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """The packages and files that a charm needs in addition to the files of its tree."""

    # lines for requirements.txt, with versions where a lock file gives them
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # files of the tree that have such lines
    constraints: tuple[str, ...] = ()  # files of the tree that constrain the versions
    local: tuple[str, ...] = ()  # paths of packages in the tree
    locked: bool = False  # True when the lines name every package, so that pip resolves no dependencies
    dumps: tuple[str, ...] = ()  # folders of the tree whose content goes to the charm's root
    wanted_by: str = ""  # the file that asks for the packages; errors name it
    left_out: tuple[str, ...] = ()  # sentences for the user about scripts that are left out
    # the scripts that must run to build the charm; empty when wheels are enough
    scripts: tuple[Script, ...] = ()

    @property
    def installs(self) -> bool:
        """True when packages have to be installed."""
        return bool(self.requirements or self.files or self.local)

    @property
    def is_reactive(self) -> bool:
        """True when charm-tools build the charm."""
        return any(script.plugin == REACTIVE for script in self.scripts)


@dataclass(slots=True)
class _Found:
    requirements: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    local: list[str] = field(default_factory=list)
    dumps: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    locked: bool = False
    wanted_by: str = ""
    allowed: bool = False
    left_out: list[str] = field(default_factory=list)
    scripts: list[Script] = field(default_factory=list)
    defaults: list[Script] = field(default_factory=list)  # for parts without a script
    exported: set[str] = field(default_factory=set)  # files that the scripts would make from uv.lock


def plan(data: bytes, read: Read, origin: str = "", *, scripts: bool = False) -> BuildPlan:
    """Return what has to be done to build a source tree's parts.

    Args:
        data: Bytes of `charmcraft.yaml`.
        read: Returns the content of a file of the tree.
        origin: Prefix of the names of files in errors.
        scripts: True when scripts of the tree may run.
    """
    try:
        project = yamlsafe.load(data, text_keys=4)
    except NotValid as error:
        raise InvalidCharm(PREFIX + error.message, file=FILE) from None
    parts = project.get("parts") if isinstance(project, dict) else None
    if parts is None:
        parts = {"charm": {"plugin": "charm", "source": "."}}  # what charmcraft does without `parts`
    if not isinstance(parts, dict):
        raise InvalidCharm(f"{PREFIX}parts: expected map, got {typed(parts)}", file=FILE, key="parts")
    found, problems = _Found(allowed=scripts), Problems()
    plugins = {_plugin(name, part) for name, part in parts.items()}
    reactive = REACTIVE in plugins
    for name, part in parts.items():
        if reactive and name == TOOLS:
            found.left_out.append(f"part {quote(name)}: charm-tools are installed from the package index")
            continue
        if build_scripts.brings_tool(str(name), _plugin(name, part), plugins):
            found.left_out.append(f"part {quote(str(name))}: packages are installed as wheels")
            continue
        _part(str(name), part if isinstance(part, dict) else {}, read, found)
        for text in found.problems:
            problems.add(FILE, text, key=f"parts.{name}")
        found.problems.clear()
    problems.raise_if_any(
        Places(lambda name: data if name == FILE else read(name), origin).of,
        prefix="charm cannot be built here: ",
        hint=HINT,
    )
    return BuildPlan(
        requirements=tuple(dict.fromkeys(found.requirements)),
        files=tuple(dict.fromkeys(found.files)),
        constraints=tuple(dict.fromkeys(found.constraints)),
        local=tuple(dict.fromkeys(found.local)),
        locked=found.locked,
        dumps=tuple(found.dumps),
        wanted_by=found.wanted_by,
        left_out=tuple(found.left_out),
        scripts=(*found.defaults, *found.scripts) if found.scripts else (),
    )


def _part(name: str, part: Mapping[str, Any], read: Read, found: _Found) -> None:
    plugin = _plugin(name, part)
    if plugin == REACTIVE:
        _reactive(name, part, found)
        return
    if plugin not in _PLUGINS:
        found.problems.append(f"part {quote(name)} uses the plugin {quote(plugin)}")
        return
    _script(name, plugin, part, found)
    for key in part:
        if str(key) not in _HARMLESS:
            found.problems.append(f"part {quote(name)} has {quote(str(key))}")
    source = str(part.get("source", "."))
    if "://" in source or source.startswith("/") or ".." in PurePosixPath(source).parts:
        found.problems.append(f"part {quote(name)} has its source outside of the tree: {quote(source)}")
        return
    if plugin == "dump" and PurePosixPath(source) != PurePosixPath():
        found.dumps.append(source)
    elif plugin == "charm":
        _charm(part, read, found)
    elif plugin == "python":
        _python(part, read, found)
    elif plugin == "uv":
        _uv(part, read, found)
    elif plugin == "poetry":
        _poetry(part, read, found)


def _plugin(name: str, part: Any) -> str:
    return str(part.get("plugin", name) if isinstance(part, dict) else name)


def _reactive(name: str, part: Mapping[str, Any], found: _Found) -> None:
    """Note a part that `charm build` builds; its layers run code of their own."""
    if not found.allowed:
        found.problems.append(f'part {quote(name)} uses the plugin "reactive", which runs the code of layers')
        return
    given = locks.texts(part, "reactive-charm-build-arguments")
    try:
        arguments = tuple(word for text in given for word in shlex.split(text))
    except ValueError as error:
        found.problems.append(f'"reactive-charm-build-arguments": {error}')
        return
    text = str(part.get("override-build") or "craftctl default\n")
    packages = _packages(part)
    found.scripts.append(
        Script(part=name, text=text, packages=packages, plugin=REACTIVE, arguments=arguments)
    )


def _script(name: str, plugin: str, part: Mapping[str, Any], found: _Found) -> None:
    """Note the script of a part, unless all that the script does can be left out.

    When the script of another part has to run, the plugin of this part runs in the build machine, too.
    """
    text = str(part.get("override-build", build_scripts.DEFAULT))
    judged = build_scripts.judge(text, python=plugin in _PYTHON)
    if not judged.needed:
        text = f'cp -a {shlex.quote(str(part.get("source", ".")))}/. "$CRAFT_PART_INSTALL/"'
        text = build_scripts.DEFAULT if plugin in _PYTHON else text
        if plugin != "nil":
            found.defaults.append(Script(part=name, text=text, packages=_packages(part)))
        found.exported.update(judged.exported)
        found.left_out += [f"{line} (part {quote(name)}): {reason}" for line, reason in judged.left_out]
    elif found.allowed:
        snaps = (snap.partition("/")[0] for snap in locks.texts(part, "build-snaps"))
        tools = tuple(_SNAPS[snap] for snap in snaps if snap in _SNAPS)
        found.scripts.append(Script(part=name, text=text, packages=_packages(part), tools=tools))
    else:
        found.problems.append(f'part {quote(name)} has "override-build"')


def _packages(part: Mapping[str, Any]) -> tuple[str, ...]:
    names = locks.texts(part, "build-packages")
    return tuple(name for name in names if re.fullmatch(r"[a-z0-9][a-z0-9.+-]*", name))


def _charm(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    is_there = found.exported or read("requirements.txt") is not None
    usual = ["requirements.txt"] if is_there else []
    _take_files(locks.texts(part, "charm-requirements") or usual, read, found)
    binary = locks.texts(part, "charm-binary-python-packages")
    found.requirements += [*locks.texts(part, "charm-python-packages"), *binary]


def _python(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    _take_files(locks.texts(part, "python-requirements"), read, found)
    _take_constraints(locks.texts(part, "python-constraints"), read, found)
    found.requirements += [item for item in locks.texts(part, "python-packages") if item not in _TOOLS]
    if not found.files and read("pyproject.toml") is not None:
        _pyproject(read, found)


_TOOLS = ("pip", "setuptools", "wheel")


def _take_files(names: Iterable[str], read: Read, found: _Found) -> None:
    for name in names:
        if name in found.exported and read("uv.lock") is not None:
            _uv({}, read, found)
            continue
        content = read(name)
        if content is None and found.scripts:
            found.files.append(name)  # a script makes the file later
            continue
        if content is None:
            found.problems.append(f"{name} is missing from the tree")
            continue
        lines = content.decode("utf-8", "replace").splitlines()
        if any(line.strip() and not line.lstrip().startswith("#") for line in lines):
            found.files.append(name)
            found.wanted_by = found.wanted_by or name


def _take_constraints(names: Iterable[str], read: Read, found: _Found) -> None:
    for name in names:
        if read(name) is None and not found.scripts:
            found.problems.append(f"{name} is missing from the tree")
        else:
            found.constraints.append(name)


def _uv(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    extras, groups = locks.texts(part, "uv-extras"), locks.texts(part, "uv-groups")
    lock = read("uv.lock")
    if lock is None:
        _pyproject(read, found, extras, groups)
        return
    found.wanted_by = found.wanted_by or "uv.lock"
    found.locked = True
    packages = locks.uv_packages(_toml(lock, "uv.lock"))
    roots: list[locks.Edge] = []
    for own in (package for package in packages if package.own):
        names = locks.chosen("uv-extras:", extras, own.extras, found.problems)
        roots += [*own.edges, *(edge for name in names for edge in own.extras[name])]
        names = locks.chosen("uv-groups:", groups, own.groups, found.problems)
        roots += [edge for name in names for edge in own.groups[name]]
    _take_locked(packages, roots, read, found)


def _take_locked(
    packages: Sequence[locks.Package], roots: Iterable[locks.Edge], read: Read, found: _Found
) -> None:
    """Take the packages of a lock file that the charm depends on, with their versions."""
    try:
        reached = [item for item in locks.reached(packages, roots) if not item[0].own]
    except NotValid as error:
        found.problems.append(f"{found.wanted_by}: {error.message}")
        return
    from_index = [item for item in reached if _of_index(item[0].source)]
    found.requirements += locks.lines(from_index)
    for package in {item[0].name: item[0] for item in reached if not _of_index(item[0].source)}.values():
        source = package.source
        if isinstance(source, dict) and source.get("type") in ("file", "directory"):
            source = {"path": source.get("url")}  # the form in which Poetry writes a path
        _source(package.name, source, read, found)


def _of_index(source: Any) -> bool:
    """Return True when a package comes from a package index; Poetry names no source for PyPI."""
    return source is None or (isinstance(source, dict) and "registry" in source)


def _poetry(part: Mapping[str, Any], read: Read, found: _Found) -> None:
    """Take the packages that `poetry export` lists: main dependencies and groups, or those of `--only`."""
    lock = read("poetry.lock")
    if lock is None:
        found.problems.append("poetry.lock is missing from the tree")
        return
    project = _toml(read("pyproject.toml") or b"", "pyproject.toml")
    roots = poetry.roots(project, part, found.problems)
    found.wanted_by = found.wanted_by or "poetry.lock"
    found.locked = True
    _take_locked(locks.poetry_packages(_toml(lock, "poetry.lock")), roots, read, found)


def _toml(content: bytes, name: str) -> Mapping[str, Any]:
    try:
        return load_toml(content.decode("utf-8", "replace"))
    except TomlFault as error:
        raise InvalidCharm(f"parsing {quote(name)} file: {error}", file=name) from None


def _pyproject(read: Read, found: _Found, extras: Sequence[str] = (), groups: Sequence[str] = ()) -> None:
    """Take the dependencies of pyproject.toml; those in the tree are installed from the tree."""
    document = _toml(read("pyproject.toml") or b"", "pyproject.toml")
    project = locks.table(document, "project")
    wanted = _lines(project.get("dependencies"))
    optional, grouped = (
        locks.table(project, "optional-dependencies"),
        locks.table(document, "dependency-groups"),
    )
    for name in locks.chosen("uv-extras:", extras, optional, found.problems):
        wanted += _lines(optional[name])
    for name in locks.chosen("uv-groups:", groups, grouped, found.problems):
        wanted += _of_group(name, grouped)
    if not wanted:
        return
    found.wanted_by = found.wanted_by or "pyproject.toml"
    placed = {
        locks.plain(name): item for name, item in locks.table(document, "tool", "uv", "sources").items()
    }
    for line in wanted:
        name = locks.edge_of_line(line).name
        if name in placed:
            _source(name, placed[name], read, found)
        else:
            found.requirements.append(line)


def _lines(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _of_group(name: str, groups: Mapping[str, Any]) -> list[str]:
    """Return the lines of a dependency group and of the groups that it includes, each group once."""
    found: list[str] = []
    waiting, seen = [name], set[str]()
    while waiting:
        name = waiting.pop()
        listed = groups.get(name)
        if name in seen or not isinstance(listed, list):
            continue
        seen.add(name)
        found += _lines(listed)
        items = (item for item in reversed(listed) if isinstance(item, dict))
        waiting += [str(item["include-group"]) for item in items if "include-group" in item]
    return found


def _source(name: str, source: Any, read: Read, found: _Found) -> None:
    """Take a package from the tree, a repository or a URL: any package that is not from an index."""
    table = source if isinstance(source, dict) else {}
    address = _address(table)
    path = next((table[key] for key in ("path", "directory", "editable") if key in table), None)
    if address:
        found.requirements.append(f"{name} @ {address}")
    elif not isinstance(path, str) or path.startswith("/") or ".." in PurePosixPath(path).parts:
        found.problems.append(f"package {quote(name)} does not come from PyPI, a repository or the tree")
    elif not any(read(place) for place in (path, f"{path}/pyproject.toml", f"{path}/setup.py")):
        found.problems.append(f"{path} is missing from the tree, from which {quote(name)} is installed")
    else:
        found.local.append(path)


def _address(source: Mapping[str, Any]) -> str:
    """Return pip's notation for the source of a package that uv, Poetry or a lock file names."""
    git = source.get("git") or (source.get("url") if source.get("type") == "git" else None)
    if not isinstance(git, str) or not git.startswith(("https://", "http://", "ssh://")):
        url = source.get("url") if source.get("type") in (None, "url") else None
        return url if isinstance(url, str) and url.startswith(("https://", "http://")) else ""
    address, _, commit = git.partition("#")
    address, _, query = address.partition("?")
    asked = dict(part.partition("=")[::2] for part in query.split("&") if part) | {
        key: str(source[key]) for key in source if key not in ("git", "url")
    }
    refs = (
        commit,
        *(asked.get(key, "") for key in ("resolved_reference", "rev", "tag", "branch", "reference")),
    )
    ref = next((f"@{text}" for text in refs if text), "")
    folder = asked.get("subdirectory", "")
    return f"git+{address}{ref}" + (f"#subdirectory={folder}" if folder else "")
