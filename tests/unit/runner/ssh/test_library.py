"""asyncssh, as pushjuju imports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SHOWN = """
import asyncssh.crypto, asyncssh.public_key as keys, asyncssh.encryption as encryption, asyncssh.kex as kex
algorithms = (
    keys.get_public_key_algs(), keys.get_certificate_algs(), keys.get_x509_certificate_algs(),
    encryption.get_encryption_algs(), kex.get_kex_algs(),
)
left_out = {"asyncssh.sftp", "asyncssh.scp"}
modules = {name for name in __import__("sys").modules if name.startswith("asyncssh")} - left_out
print(sorted(vars(asyncssh).keys() - {"sftp"}), sorted(vars(asyncssh.crypto)), algorithms, sorted(modules))
"""


def shown(code: str) -> str:
    """Return what asyncssh offers after an import."""
    argv = [sys.executable, "-c", code + _SHOWN]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_sftp_can_be_imported_after_asyncssh_without_it() -> None:
    code = "import pushjuju.runner.ssh.library, sys; assert 'asyncssh.sftp' not in sys.modules\n"
    assert "SFTPClient" in subprocess.run(
        [sys.executable, "-c", code + "import asyncssh.sftp; print(asyncssh.sftp.SFTPClient)"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_names_that_typing_lacks_come_from_typing_extensions() -> None:
    code = """
from pushjuju.runner.ssh import library
import typing, typing_extensions
assert library._hints.TypeVar is typing.TypeVar
assert library._hints.deprecated is typing_extensions.deprecated
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_asyncssh_that_needs_what_is_left_out_is_imported_as_it_is(tmp_path: Path) -> None:
    package = tmp_path / "asyncssh"
    package.mkdir()
    (package / "__init__.py").write_text("from typing import Optional\nOptional._name\n")
    code = """
import sys, typing
sys.path.insert(0, sys.argv[1])
from pushjuju.runner.ssh import library
import asyncssh
assert asyncssh.__file__.startswith(sys.argv[1])
assert asyncssh.Optional is typing.Optional
assert __import__ is library._python_import
"""
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)


def test_asyncssh_offers_the_same_as_when_it_is_imported_plainly() -> None:
    """A newer asyncssh may use what the import leaves out."""
    assert shown("import pushjuju.runner.ssh.library") == shown("import asyncssh")


def test_a_user_without_an_account_can_connect() -> None:
    """Containers run programs with any user id."""
    code = """
import os, pwd
def nobody(_):
    raise KeyError
pwd.getpwuid = nobody
for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
    os.environ.pop(name, None)
from pushjuju.runner.ssh.library import asyncssh
print(asyncssh.SSHClientConnectionOptions(config=None).username == str(os.getuid()))
"""
    argv = [sys.executable, "-c", code]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "True\n"
