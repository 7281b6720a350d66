"""asyncssh, as pushjuju imports it."""

from __future__ import annotations

import subprocess
import sys

_SHOWN = """
import asyncssh.crypto, asyncssh.public_key as keys, asyncssh.encryption as encryption, asyncssh.kex as kex
algorithms = (
    keys.get_public_key_algs(), keys.get_certificate_algs(), keys.get_x509_certificate_algs(),
    encryption.get_encryption_algs(), kex.get_kex_algs(),
)
modules = [name for name in __import__("sys").modules if name.startswith("asyncssh")]
print(sorted(vars(asyncssh)), sorted(vars(asyncssh.crypto)), algorithms, sorted(modules))
"""


def shown(code: str) -> str:
    """Return what asyncssh offers after an import."""
    argv = [sys.executable, "-c", code + _SHOWN]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_asyncssh_offers_the_same_as_when_it_is_imported_plainly() -> None:
    """A newer asyncssh may use what the import leaves out."""
    assert shown("import pushjuju.runner.ssh.library") == shown("import asyncssh")
