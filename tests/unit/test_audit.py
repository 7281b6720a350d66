"""contrib/audit.py, with a module that stands in for pip-audit: the word and exit code for each answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world import CHECKOUT

AUDIT = CHECKOUT / "contrib/audit.py"
# pip-audit's own answers and texts (2.10).
_IDNA = {"name": "idna", "version": "3.6", "vulns": []}
_SICK = {**_IDNA, "vulns": [{"id": "PYSEC-2024-60", "fix_versions": ["3.7"], "aliases": []}]}
_CURELESS = {**_IDNA, "vulns": [{"id": "PYSEC-2024-60", "fix_versions": [], "aliases": []}]}
_UNKNOWN = {
    "name": "six",
    "skip_reason": "Dependency not found on PyPI and could not be audited: six (1.17.0)",
}
_AWAY = "ERROR:pip_audit._cli:HTTPSConnectionPool(host='pypi.org'): Max retries exceeded with url: /\n"
_BROKEN = "ERROR:pip_audit._cli:requirement idna is not pinned\n"


def _audit(
    folder: Path,
    *packages: dict[str, object],
    code: int = 0,
    errors: str = "",
    arguments: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run the script with a pip-audit that answers so, keeps its arguments and ends with a code."""
    answer = json.dumps({"dependencies": packages, "fixes": []}) if packages else ""
    text = f"import sys\nprint(*sys.argv[1:], file=open({str(folder / 'asked')!r}, 'w'))\n"
    text += f"sys.stdout.write({answer!r})\nsys.stderr.write({errors!r})\nsys.exit({code})\n"
    (folder / "pip_audit.py").write_text(text)
    environ = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(AUDIT), *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_a_known_vulnerability_fails_the_check(tmp_path: Path) -> None:
    done = _audit(tmp_path, _SICK, code=1, errors="Found 1 known vulnerability in 1 package\n")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "idna 3.6: PYSEC-2024-60 (fixed in 3.7)",
        "1 packages checked, known vulnerabilities in 1 of them",
    ]
    asked = (tmp_path / "asked").read_text()
    assert f"-r {AUDIT.parent}/locks/dev.txt --require-hashes" in asked
    assert "(no release has a fix)" in _audit(tmp_path, _CURELESS, code=1).stdout


def test_dependencies_that_nothing_is_known_against_pass(tmp_path: Path) -> None:
    done = _audit(tmp_path, _IDNA, errors="No known vulnerabilities found\n")
    assert (done.returncode, done.stdout) == (0, "1 packages checked, known vulnerabilities in 0 of them\n")


def test_an_audit_without_its_list_says_that_nothing_was_checked(tmp_path: Path) -> None:
    done = _audit(tmp_path, code=1, errors=_AWAY)
    assert done.returncode == 0
    assert done.stdout.startswith("audit skipped, nothing was checked: ")
    assert "cannot be reached from here" in done.stdout


def test_an_index_that_has_no_list_is_not_taken_for_a_clean_one(tmp_path: Path) -> None:
    """A mirror that serves packages alone: pip-audit passes over each of them and ends well."""
    done = _audit(tmp_path, _UNKNOWN, errors="No known vulnerabilities found\n")
    assert done.returncode == 0
    assert done.stdout.startswith("audit skipped, nothing was checked: ")
    assert done.stdout.endswith("(it has no answer for any of the 1 packages)\n")


def test_a_package_that_the_list_alone_does_not_know_fails_the_check(tmp_path: Path) -> None:
    done = _audit(tmp_path, _IDNA, _UNKNOWN)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"six: not checked: {_UNKNOWN['skip_reason']}"


def test_another_list_may_be_named(tmp_path: Path) -> None:
    _audit(tmp_path, _IDNA, arguments=("-s", "osv", "--osv-url", "http://127.0.0.1/"))
    assert (tmp_path / "asked").read_text().endswith("-s osv --osv-url http://127.0.0.1/\n")


def test_an_audit_without_its_tool_says_how_to_get_it(tmp_path: Path) -> None:
    """A module that is not there is what Python says of it; this holds too where pip-audit is installed."""
    done = _audit(tmp_path, code=1, errors="/venv/bin/python: No module named pip_audit\n")
    assert done.returncode == 0
    assert done.stdout.startswith("audit skipped, nothing was checked: pip-audit is not installed")
    assert done.stdout.rstrip().endswith(f"({sys.executable} -m pip install pip-audit)")


@pytest.mark.parametrize("code", [0, 1])
def test_any_other_failure_of_the_tool_fails_the_check(code: int, tmp_path: Path) -> None:
    done = _audit(tmp_path, code=code, errors=_BROKEN)
    assert (done.returncode, done.stdout) == (1, _BROKEN)
