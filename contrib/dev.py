#!/usr/bin/env python3
"""Set up a checkout and use it: `demo` deploys a charm, `test` runs every test.

Needs only python3 (3.11 or newer) on Debian or Ubuntu: the script installs missing packages with apt (through
sudo, asked once) and from PyPI (into .venv). It uses the standard library only, to run before that.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
PUSHJUJU = VENV / "bin" / "pushjuju"
CHARM = "./contrib/charms/hello-page"
TEST_PACKAGES = (
    "bash-completion",
    "cloud-init",
    "faketime",
    "fish",
    "graphviz",
    "groff-base",
    "iproute2",
    "libxml2-utils",
    "man-db",
    "mmdebstrap",
    "tmux",
    "nftables",
    "openssh-client",
    "openssh-server",
    "perl",
    "pgbouncer",
    "postgresql",
    "prometheus",
    "sudo",
    "systemd-container",
    "zsh",
)
KEPT_FOR_ROOT = (
    "CI",
    "PIP_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "PUSHJUJU_TEST_",
)


def say(text: str) -> None:
    """Print one line of progress."""
    print(f"==> {text}", flush=True)


def run(*command: str | Path, check: bool = True) -> int:
    """Run a command in the checkout with its output; when it fails and `check` is set, exit."""
    words = [str(word) for word in command]
    print(f"$ {shlex.join(words)}", flush=True)
    code = subprocess.run(words, cwd=ROOT, check=False).returncode
    if check and code:
        sys.exit(f"ERROR {shlex.join(words)} failed with exit code {code}")
    return code


def succeeds(*command: str | Path) -> bool:
    """Return True when a command succeeds; its output is not shown."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def as_root(*command: str) -> list[str]:
    """Return a command line that runs the command as root, with the variables of KEPT_FOR_ROOT."""
    if os.geteuid() == 0:
        return list(command)
    if not shutil.which("sudo"):
        sys.exit(f"ERROR this needs root rights and sudo is missing; run as root: {shlex.join(command)}")
    # only names: the address of a proxy or an index may hold a password, and other users see arguments
    kept = sorted(name for name in os.environ if name.startswith(KEPT_FOR_ROOT))
    return ["sudo", f"--preserve-env={','.join(kept)}", "--", "env", f"PATH={os.environ['PATH']}", *command]


def install_packages(names: list[str]) -> None:
    """Install system packages that are missing."""
    missing = [name for name in names if not is_installed(name)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        sys.exit(
            f"ERROR this is neither Debian nor Ubuntu; install what these packages hold: {' '.join(missing)}"
        )
    say(f"installing {' '.join(missing)}")
    run(*as_root("apt-get", "update", "-q"))
    run(
        *as_root(
            "env",
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "install",
            "-q",
            "-y",
            "--no-install-recommends",
            *missing,
        )
    )


def is_installed(package: str) -> bool:
    """Return True when a Debian package is installed."""
    if not shutil.which("dpkg-query"):
        return False
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout == "installed"


def set_up(*, dev: bool) -> None:
    """Make .venv with pushjuju; with `dev`, also with the developers' tools."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older one shall say so, not fail somewhere
        sys.exit(f"ERROR pushjuju needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")
    project = (ROOT / "pyproject.toml").read_bytes()
    lock = ROOT / "contrib" / "locks" / f"{'dev' if dev else 'run'}.txt"
    wanted = hashlib.sha256(project + lock.read_bytes()).hexdigest()
    stamp = VENV / f"installed-{lock.stem}"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    if not PYTHON.exists():
        make_venv()
    say("installing pushjuju into .venv")
    pip = [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    run(*pip, "--require-hashes", "-r", lock.relative_to(ROOT))
    run(*pip, "--no-deps", "-e", ".")
    stamp.write_text(wanted)


def setup() -> int:
    """Make .venv with all that developers need."""
    set_up(dev=True)
    return 0


def make_venv() -> None:
    """Make .venv; on Debian, install the package python3-venv first."""
    if importlib.util.find_spec("ensurepip") is None:
        install_packages(["python3-venv"])
    say("making .venv")
    run(sys.executable, "-m", "venv", "--clear", VENV)


def demo() -> int:
    """Deploy the first charm to a new local machine and show the status."""
    set_up(dev=False)
    settings = ROOT / "state" / "pushjuju.toml"
    if not settings.exists():
        shutil.copy(ROOT / "state" / "sample" / "pushjuju.toml", settings)
        settings.chmod(0o600)
    install_packages(["openssh-client"])
    run(PUSHJUJU, "doctor", "--install")
    name = Path(CHARM).name
    if succeeds(PUSHJUJU, "whoami") and not succeeds(PUSHJUJU, "show-model"):
        run(PUSHJUJU, "add-model", "default")  # the machine of an earlier demo does not exist any more
    known = succeeds(PUSHJUJU, "show-unit", f"{name}/0")
    run(PUSHJUJU, *(("update-status",) if known else ("deploy", CHARM)))
    run(PUSHJUJU, "status")
    say("a machine runs the charm. Go on with:")
    for line in (
        f"export PATH={shlex.quote(str(VENV / 'bin'))}:$PATH",
        f"pushjuju config {name}",
        f"pushjuju ssh {name}/0",
        "pushjuju destroy-model default --no-prompt",
    ):
        print(f"    {line}")
    return 0


def test(arguments: list[str]) -> int:
    """Run the tests without machines, then the tests on machines; print the reason of every skip."""
    set_up(dev=True)
    # Node of another source than Debian brings npm along, and conflicts with Debian's
    node = () if shutil.which("npm") else ("nodejs", "npm")
    install_packages([*TEST_PACKAGES, *node])
    run(PUSHJUJU, "doctor", "--install")
    # compiled files of the tests would belong to root, so they are written to a folder outside of the
    # checkout
    run(PYTHON, "-m", "compileall", "-q", "pushjuju")
    workers = min(os.cpu_count() or 1, 4) + 1  # tests often wait: for the disk, for time, for machines
    quick = pytest(
        workers, "load", "not machine and not bench and not lxd and not browser and not image", arguments
    )
    real = pytest(workers + 1, "loadfile", "machine and not bench", arguments)  # these wait most
    say(
        "left out: tests/bench, which measures (make bench), tests/lxd, which takes minutes (make lxd), and "
        "tests/browser, which needs chromium (make browser), and the container image (make image-test); "
        "each skipped test is named above with its reason"
    )
    say("passed" if not quick and not real else "FAILED")
    return quick or real


def pytest(workers: int, distribution: str, marks: str, arguments: list[str]) -> int:
    """Run a part of the tests as root, without files of root in the checkout."""
    say(f"tests: {marks}")
    # tests/conftest.py sorts the tests itself
    quiet = ["-p", "no:cacheprovider", "-q", "-rs", "--durations=25", "--no-loadscope-reorder"]
    code = run(
        *as_root("env", "PYTHONDONTWRITEBYTECODE=1", "HYPOTHESIS_STORAGE_DIRECTORY=/tmp/pushjuju-hypothesis"),
        *(PYTHON, "-m", "pytest", *quiet, f"-n{workers}", "--dist", distribution, "-m", marks, *arguments),
        check=False,
    )
    return 0 if code == 5 else code  # 5: no test matches the arguments


def clean() -> int:
    """Delete caches and .venv, but not the state of controllers."""
    for name in (
        ".venv",
        ".venv-lowest",
        ".venv-newest",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".import_linter_cache",
        "dist",
    ):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for folder in ROOT.rglob("__pycache__"):
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def main() -> int:
    """Run the job that the arguments name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    jobs = parser.add_subparsers(dest="job", required=True)
    jobs.add_parser("demo", help="set up, deploy the example charm onto a new local machine, show the status")
    jobs.add_parser("test", help="set up and run the tests; further arguments go to pytest")
    jobs.add_parser("setup", help="make .venv with all that developers need")
    jobs.add_parser("clean", help="delete .venv and caches")
    chosen, rest = parser.parse_known_args()
    if rest and chosen.job != "test":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    os.environ.setdefault("PIP_ROOT_USER_ACTION", "ignore")
    if chosen.job == "test":
        return test(rest)
    return {"demo": demo, "setup": setup, "clean": clean}[chosen.job]()


if __name__ == "__main__":
    sys.exit(main())
