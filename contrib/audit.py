#!/usr/bin/env python3
"""Compare the locked dependencies with the list of known vulnerabilities (pip-audit).

pip-audit is not among the developers' packages: with it come fourteen that nothing else here needs. The list
is not part of a checkout. Where one of them cannot be had, this says so and ends well.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).parent / "locks" / "dev.txt"
_SKIPPED = "audit skipped, nothing was checked"
# What pip-audit says when the service of its list does not answer.
_UNREACHABLE = (
    "ConnectionError",
    "ServiceError",
    "Max retries",
    "Connection refused",
    "timed out",
    "HTTPError",
)


def main() -> int:
    """Return 0 when nothing is known against the dependencies, or nothing can be known here."""
    command = [sys.executable, "-m", "pip_audit", "-r", str(LOCK), "--require-hashes", "--disable-pip"]
    command += ["--progress-spinner", "off", "--timeout", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode and "No module named pip_audit" in said:
        how = f"{sys.executable} -m pip install pip-audit"
        print(f"{_SKIPPED}: pip-audit is not installed ({how})")
        return 0
    if done.returncode and "known vulnerabilit" not in said and any(text in said for text in _UNREACHABLE):
        print(f"{_SKIPPED}: the list of known vulnerabilities cannot be reached from here")
        return 0
    print(said, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
