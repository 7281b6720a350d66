"""Reads the metadata of Python packages that come as sources, and makes the archives that pip finds.

No code of a package runs here: name, version and requirements are read from its files. A package that
computes its metadata has to be built where running its code does no harm (`build_machine`).
"""

from __future__ import annotations

import ast
import configparser
import email.parser
import re
import shutil
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pushjuju.charms.build.locks import plain, table
from pushjuju.charms.format.tomlsafe import TomlFault, load_toml
from pushjuju.core.errors import InvalidCharm
from pushjuju.core.values import dataclass, regex
from pushjuju.services.supply.requirement_files import place_of

_DOCUMENT = 4 << 20
_ARCHIVES = (".tar.gz", ".tgz", ".zip")
_READ = ("PKG-INFO", "requires.txt", "pyproject.toml", "setup.cfg", "setup.py")
_LITERAL = regex(r"^(?:__version__|VERSION|version)(?:\s*:\s*\w+)?\s*=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)
_NAME, _VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*"), re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]*")
_LEFT = frozenset({".git", ".tox", ".venv", "venv", "__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The metadata of a package; an attribute that the package computes is empty."""

    name: str = ""
    version: str = ""
    requires: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """True when name and version are present and can be part of a file name."""
        return bool(_NAME.fullmatch(self.name) and _VERSION.fullmatch(self.version))


def is_source(path: Path) -> bool:
    """Return True when a path is a folder or an archive with the sources of a Python package."""
    if path.is_dir():
        return any((path / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg"))
    return path.name.endswith(_ARCHIVES)


def describe(path: Path) -> Described:
    """Return the metadata of the sources in a folder or archive."""
    try:
        files = _of_folder(path) if path.is_dir() else _of_archive(path)
        return _from_pkg_info(files) or _from_project(files) or _from_setup_cfg(files)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, TomlFault, configparser.Error) as error:
        raise InvalidCharm(f"cannot read the sources of package {path.name}: {error}") from None


def build_needs(path: Path) -> tuple[str, ...]:
    """Return the requirements for building the sources in an archive or folder.

    Requirements with a path are left out, because they would include files of this computer.
    """
    try:
        files = _of_folder(path) if path.is_dir() else _of_archive(path)
        listed = table(load_toml(files.get("pyproject.toml", "")), "build-system").get("requires")
    except (OSError, tarfile.TarError, zipfile.BadZipFile, TomlFault) as error:
        raise InvalidCharm(f"cannot read the sources of package {path.name}: {error}") from None
    lines = [str(line).strip() for line in listed] if isinstance(listed, list) else ["setuptools"]
    lines += [line for line in _setup_requires(files) if line not in lines]
    named = [line for line in lines if re.match(r"[A-Za-z0-9][^@/:]*$", line) and not place_of(line)]
    # Older releases of setuptools ask for wheel only during the build.
    return (*named, *(["wheel"] if any(plain(line).startswith("setuptools") for line in named) else []))


def _setup_requires(files: Mapping[str, str]) -> list[str]:
    """Return `setup_requires` when setup.cfg or setup.py has it as a literal; setuptools would compute it."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(files.get("setup.cfg", ""))
        named: object = parser.get("options", "setup_requires", fallback="")
        for node in ast.walk(ast.parse(files.get("setup.py", ""))):
            if isinstance(node, ast.keyword) and node.arg == "setup_requires":
                named = ast.literal_eval(node.value)
    except (configparser.Error, SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # a computed value is known only to the build, which then asks an index
    lines = named.splitlines() if isinstance(named, str) else named if isinstance(named, list | tuple) else ()
    return [line.strip() for line in map(str, lines) if line.strip()]


def _of_folder(path: Path) -> Mapping[str, str]:
    found = {name: _text(path / name) for name in _READ if _is_own(path / name, path)}
    wanted = [_version_place(found)] if "PKG-INFO" not in found else []
    for name in filter(None, wanted):
        if _is_own(path / name, path):
            found["version"] = _text(path / name)
    return found


def _is_own(place: Path, folder: Path) -> bool:
    """Return True when a path is a file inside a folder, and not a link out of the folder."""
    return place.is_file() and place.resolve().is_relative_to(folder.resolve())


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_DOCUMENT).decode("utf-8", "replace")


def _of_archive(path: Path) -> Mapping[str, str]:
    found: dict[str, str] = {}

    def take(name: str, data: bytes) -> None:
        parts = PurePosixPath(name).parts
        if parts and parts[-1] in _READ and (len(parts) == 2 or parts[-2].endswith(".egg-info")):
            found.setdefault(parts[-1], data.decode("utf-8", "replace"))

    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.endswith(_READ):
                    with archive.open(info) as stream:
                        take(info.filename, stream.read(_DOCUMENT))
        return found
    with tarfile.open(path, "r:gz") as opened:
        for member in opened:
            if member.isfile() and member.name.endswith(_READ):
                file = opened.extractfile(member)
                take(member.name, file.read(_DOCUMENT) if file else b"")
    return found


def _from_pkg_info(files: Mapping[str, str]) -> Described | None:
    if "PKG-INFO" not in files:
        return None
    message = email.parser.HeaderParser().parsestr(files["PKG-INFO"])
    requires = tuple(message.get_all("Requires-Dist") or ()) or tuple(
        _egg_requires(files.get("requires.txt", ""))
    )
    return Described(
        name=str(message.get("Name", "")), version=str(message.get("Version", "")), requires=requires
    )


def _egg_requires(text: str) -> list[str]:
    """Return the requirements of an egg's `requires.txt`, whose sections are extras and markers."""
    found, marker = [], ""
    for line in map(str.strip, text.splitlines()):
        section = re.fullmatch(r"\[([^:\]]*):?(.*)\]", line)
        if section:
            parts = [f'extra == "{section[1]}"'] if section[1] else []
            marker = " and ".join([*parts, *([f"({section[2]})"] if section[2] else [])])
        elif line:
            found.append(f"{line} ; {marker}" if marker else line)
    return found


def _from_project(files: Mapping[str, str]) -> Described | None:
    document = load_toml(files.get("pyproject.toml", ""))
    project, poetry = table(document, "project"), table(document, "tool", "poetry")
    if project.get("name"):
        known = "dependencies" not in project.get("dynamic", ())
        version = str(project.get("version") or _literal(files))
        return Described(
            name=str(project["name"]), version=version if known else "", requires=_project_lines(project)
        )
    if poetry.get("name"):
        lines = tuple(_poetry_lines(table(poetry, "dependencies")))
        return Described(name=str(poetry["name"]), version=str(poetry.get("version", "")), requires=lines)
    return None


def _project_lines(project: Mapping[str, Any]) -> tuple[str, ...]:
    lines = [str(line) for line in project.get("dependencies", ())]
    for extra, more in table(project, "optional-dependencies").items():
        for text, _, marker in (str(line).partition(";") for line in more):
            both = f'({marker.strip()}) and extra == "{extra}"' if marker.strip() else f'extra == "{extra}"'
            lines.append(f"{text.strip()} ; {both}")
    return tuple(lines)


def _poetry_lines(dependencies: Mapping[str, Any]) -> list[str]:
    found = []
    for name, entry in dependencies.items():
        table = entry if isinstance(entry, dict) else {"version": entry}
        if plain(name) == "python" or table.get("optional"):
            continue
        extras = f"[{','.join(table['extras'])}]" if table.get("extras") else ""
        marker = f" ; {table['markers']}" if table.get("markers") else ""
        found.append(f"{name}{extras}{_range(str(table.get('version', '*')))}{marker}")
    return found


def _range(text: str) -> str:
    """Return a version requirement of Poetry in pip's form: `^1.2` becomes `>=1.2,<2`."""
    text = text.strip()
    if text in ("", "*"):
        return ""
    if text[0] not in "^~":
        return text if text[0] in "<>=!" else f"=={text}"
    numbers = [int(part) for part in re.findall(r"\d+", text)] or [0]
    at = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    at = at if text[0] == "^" else min(1, len(numbers) - 1)
    upper = [*numbers[:at], numbers[at] + 1]
    return f">={'.'.join(map(str, numbers))},<{'.'.join(map(str, upper))}"


def _from_setup_cfg(files: Mapping[str, str]) -> Described:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(files.get("setup.cfg", ""))
    version = parser.get("metadata", "version", fallback="")
    if version.startswith(("attr:", "file:")):
        version = _literal(files)
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    return Described(
        name=parser.get("metadata", "name", fallback="") if lines or version else "",
        version=version,
        requires=tuple(line.strip() for line in lines if line.strip()),
    )


def _version_place(files: Mapping[str, str]) -> str:
    """Return the file that has a project's version, or an empty text when no setting names the file."""
    document = load_toml(files.get("pyproject.toml", ""))
    entry = table(document, "tool", "setuptools", "dynamic").get("version")
    hatch = table(document, "tool", "hatch", "version").get("path")
    cfg = re.search(r"^version\s*=\s*(attr|file):\s*(\S+)", files.get("setup.cfg", ""), re.MULTILINE)
    if cfg:
        entry = {cfg[1]: cfg[2]}
    if isinstance(entry, dict) and isinstance(entry.get("file"), str):
        return str(entry["file"])
    if isinstance(entry, dict) and isinstance(entry.get("attr"), str):
        return "/".join(entry["attr"].split(".")[:-1]) + ".py"
    return hatch if isinstance(hatch, str) else ""


def _literal(files: Mapping[str, str]) -> str:
    text = files.get("version", "").strip()
    found = _LITERAL.search(text)
    return found[1] if found else text if re.fullmatch(r"[0-9][\w.+!-]*", text) else ""


def stem(described: Described) -> str:
    """Return the beginning of a package's file names, in the form that pip looks for."""
    return f"{plain(described.name).replace('-', '_')}-{described.version}"


def copy(path: Path, described: Described, target: Path) -> Path:
    """Copy an archive to the name that pip looks for; return the new path."""
    suffix = next(suffix for suffix in _ARCHIVES if path.name.endswith(suffix))
    return Path(shutil.copy(path, target / f"{stem(described)}{suffix}"))


def archive(folder: Path, described: Described, target: Path) -> Path:
    """Pack the sources in a folder into an archive with the name that pip looks for; return its path.

    Links out of the folder are left out, because they would include other files of this computer.
    """
    name = stem(described)
    path = target / f"{name}.tar.gz"
    root = folder.resolve()

    def choose(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        parts = PurePosixPath(member.name).parts
        if parts[-1] in _LEFT or not (member.isfile() or member.isdir() or member.issym()):
            return None
        place = folder.joinpath(*parts[1:])
        if member.issym() and not place.resolve().is_relative_to(root):
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        return member

    with tarfile.open(path, "w:gz") as opened:
        opened.add(folder, arcname=name, filter=choose)
    return path


def stub(described: Described, requires: Sequence[str], folder: Path) -> Path:
    """Write a wheel without modules, from which pip reads a package's requirements; return its path."""
    name = stem(described)
    info = f"{name}.dist-info/"
    lines = ["Metadata-Version: 2.1", f"Name: {described.name}", f"Version: {described.version}"]
    lines += [f"Requires-Dist: {' '.join(line.split())}" for line in requires]
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(info + "METADATA", "\n".join(lines) + "\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", f"{info}METADATA,,\n{info}WHEEL,,\n{info}RECORD,,\n")
    return path
