"""Builds the source tree of a charm into a tree that can be packed, with its Python packages in `venv`.

All packages are wheels that pip chooses for the Python of the machine's base, so that nothing of this
computer's Python gets into a charm. A cache keeps what was installed for the same requirements.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.charms.archive import ignore, tree
from pushjuju.charms.archive.pack import pack
from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.archive.version import run_vcs, version_text
from pushjuju.charms.build import charmcraft, parts
from pushjuju.charms.format import manifest, metadata
from pushjuju.core.base import Base
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import InvalidCharm
from pushjuju.services.entities.model import constraints as model_constraints
from pushjuju.services.supply import download_cache, requirement_files, wheels
from pushjuju.services.supply.runpip import Target
from pushjuju.services.supply.store_charms import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pushjuju.charms.archive.pack import PackedCharm
    from pushjuju.charms.build.parts import BuildPlan
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.supply.build_machine import BuildMachine

Say = Callable[[str], None]

# The version of Python that each base has.
PYTHONS: Mapping[tuple[str, str], str] = {
    ("ubuntu", "20.04"): "3.8.10",
    ("ubuntu", "22.04"): "3.10.12",
    ("ubuntu", "24.04"): "3.12.3",
    ("ubuntu", "26.04"): "3.14.0",
    ("debian", "12"): "3.11.2",
    ("debian", "13"): "3.13.5",
    ("centos", "9"): "3.9.18",
}
# Names in a source tree that a charm does not need.
_LEFT = (
    ".git", ".hg", ".svn", ".bzr", ".tox", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    "__pycache__", "node_modules", "*.charm", "tests",
)  # fmt: skip
# Files that the build itself reads; `.jujuignore` cannot leave them out.
_KEPT = frozenset({charmcraft.FILE, metadata.FILE, "revision"})
VENV = "venv"
PENDING = "pending"
_FORM = 5  # version of the cache's content; a new number makes old entries unused


def is_source(path: Path) -> bool:
    """Return True for a source tree whose packages are not installed yet.

    A `venv` that `.jujuignore` leaves out, or that is a developer's virtual environment, does not count.
    """
    if not (path / charmcraft.FILE).is_file():
        return False
    return not (path / VENV).is_dir() or _is_developers(path, tree.ignore_rules(path))


def _is_developers(root: Path, rules: Sequence[ignore.Rule]) -> bool:
    return (root / VENV / "pyvenv.cfg").exists() or ignore.ignored(rules, VENV, is_dir=True)


def _left_out(root: Path) -> Callable[[str, list[str]], set[str]]:
    """Return the filter with which `copytree` leaves names of the source tree out of the charm.

    The rules of `.jujuignore` hold for the source tree only, not for what the build installs.
    """
    rules = tree.ignore_rules(root)
    usual = shutil.ignore_patterns(*_LEFT)

    def left(folder: str, names: list[str]) -> set[str]:
        below = Path(folder).relative_to(root)
        out = usual(folder, names)
        for name in names:
            path = below / name
            if str(path) not in _KEPT and ignore.ignored(rules, str(path), is_dir=_is_folder(root / path)):
                out.add(name)
        return out if below.parts or not _is_developers(root, rules) else {*out, VENV}

    return left


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _copy_plain(folder: Path, source: str, target: str) -> None:
    """Copy a regular file with its mode, but not through a link that has replaced the file."""
    name = str(Path(source).relative_to(folder))
    with tree.open_plain(folder, name) as stream, Path(target).open("wb") as out:
        shutil.copyfileobj(stream, out)
        os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(stream.fileno()).st_mode))


def built(
    path: Path,
    work: Path,
    *,
    base: Base,
    arch: str = DEFAULT_ARCH,
    environ: Mapping[str, str],
    say: Say = lambda _text: None,
    origin: str | None = None,
    alone: bool = False,
    scripts: bool = False,
) -> Path:
    """Build a tree; return the tree to pack, which is the path itself when nothing has to be installed.

    Args:
        work: An empty folder, in which the tree is made.
        base: The base of the machines, which determines their Python.
        arch: The architecture of the machines.
        say: Called with a line when a slow step begins.
        origin: Prefix of file names in errors, or None for the path.
        alone: True to let the charm support only this base and architecture.
        scripts: True to run the scripts of parts and source packages, in a machine that is deleted
            afterwards.
    """
    root = tree.resolve_root(path).absolute()
    data = tree.read_document(root, charmcraft.FILE)
    if data is None:
        return path
    shown = str(path) if origin is None else origin
    plan = parts.plan(data, lambda name: _read(root, name), shown, scripts=scripts)
    _check_submodules(root)
    for text in plan.left_out:
        say(f"Leaving out {text}")
    if not plan.installs and not plan.dumps and not plan.scripts:
        return path
    target = work / "tree"
    copy = partial(_copy_plain, root)
    shutil.copytree(root, target, symlinks=True, ignore=_left_out(root), copy_function=copy)
    version, _ = version_text(root, run_vcs)
    if version:
        (target / "version").write_text(version, encoding="utf-8")
    for folder in plan.dumps:
        copy = partial(_copy_plain, root / folder)
        shutil.copytree(root / folder, target, symlinks=True, dirs_exist_ok=True, copy_function=copy)
    for name in plan.local:
        (target / name).unlink(missing_ok=True)
    if plan.scripts:
        target = _scripted(work, plan, base, arch, environ=environ, say=say)
    elif plan.installs:
        wanted = _target(base, arch)
        with _build_machine(base, arch, environ, say) as machine:
            build = machine.wheel if scripts else None
            packages = _packages(root, plan, wanted, environ=environ, say=say, build=build)
        shutil.copytree(packages / VENV, target / VENV, symlinks=True)
        if (packages / PENDING).is_dir():
            _check_pending(root, packages / PENDING, target, origin=origin)
    if alone and not (target / manifest.FILE).exists():
        entry = {"name": base.os, "channel": base.track, "architectures": [arch]}
        (target / manifest.FILE).write_text(json.dumps({"bases": [entry]}), encoding="utf-8")
    return target


def _scripted(
    work: Path, plan: BuildPlan, base: Base, arch: str, *, environ: Mapping[str, str], say: Say
) -> Path:
    """Run the scripts of the copied tree in a machine; return the folder with the charm's files."""
    made = work / "made"
    with _build_machine(base, arch, environ, say) as machine:
        tools = None
        if plan.is_reactive:
            tools = _charm_tools(work, _target(base, arch), environ, say, machine.wheel)
        machine.parts(work / "tree", plan, made, tools)
    for name in (charmcraft.FILE, "version"):
        if (work / "tree" / name).exists() and not (made / name).exists():
            shutil.copy(work / "tree" / name, made / name)
    return made


def _build_machine(
    base: Base, arch: str, environ: Mapping[str, str], say: Say
) -> AbstractContextManager[BuildMachine]:
    from pushjuju.services.supply import build_machine  # asyncssh, for the charms that run code to be built

    return build_machine.machine(base, arch, environ, say)


def _target(base: Base, arch: str) -> Target:
    python = PYTHONS.get((base.os, base.track), platform.python_version())
    return Target(python=python, arch=arch)


def _charm_tools(
    work: Path, target: Target, environ: Mapping[str, str], say: Say, build: wheels.Build
) -> Path:
    """Install charm-tools with its dependencies for a build machine; return the folder."""
    empty = work / "empty"
    empty.mkdir()
    plan = parts.BuildPlan(requirements=(parts.TOOLS,), wanted_by=parts.TOOLS)
    return _packages(empty, plan, target, environ=environ, say=say, build=build) / VENV


class CharmPaths:
    """Packs the charms that a bundle names by paths; source trees are built first."""

    def __init__(self, ctx: Context, model: str, folder: Path) -> None:
        self._ctx = ctx
        self._model = model
        self._folder = folder
        self._packed: dict[tuple[str, str, str], PackedCharm] = {}

    def packed(self, path: str, base: str, constraints: Mapping[str, Any]) -> PackedCharm:
        """Return a packed charm; the same path is packed once for each base and architecture."""
        source, arch = bool(base) and Path(path).is_dir() and is_source(Path(path)), ""
        if source:
            asked = model_constraints.wanted_arch(self._ctx, self._model, constraints)
            arch = model_constraints.chosen_arch(read_charm(Path(path)).charm, Base.parse(base), asked)
        key = (path, base if source else "", arch)
        if key not in self._packed:
            work = self._folder / f"path-{len(self._packed)}"
            (work / "built").mkdir(parents=True)
            tree = Path(path)
            if source:
                environ = self._ctx.environ
                tree = built(tree, work / "built", base=Base.parse(base), arch=arch, environ=environ)
            self._packed[key] = pack(tree, work / "charm")
        return self._packed[key]


def _check_pending(root: Path, pending: Path, target: Path, *, origin: str | None) -> None:
    """Copy sources that only a machine can build into a tree, or raise when the charm builds none."""
    data = tree.read_document(root, charmcraft.FILE) or b""
    linked = bool(tree.entry_links(root, charmcraft.entry(data)))
    if not charmcraft.makes_dispatch(data, lambda name: (root / name).exists(), linked=linked):
        names = ", ".join((pending / "requirements.txt").read_text().split())
        raise InvalidCharm(
            f"there is no wheel of {names} for the machines, and this charm's own entry does not build it",
            file=charmcraft.FILE,
            detail=f"at {Path(origin or '', charmcraft.FILE)}",
            hint=f"leave dispatch out of the tree, so that packages are built on the machine; {wheels.ALLOW}",
        )
    shutil.copytree(pending, target / PENDING)


def _read(root: Path, name: str) -> bytes | None:
    """Return the bytes of a file in the tree, or None when it is missing or links out of the tree."""
    path = root / name
    if not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
        return None
    return path.read_bytes()


def _check_submodules(root: Path) -> None:
    """Refuse a tree with a git submodule that is not checked out, because files of the charm are missing."""
    text = (tree.read_document(root, ".gitmodules") or b"").decode("utf-8", "replace")
    for name in re.findall(r"^\s*path\s*=\s*(.+?)\s*$", text, re.MULTILINE):
        folder = root / name
        if ".." not in Path(name).parts and not (folder.is_dir() and any(folder.iterdir())):
            raise InvalidCharm(
                f"the git submodule {name} is not in the tree",
                file=".gitmodules",
                hint="git submodule update --init --recursive",
            )


def _packages(
    root: Path,
    plan: BuildPlan,
    target: Target,
    *,
    environ: Mapping[str, str],
    say: Say,
    build: wheels.Build | None,
) -> Path:
    """Return a folder with `venv`, from the cache when the same packages were installed before.

    When only machines can build some of the packages, the folder also has `pending` with their sources.
    """
    files = (*plan.files, *plan.constraints)
    lines = [*plan.requirements, *requirement_files.all_lines(root, files)]
    places = [*plan.local, *filter(None, map(requirement_files.place_of, lines))]
    contents = {name: _digest(root / name) for name in places}
    # The content of a branch changes, so packages from a branch are never taken from the cache.
    fresh = secrets.token_hex(8) if any(map(requirement_files.unpinned, lines)) else ""
    key = json.dumps([_FORM, target.python, target.arch, lines, contents, plan.locked, fresh, bool(build)])
    kept = cache_folder(environ).parent / "venvs" / hashlib.sha256(key.encode()).hexdigest()
    if kept.is_dir():
        download_cache.used(kept)
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    say(f"Installing the packages of {plan.wanted_by or charmcraft.FILE} for {target}")
    with _making(kept) as new:
        wheels.install(root, plan, target, new, say=say, build=build)
    download_cache.prune_trees(kept.parent)
    return kept


def _digest(path: Path) -> str:
    """Return a hash of the content of a file or folder."""
    digest = hashlib.sha256()
    for found in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if found.is_file() and not found.is_symlink():
            digest.update(f"{found.relative_to(path)}\0{found.stat().st_size}\0".encode("utf-8", "replace"))
            digest.update(found.read_bytes())
    return digest.hexdigest()


@contextmanager
def _making(target: Path) -> Iterator[Path]:
    """Yield a new folder, and rename it to `target` at the end, unless another process was first."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as folder:
        new = Path(folder) / "packages"
        new.mkdir()
        yield new
        try:
            new.rename(target)
        except OSError:
            if not target.is_dir():
                raise
