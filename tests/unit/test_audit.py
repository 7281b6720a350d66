"""contrib/audit.py, with a module that stands in for pip-audit: the word and exit code for each answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AUDIT = Path(__file__).parents[2] / "contrib/audit.py"
# pip-audit's own texts (2.10).
_FOUND = "Found 1 known vulnerability in 1 package\nName Version ID\nidna 3.6 PYSEC-2024-60\n"
_CLEAN = "No known vulnerabilities found\n"
_AWAY = "ERROR:pip_audit._cli:HTTPSConnectionPool(host='pypi.org'): Max retries exceeded with url: /\n"
_BROKEN = "ERROR:pip_audit._cli:requirement idna is not pinned\n"


def _audit(folder: Path, said: str, code: int) -> subprocess.CompletedProcess[str]:
    """Run the script with a pip-audit that says a text, keeps its arguments and ends with a code."""
    text = f"import sys\nprint(*sys.argv[1:], file=open({str(folder / 'asked')!r}, 'w'))\n"
    text += f"sys.stderr.write({said!r})\nsys.exit({code})\n"
    (folder / "pip_audit.py").write_text(text)
    return _run(folder)


def _run(folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, AUDIT], env=environ, capture_output=True, text=True, check=False)


def test_a_known_vulnerability_fails_the_check(tmp_path: Path) -> None:
    done = _audit(tmp_path, _FOUND, 1)
    assert (done.returncode, done.stdout) == (1, _FOUND)
    asked = (tmp_path / "asked").read_text()
    assert f"-r {AUDIT.parent}/locks/dev.txt --require-hashes" in asked


def test_dependencies_that_nothing_is_known_against_pass(tmp_path: Path) -> None:
    done = _audit(tmp_path, _CLEAN, 0)
    assert (done.returncode, done.stdout) == (0, _CLEAN)


def test_an_audit_without_its_list_says_that_nothing_was_checked(tmp_path: Path) -> None:
    done = _audit(tmp_path, _AWAY, 1)
    assert done.returncode == 0
    assert done.stdout.startswith("audit skipped, nothing was checked: ")
    assert "cannot be reached from here" in done.stdout


def test_an_audit_without_its_tool_says_how_to_get_it(tmp_path: Path) -> None:
    """A module that is not there is what Python says of it; this holds too where pip-audit is installed."""
    done = _audit(tmp_path, "/venv/bin/python: No module named pip_audit\n", 1)
    assert done.returncode == 0
    assert done.stdout.startswith("audit skipped, nothing was checked: pip-audit is not installed")
    assert done.stdout.rstrip().endswith(f"({sys.executable} -m pip install pip-audit)")


@pytest.mark.parametrize("said", [_BROKEN, _FOUND + _AWAY])
def test_any_other_failure_of_the_tool_fails_the_check(said: str, tmp_path: Path) -> None:
    assert _audit(tmp_path, said, 1).returncode == 1
