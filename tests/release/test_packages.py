"""The wheel and the source archive depend on nothing but the checkout."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "contrib" / "image" / "Dockerfile"
_PAGE = """
import sys
for name in sys.argv[1:]:
    sys.modules[name] = None  # as if it were not installed
from contrib import hatch_build
print(hatch_build._page())
"""


def _built(folder: Path, umask: str, seed: str) -> dict[str, str]:
    """Build both packages; return name -> SHA-256."""
    build = f"umask {umask}; exec {sys.executable} -m hatchling build -d {folder}"
    environ = {**os.environ, "PYTHONHASHSEED": seed, "TMPDIR": str(folder.parent)}
    subprocess.run(["sh", "-c", build], cwd=ROOT, env=environ, check=True, capture_output=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "dist"
    assert len(_built(folder, "022", "1")) == 2
    return folder


def test_two_builds_give_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    first = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir()}
    assert _built(tmp_path / "b" / "dist", "077", "2") == first


def test_the_index_takes_the_packages_and_the_wheel_holds_nothing_else(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    assert wheel.stat().st_size < 2_500_000
    for command in (["twine", "check", "--strict", *dist.iterdir()], ["check_wheel_contents", wheel]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_of_the_debian_package_and_the_image_has_the_libraries_of_all_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(item for name in extras if name != "testing" for item in extras[name]),
    ]
    lock = (ROOT / "contrib/locks/run.txt").read_text()
    assert [name for name in _names(wanted) if f"\n{name}==" not in f"\n{lock}"] == []
    assert "locks/run.txt" in DOCKERFILE.read_text()


def test_the_wheel_is_built_where_only_the_tools_of_the_build_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    missing = _names(project["project"]["dependencies"]) - _names(project["build-system"]["requires"])
    assert "asyncssh" in missing
    modules = sorted(
        module for module, names in packages_distributions().items() if missing & {*map(str.lower, names)}
    )
    build = [sys.executable, "-c", _PAGE, *modules]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(".TH"), done.stdout[:200]


def _names(requirements: list[str]) -> set[str]:
    return {re.match("[a-z0-9-]+", item)[0] for item in requirements}  # type: ignore[index]


def test_a_linter_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
