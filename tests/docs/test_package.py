"""What is built holds what the program needs: SQL, migrations, the code that travels to machines."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, capture_output=True
    )
    return folder


def files(folder: Path) -> set[str]:
    listed = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in listed}


def test_the_wheel_holds_the_whole_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (entries,) = [name for name in names if name.endswith("entry_points.txt")]
        assert "pushjuju = pushjuju.cli.entry:main" in archive.read(entries).decode()
        (page,) = [name for name in names if name.endswith(".data/data/share/man/man1/pushjuju.1")]
        assert archive.read(page).startswith(b".TH PUSHJUJU 1")
    stubs = {name for name in files(ROOT / "pushjuju") if name.endswith(".pyi")}  # for type checkers alone
    assert files(ROOT / "pushjuju") - names == stubs
    inside = (name for name in names if "dist-info" not in name and ".data/" not in name)
    assert {name.split("/")[0] for name in inside} == {"pushjuju"}
    assert any(name.endswith("LICENSE") for name in names)


def test_the_source_archive_can_be_worked_with(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "Makefile",
        "LICENSE",
        "README.md",
        "CHANGES.md",
        "contrib/dev.py",
        "state/sample/clouds.toml",
        "state/README.md",
    }
    assert wanted <= names
    assert files(ROOT / "pushjuju") <= names
    assert not [name for name in names if name.startswith(("state/controllers", ".venv"))]
