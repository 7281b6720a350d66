"""Packs the real machine charms of the `ops` source distribution, for tests that run them.

The charms are taken unmodified (`test/charms/NAME` of the pinned release). Their packages go into `venv/` as
charmcraft's charm plugin lays them out: pure Python only, so one archive serves every Python from 3.10 on.
Results are kept in a cache directory and made once, also when many test processes ask.

What the other charms of the same release need of the model, beyond what `test_relation` needs:

    test_hookcmds   config, a peer relation, storage `data` (filesystem 1-2), resource `test-file`, secrets,
                    ports, state-*, goal-state, credential-get (trust), juju-reboot, action-*, network-get
    test_secrets    two units, secrets of unit and application, their metadata, actions
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pushjuju.charms.archive.pack import pack
from tests.tars import unpack

OPS_VERSION = "3.9.0"
# The packages that this release of ops needs, pinned.
REQUIREMENTS = (
    "PyYAML==6.0.3",
    "opentelemetry-api==1.45.2",
    "typing-extensions==4.16.0",
    "websocket-client==1.9.2",
)
CHARMS = ("test_relation", "test_hookcmds", "test_secrets")


def cache_dir() -> Path:
    """Return where downloads and packed charms are kept (`PUSHJUJU_TEST_CACHE`, else the user's cache)."""
    given = os.environ.get("PUSHJUJU_TEST_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pushjuju-tests"


def ops_source(cache: Path | None = None) -> Path:
    """Return the unpacked source distribution of the pinned ops."""
    cache = cache or cache_dir()
    return made_once(cache / f"ops-{OPS_VERSION}", _fetch_ops)


def ops_charm(name: str, cache: Path | None = None) -> Path:
    """Return the packed archive of a charm of the ops release.

    Args:
        name: Directory below `test/charms`, such as `test_relation`.
        cache: Where to keep things; the default cache if None.
    """
    cache = cache or cache_dir()
    tree = ops_charm_tree(name, cache)
    return made_once(cache / f"{name}-{OPS_VERSION}.charm", lambda target: _pack(tree, target))


def ops_charm_tree(name: str, cache: Path | None = None) -> Path:
    """Return a built source tree of a charm of the ops release: what `pushjuju deploy ./DIR` can take."""
    cache = cache or cache_dir()
    source, packages = ops_source(cache), _packages(cache)

    def build(target: Path) -> None:
        shutil.copytree(source / "test" / "charms" / name, target)
        shutil.copytree(packages, target / "venv")
        shutil.copytree(source / "ops", target / "venv" / "ops")

    return made_once(cache / f"{name}-{OPS_VERSION}", build)


def add_packages(tree: Path, cache: Path | None = None) -> None:
    """Put ops and its packages into the `venv/` of a charm tree of our own."""
    shutil.copytree(_packages(cache or cache_dir()), tree / "venv")
    shutil.copytree(ops_source(cache) / "ops", tree / "venv" / "ops")


def _pack(tree: Path, target: Path) -> None:
    # The tree lies in no work tree of its own; a version text of some repository above would be wrong.
    pack(tree, target, run=lambda _argv, _path: f"ops-{OPS_VERSION}")


def _packages(cache: Path) -> Path:
    return made_once(cache / f"packages-{OPS_VERSION}", _fetch_packages)


def pip(*arguments: str) -> None:
    """Run the pip of this Python.

    Raises:
        RuntimeError: It failed; the text is pip's.
    """
    argv = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} failed:\n{done.stdout}{done.stderr}")


def _fetch_ops(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        pip("download", "--no-deps", "--no-binary", "ops", f"ops=={OPS_VERSION}", "--dest", work)
        (archive,) = Path(work).glob("ops-*.tar.gz")
        with tarfile.open(archive) as file:
            unpack(file, Path(work))
        (Path(work) / f"ops-{OPS_VERSION}").rename(target)


def _fetch_packages(target: Path) -> None:
    pip(
        "install",
        "--no-deps",
        "--no-compile",
        "--only-binary",
        ":all:",
        "--target",
        str(target),
        *REQUIREMENTS,
    )
    # Compiled for this Python only; PyYAML goes on without.
    for path in target.rglob("*.so"):
        path.unlink()
    shutil.rmtree(target / "bin", ignore_errors=True)


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Return a path, made by the first who asks; others wait."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_name(f".{target.name}.lock")):
        if not target.exists():
            work = Path(tempfile.mkdtemp(prefix=".making-", dir=target.parent))
            try:
                make(work / target.name)
                (work / target.name).rename(target)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return target


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
