"""The root of the repository holds what is listed here, so that nothing lands there by accident."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACKED = {
    ".ci",
    ".github",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGES.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "LICENSES",
    "Makefile",
    "README.md",
    "REUSE.toml",
    "SECURITY.md",
    "contrib",
    "docs",
    "pushjuju",
    "pyproject.toml",
    "state",
    "tests",
}


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "safe.directory=*", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def _checkout() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout")


def test_the_root_holds_only_what_is_listed() -> None:
    listed = _git("ls-files")
    assert listed.returncode == 0, listed.stderr
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} == TRACKED


def test_a_backup_never_gets_into_the_repository() -> None:
    """A backup holds the private key of a controller."""
    for name in ("juju-backup-20260101-000000.tar.gz", "docs/juju-backup-20260101-000000.tar.gz"):
        assert _git("check-ignore", "-q", name).returncode == 0
    assert not [name for name in _git("ls-files").stdout.splitlines() if "juju-backup-" in name]
