#!/usr/bin/env python3
"""Compare the locked dependencies with the list of known vulnerabilities (pip-audit).

pip-audit is not among the developers' packages, because it needs fourteen further packages. The list is not
part of a checkout. When pip-audit or the list is missing, the script prints that and exits with 0. Arguments
are passed to pip-audit, such as `-s osv --osv-url ADDRESS` for a copy of the list.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parent / "locks" / "dev.txt"
_SKIPPED = "audit skipped, nothing was checked"
_AWAY = f"{_SKIPPED}: the list of known vulnerabilities cannot be reached from here"
# pip-audit's messages when the service of the list does not answer
_UNREACHABLE = (
    "ConnectionError",
    "ServiceError",
    "Max retries",
    "Connection refused",
    "timed out",
    "HTTPError",
)


def main(arguments: Sequence[str]) -> int:
    """Return 0 when no vulnerability is known, or nothing could be checked."""
    command = [sys.executable, "-m", "pip_audit", "-r", str(LOCK), "--require-hashes", "--disable-pip"]
    command += ["--progress-spinner", "off", "--timeout", "10", "-f", "json", "--desc", "off", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "No module named pip_audit" in done.stderr:
        how = f"{sys.executable} -m pip install pip-audit"
        print(f"{_SKIPPED}: pip-audit is not installed ({how})")
        return 0
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, LookupError, TypeError):
        if done.returncode and any(text in done.stderr for text in _UNREACHABLE):
            print(_AWAY)
            return 0
        print(done.stdout + done.stderr, end="")
        return done.returncode or 1
    return _judged(packages)


def _judged(packages: Sequence[dict[str, Any]]) -> int:
    """Print the answer for each package, and return the exit code."""
    unknown = [package for package in packages if "skip_reason" in package]
    if len(unknown) == len(packages):
        # pip-audit calls this a clean result, but a service that knows none of the packages has no list
        print(f"{_AWAY} (it has no answer for any of the {len(packages)} packages)")
        return 0
    for package in unknown:
        print(f"{package['name']}: not checked: {package['skip_reason']}")
    found = [(package, known) for package in packages for known in package.get("vulns", ())]
    for package, known in found:
        fixed = ", ".join(known["fix_versions"])
        remedy = f"fixed in {fixed}" if fixed else "no release has a fix"
        print(f"{package['name']} {package['version']}: {known['id']} ({remedy})")
    known_of = len({package["name"] for package, _ in found})
    print(f"{len(packages) - len(unknown)} packages checked, known vulnerabilities in {known_of} of them")
    return 1 if unknown or found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
