#!/usr/bin/env python3
"""Build a Debian package with an environment of its own: `.venv/bin/python contrib/deb.py [FOLDER]`.

Debian 12 and Ubuntu 24.04 have older libraries than pushjuju needs, so /opt/pushjuju has the releases of
contrib/locks/run.txt, with the libraries of all extras. The package is for the release and the processor of
this computer, because it uses the Python of the system. It is written to FOLDER (dist when not named); the
same checkout gives the same bytes.
Needs /usr/bin/python3, dpkg-deb, and the packages of `make setup`. DEBEMAIL is the address of the maintainer.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHELLS = ROOT / "pushjuju" / "cli" / "shells"
HOME = "opt/pushjuju"
PYTHON = "/usr/bin/python3"
EPOCH = 1577836800  # the time of all files: no build writes its own
COMPILED = f"find /{HOME} -name __pycache__ -prune -exec rm -rf {{}} +"
SCRIPTS = {
    "postinst": f"""\
if [ "$1" = configure ]; then
    /{HOME}/bin/python -m compileall -q /{HOME}/lib || true
    if command -v systemd-sysusers >/dev/null; then systemd-sysusers pushjuju.conf; fi
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
""",
    "prerm": f"""\
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now pushjuju-controller.service pushjuju-update-status.timer || true
fi
{COMPILED}
""",
    # Debian has /opt, and dpkg deletes it with the last package in it
    "postrm": """\
mkdir -p /opt
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
""",
}
# Tags of lintian that the package has on purpose
OVERRIDES = """\
# the environment has its own Python command, and wheels bring their libraries as PyPI has them
pushjuju: dir-or-file-in-opt
pushjuju: embedded-library
pushjuju: package-contains-timestamped-gzip
pushjuju: script-not-executable
pushjuju: unstripped-binary-or-object
pushjuju: unusual-interpreter
# the administrator enables the units, not the package; their links in /etc must go with the package
pushjuju: maintainer-script-calls-systemctl
"""
CHANGELOG = """\
pushjuju ({version}) unstable; urgency=medium

  * CHANGES.md of the sources says what is new.

 -- {maintainer}  Wed, 01 Jan 2020 00:00:00 +0000
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: pushjuju

Files: *
Copyright: 2026 The pushjuju contributors
License: Apache-2.0
 On Debian systems, the text of the license is in /usr/share/common-licenses/Apache-2.0.
 The packages in /opt/pushjuju/lib have their own licenses, which are beside them.
"""


def main(arguments: list[str]) -> int:
    """Build the package and print its path."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    target = Path(arguments[0] if arguments else ROOT / "dist")
    target.mkdir(parents=True, exist_ok=True)
    architecture = run("dpkg", "--print-architecture").strip()
    package = target / f"pushjuju_{project['version']}_{architecture}.deb"
    with tempfile.TemporaryDirectory(prefix="pushjuju-deb-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir(mode=0o755)
        add_environment(tree, Path(folder))
        add_files(tree)
        add_control(tree, project, architecture)
        settle(tree)
        environ = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
        run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(package), env=environ)
    print(package)
    return 0


def run(*command: str, **more: Any) -> str:
    """Run a command and return its output."""
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, **more)
    return str(done.stdout)


def add_environment(tree: Path, folder: Path) -> None:
    """Make the environment with pushjuju and the locked releases."""
    home = tree / HOME
    run(PYTHON, "-m", "venv", "--without-pip", str(home))
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin/python"), "install", "-q", "--no-compile"]
    pip += ["--no-deps", "--disable-pip-version-check", "--no-warn-script-location"]
    run(*pip, "--only-binary", ":all:", "--require-hashes", "-r", "contrib/locks/run.txt")
    run(*pip, str(wheel))
    for script in (home / "bin").iterdir():
        if script.name != "pushjuju" and not script.name.startswith("python"):
            script.unlink()
    for path in [home / "bin" / "pushjuju", home / "pyvenv.cfg"]:
        path.write_text(path.read_text().replace(str(home), f"/{HOME}"))
    (packages,) = home.glob("lib/*/site-packages")
    for origin in packages.glob("*.dist-info/direct_url.json"):
        origin.unlink()  # the path of the wheel on this computer
    for tests in [*packages.glob("*/test"), *packages.glob("*/tests")]:
        shutil.rmtree(tests)  # of libraries; nobody runs them there
    for record in packages.glob("*.dist-info/RECORD"):
        lines = record.read_text().splitlines(keepends=True)
        kept = (line for line in lines if is_kept(packages, line.rsplit(",", 2)[0].strip('"')))
        record.write_text("".join(kept))


def is_kept(packages: Path, name: str) -> bool:
    """Return True for a recorded file that is still in the package as pip has recorded the file."""
    return not name.startswith("../") and (packages / name).exists()


def add_files(tree: Path) -> None:
    """Add the command, manual page, completion, units, copyright and changes."""
    page = tree / HOME / "share/man/man1/pushjuju.1"
    packed(tree / "usr/share/man/man1/pushjuju.1.gz", page.read_bytes())
    shutil.rmtree(tree / HOME / "share")
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/pushjuju").symlink_to(f"/{HOME}/bin/pushjuju")
    copied(SHELLS / "completion.bash", tree / "usr/share/bash-completion/completions/pushjuju")
    copied(SHELLS / "completion.zsh", tree / "usr/share/zsh/vendor-completions/_pushjuju")
    copied(SHELLS / "completion.fish", tree / "usr/share/fish/vendor_completions.d/pushjuju.fish")
    for unit in (ROOT / "contrib/systemd").glob("*.[st]*"):
        if unit.suffix in (".service", ".timer"):
            copied(unit, tree / "lib/systemd/system" / unit.name)
    service = ROOT / "contrib/systemd/pushjuju-controller.service"
    copied(service, tree / "lib/systemd/system/pushjuju-controller@.service")  # several processes
    copied(ROOT / "contrib/systemd/pushjuju.sysusers", tree / "usr/lib/sysusers.d/pushjuju.conf")
    written(tree / "usr/share/doc/pushjuju/copyright", COPYRIGHT)
    written(tree / "usr/share/lintian/overrides/pushjuju", OVERRIDES)


def add_control(tree: Path, project: dict[str, Any], architecture: str) -> None:
    """Write what dpkg reads."""
    version = run(PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    major, minor = version.split(".")
    maintainer = f"The pushjuju contributors <{os.environ.get('DEBEMAIL', 'nobody@example.org')}>"
    changes = CHANGELOG.format(version=project["version"], maintainer=maintainer)
    packed(tree / "usr/share/doc/pushjuju/changelog.gz", changes.encode())
    size = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir()) // 1024
    written(
        tree / "DEBIAN/control",
        f"""\
Package: pushjuju
Version: {project["version"]}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: python3 (>= {version}), python3 (<< {major}.{int(minor) + 1}), libc6 (>= 2.34), openssh-client
Section: admin
Priority: optional
Description: Juju for every machine that SSH reaches
 pushjuju runs real machine charms on every machine that SSH reaches. There
 is no controller machine and there are no agents.
""",
    )
    for name, body in SCRIPTS.items():
        written(tree / "DEBIAN" / name, f"#!/bin/sh\nset -e\n{body}").chmod(0o755)


def settle(tree: Path) -> None:
    """Give each file the mode and time that do not depend on this computer."""
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            runs = path.stat().st_mode & 0o100 and ".so" not in path.suffixes
            path.chmod(0o755 if path.is_dir() or runs else 0o644)
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def copied(source: Path, target: Path) -> None:
    """Copy a file; its mode is 0644."""
    written(target, source.read_text(encoding="utf-8"))


def packed(target: Path, data: bytes) -> None:
    """Write a file packed by gzip, without a time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(data, mtime=0))


def written(target: Path, text: str) -> Path:
    """Write a file and its folders, and return the file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    target.chmod(0o644)
    return target


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
