"""The wheel and the source archive depend on nothing but the checkout."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "contrib" / "image" / "Dockerfile"


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
    names = [re.match("[a-z0-9-]+", item)[0] for item in wanted]  # type: ignore[index]
    assert [name for name in names if f"\n{name}==" not in f"\n{lock}"] == []
    assert "locks/run.txt" in DOCKERFILE.read_text()


@pytest.mark.skipif(not shutil.which("hadolint"), reason="hadolint is not installed")
def test_a_linter_finds_nothing_in_the_dockerfile() -> None:
    done = subprocess.run(["hadolint", DOCKERFILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
