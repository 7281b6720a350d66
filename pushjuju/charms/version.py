"""The version text of a charm directory, from its version control. Layer: charms."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from pushjuju.charms.extras import clean_version, read_version

# Returns what a command says in a directory.
VersionRunner = Callable[[Sequence[str], Path], str]

# A tree's own settings must not name a program that we then start; and describing must not write.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "describe", "--dirty", "--always")
_COMMANDS = ((".git", _GIT), (".hg", ("hg", "id", "-n")), (".bzr", ("bzr", "version-info")))
_TIMEOUT_S = 30.0


def run_vcs(argv: Sequence[str], directory: Path) -> str:
    """Run a version control tool.

    Raises:
        OSError: It is not installed.
        subprocess.SubprocessError: It failed or hangs.
    """
    done = subprocess.run(
        argv, cwd=directory, check=True, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S
    )
    return done.stdout


def version_text(root: Path, run: VersionRunner) -> tuple[str, list[str]]:
    """Return the version text, empty if there is none, and warnings; never fails."""
    argv = _command(root)
    if argv is None:
        path = root / "version"
        return (read_version(path.read_bytes()) if path.is_file() else ""), []
    try:
        lines = run(argv, root).splitlines()
    except (OSError, subprocess.SubprocessError, UnicodeError) as error:
        text = f'"{argv[0]}" version string generation failed : {error}'
        return "", [f"{text}\nThis means that the charm version won't show in pushjuju status."]
    return clean_version(lines[0] if lines else ""), []


def _command(root: Path) -> tuple[str, ...] | None:
    """Return the question to ask: git also when the charm is a part of a larger work tree."""
    for directory in (root, *root.resolve().parents):
        found = [argv for name, argv in _COMMANDS if (directory / name).exists()]
        if found and (directory == root or found[0] is _GIT):
            return found[0]
    return None
