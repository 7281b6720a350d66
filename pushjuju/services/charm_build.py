"""Builds a charm's source tree into one that can be packed: its Python packages come into `venv`.

Layer: services. Packages come through pip alone, as wheels for the Python of the machine's base, so that
nothing of this computer's own Python gets into a charm. What was installed once for equal lines is kept in
the cache.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.charms import charmcraft, tree
from pushjuju.charms.version import run_vcs, version_text
from pushjuju.core.base import Base
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import InvalidCharm, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pushjuju.charms.parts import BuildPlan

Say = Callable[[str], None]

# The Python that a base comes with.
PYTHONS: Mapping[tuple[str, str], str] = {
    ("ubuntu", "20.04"): "3.8",
    ("ubuntu", "22.04"): "3.10",
    ("ubuntu", "24.04"): "3.12",
    ("ubuntu", "26.04"): "3.14",
    ("debian", "12"): "3.11",
    ("debian", "13"): "3.13",
    ("centos", "9"): "3.9",
}
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64el": "ppc64le", "s390x": "s390x"}
_GLIBC = ("2_28", "2_17", "2_5")
# What a tree holds that is of no use to a charm.
_LEFT = (
    ".git", ".hg", ".svn", ".bzr", ".tox", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    "__pycache__", "node_modules", "*.charm", "tests",
)  # fmt: skip
VENV = "venv"
_PIP_S = 900.0


def is_source(path: Path) -> bool:
    """Tell whether a directory is a source tree that nobody built yet."""
    return (path / charmcraft.FILE).is_file() and not (path / VENV).is_dir()


def built(
    path: Path,
    work: Path,
    *,
    base: Base,
    arch: str = DEFAULT_ARCH,
    environ: Mapping[str, str],
    say: Say = lambda _text: None,
) -> Path:
    """Return a tree that can be packed: the path itself when nothing has to be installed.

    Args:
        path: A source tree.
        work: An empty folder; the tree is made there.
        base: The base of the machines, which says what their Python is.
        say: Told when something slow begins.

    Raises:
        InvalidCharm: It cannot be built here, or pip does not find a package; all of it is named.
        NotFound: There is no pip on this computer.
    """
    from pushjuju.charms import parts

    root = tree.resolve_root(path).absolute()
    data = tree.read_document(root, charmcraft.FILE)
    if data is None:
        return path
    plan = parts.plan(data, lambda name: _read(root, name))
    if not plan.installs and not plan.dumps:
        return path
    target = work / "tree"
    shutil.copytree(root, target, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT))
    version, _ = version_text(root, run_vcs)
    if version:
        (target / "version").write_text(version, encoding="utf-8")
    for folder in plan.dumps:
        shutil.copytree(root / folder, target, symlinks=True, dirs_exist_ok=True)
    for name in plan.local:
        (target / name).unlink(missing_ok=True)
    if plan.installs:
        python = PYTHONS.get((base.os, base.track), f"{sys.version_info[0]}.{sys.version_info[1]}")
        packages = _packages(root, plan, python=python, arch=arch, environ=environ, say=say)
        shutil.copytree(packages, target / VENV, symlinks=True)
    return target


def _read(root: Path, name: str) -> bytes | None:
    """Return a file of the tree; None: it is not there, or leads out of it."""
    path = root / name
    if not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
        return None
    return path.read_bytes()


def _packages(
    root: Path, plan: BuildPlan, *, python: str, arch: str, environ: Mapping[str, str], say: Say
) -> Path:
    """Return a folder with the packages of a plan, from the cache if equal ones were asked for before."""
    from pushjuju.services import download_cache
    from pushjuju.services.store_charms import cache_folder

    contents = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in plan.local}
    lines = [*plan.requirements, *(text for name in plan.files for text in _lines(root / name))]
    key = json.dumps([python, arch, lines, contents, plan.locked])
    target = cache_folder(environ).parent / "venvs" / hashlib.sha256(key.encode()).hexdigest()
    if target.is_dir():
        download_cache.used(target)
        return target
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    say(f"Installing the packages of {plan.wanted_by or charmcraft.FILE} for Python {python}")
    with _making(target) as new:
        wheels = _wheels(root, plan, new.parent)
        extra = ["--no-deps"] if plan.locked else []
        words = [
            "install", "--target", str(new), "--no-compile", "--only-binary", ":all:", *extra,
            *_for_python(python, arch), *map(str, wheels), *plan.requirements,
            *(word for name in plan.files for word in ("--requirement", str(root / name))),
        ]  # fmt: skip
        _pip(words, root, plan)
        shutil.rmtree(new / "bin", ignore_errors=True)
    download_cache.prune_trees(target.parent)
    return target


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines()


@contextmanager
def _making(target: Path) -> Iterator[Path]:
    """Give a folder beside `target`; it gets that name when the block succeeds, the first of two wins."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as folder:
        new = Path(folder) / VENV
        new.mkdir()
        yield new
        try:
            new.rename(target)
        except OSError:
            if not target.is_dir():
                raise


def _for_python(python: str, arch: str) -> list[str]:
    """Return the words that let pip choose wheels for another Python than its own."""
    machine = _MACHINES.get(arch, arch)
    tags = [f"manylinux_{glibc}_{machine}" for glibc in _GLIBC] + [f"linux_{machine}"]
    words = ["--python-version", python, "--implementation", "cp"]
    return [*words, *(word for tag in tags for word in ("--platform", tag))]


def _wheels(root: Path, plan: BuildPlan, work: Path) -> list[Path]:
    """Return wheels of the packages that lie in the tree.

    Raises:
        InvalidCharm: One holds more than Python: it would fit this computer only.
    """
    if not plan.local:
        return []
    folder = work / "wheels"
    _pip(
        ["wheel", "--no-deps", "--wheel-dir", str(folder), *(str(root / name) for name in plan.local)],
        root,
        plan,
    )
    found = sorted(folder.glob("*.whl"))
    for wheel in found:
        if not wheel.name.endswith("-none-any.whl"):
            raise InvalidCharm(f"package {wheel.name} is not pure Python", file=plan.wanted_by)
    return found


def _pip(words: Sequence[str], root: Path, plan: BuildPlan) -> None:
    """Run the pip of this Python.

    Raises:
        NotFound: There is none.
        InvalidCharm: It failed; its last lines are the detail.
    """
    argv = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    try:
        ran = subprocess.run(argv, cwd=root, capture_output=True, text=True, timeout=_PIP_S, check=False)
    except subprocess.TimeoutExpired:
        raise InvalidCharm(f"installing packages takes more than {_PIP_S:.0f} seconds") from None
    if ran.returncode and "No module named pip" in ran.stderr:
        raise NotFound(
            "packages of charms are installed with pip, which this Python does not have",
            hint="apt install python3-pip",
        )
    if ran.returncode:
        lines = [line for line in ran.stderr.splitlines() if not line.startswith("WARNING:")]
        raise InvalidCharm(
            f"cannot install the packages of {plan.wanted_by or charmcraft.FILE}",
            file=plan.wanted_by,
            detail="\n".join(lines[-12:]),
        )
