"""Installs Python packages for the Python of a machine, which is not the one here. Layer: services.

Wheels are chosen by pip for the machine's version and architecture. A package that has none is built here
from its sources when it is pure Python; one that has to be compiled is left to the machine.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.charms import charmcraft
from pushjuju.core import children
from pushjuju.core.errors import InvalidCharm, NotFound
from pushjuju.services.requirement_files import Copies

if TYPE_CHECKING:
    from pushjuju.charms.parts import BuildPlan

Say = Callable[[str], None]

VENV = "venv"
PENDING = "pending"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64el": "ppc64le", "armhf": "armv7l"}
_GLIBC = ("2_28", "2_17", "2_5")
_PIP_S = 900.0
_MOST_BUILT = 40  # packages without a wheel
_PURE = "-none-any.whl"
# For lines that name a repository: pip starts git.
_GIT: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "https:http:ssh", "GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -a -x"
}  # fmt: skip
_MISSING = re.compile(r"No matching distribution found for (.+)$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._-]+")

# pip chooses wheels by --python-version, but reads markers (`python_version < "3.11"`) as of its own Python.
_CROSS = """
import json, sys
from pip._vendor.packaging import markers
known = dict(markers.default_environment(), **json.loads(sys.argv.pop(1)))
markers.default_environment = lambda: dict(known)
from pip._internal.cli.main import main
sys.exit(main())
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What packages are for: a full version of Python, and an architecture in Juju's words."""

    python: str
    arch: str

    def __str__(self) -> str:
        return f"Python {self.version} on {self.arch}"

    @property
    def version(self) -> str:
        """The version without its last number."""
        return ".".join(self.python.split(".")[:2])

    @property
    def markers(self) -> Mapping[str, str]:
        """What environment markers are read against."""
        return {
            "python_version": self.version,
            "python_full_version": self.python,
            "implementation_version": self.python,
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "platform_machine": _MACHINES.get(self.arch, self.arch),
            "platform_system": "Linux",
            "sys_platform": "linux",
            "os_name": "posix",
        }

    def words(self) -> list[str]:
        """Return the words that let pip choose wheels for it."""
        machine = _MACHINES.get(self.arch, self.arch)
        tags = [f"manylinux_{glibc}_{machine}" for glibc in _GLIBC] + [f"linux_{machine}"]
        words = ["--python-version", self.python, "--implementation", "cp"]
        return [*words, *(word for tag in tags for word in ("--platform", tag))]


def install(root: Path, plan: BuildPlan, target: Target, out: Path, *, say: Say) -> None:
    """Install the packages of a plan into `out/venv`; what the machine has to build comes to `out/pending`.

    Raises:
        NotFound: There is no pip on this computer.
        InvalidCharm: A package is not found, or cannot be built; pip's last lines are the detail.
    """
    found, copies = out.parent / "wheels", out.parent / "lines"
    found.mkdir()
    copies.mkdir()
    files = _files(root, plan, copies)
    local = _local(root, plan, found)
    sources = _Sources(plan, target, found, out / PENDING, say)
    for _ in range(_MOST_BUILT):
        shutil.rmtree(out / VENV, ignore_errors=True)
        ran = _pip([*_words(plan, target, out, found, files), *map(str, local)], target.markers)
        if not ran.returncode:
            break
        missing = _MISSING.search(ran.stderr)
        line = missing[1].strip() if missing else ""
        if not line or not sources.build(line):
            raise _failed(f"{_cannot(plan)} for {target}", plan, ran.stderr)
    else:
        raise InvalidCharm(f"more than {_MOST_BUILT} packages have no wheel", file=plan.wanted_by)
    shutil.rmtree(out / VENV / "bin", ignore_errors=True)
    if sources.compiled:
        _leave(out, sources.compiled)


def _cannot(plan: BuildPlan) -> str:
    return f"cannot install the packages of {plan.wanted_by or charmcraft.FILE}"


def _files(root: Path, plan: BuildPlan, folder: Path) -> list[Path]:
    copies = Copies(root, folder)
    lines = [copies.of_lines(plan.requirements, plan.wanted_by)] if plan.requirements else []
    return [*lines, *(copies.of_file(name) for name in plan.files)]


def _words(plan: BuildPlan, target: Target, out: Path, found: Path, files: Sequence[Path]) -> list[str]:
    return [
        "install", "--target", str(out / VENV), "--no-compile", "--only-binary", ":all:",
        *(["--no-deps"] if plan.locked else []), *target.words(), "--find-links", str(found),
        *(word for path in files for word in ("--requirement", str(path))), "--",
    ]  # fmt: skip


def _local(root: Path, plan: BuildPlan, found: Path) -> list[Path]:
    """Return wheels of the packages that lie in the tree.

    Raises:
        InvalidCharm: One cannot be built, or holds more than Python: it would fit this computer only.
    """
    if not plan.local:
        return []
    paths = [str(root / name) for name in plan.local]
    ran = _pip(["wheel", "--no-deps", "--wheel-dir", str(found), "--", *paths])
    if ran.returncode:
        raise _failed(_cannot(plan), plan, ran.stderr)
    made = sorted(found.glob("*.whl"))
    for wheel in made:
        if not wheel.name.endswith(_PURE):
            raise InvalidCharm(f"package {wheel.name} is not pure Python", file=plan.wanted_by)
    return made


@dataclass(slots=True)
class _Sources:
    """Builds packages that have no wheel.

    Attributes:
        found: The folder of wheels that are made here.
        compiled: Package -> `NAME==VERSION`, of those that the machine has to build.
    """

    plan: BuildPlan
    target: Target
    found: Path
    pending: Path
    say: Say
    compiled: dict[str, str] = field(default_factory=dict)

    def build(self, line: str) -> bool:
        """Build what a requirement line names; false: there are no sources either.

        A package that has to be compiled is installed as built here, only to find what else it needs: its
        sources are kept, for the machine to build.

        Raises:
            InvalidCharm: The sources cannot be built.
        """
        match = _NAME.match(line)
        if match is None or match[0] in self.compiled:
            return False
        name, work = match[0], self.found.parent / f"built-{match[0]}"
        self.say(f"Building {line}, which has no wheel for {self.target}")
        ran = _pip(["wheel", "--no-deps", "--no-binary", name, "--wheel-dir", str(work), "--", line])
        if ran.returncode and _MISSING.search(ran.stderr):
            return False
        if ran.returncode:
            raise _failed(
                f"{line} has no wheel for {self.target} and cannot be built here", self.plan, ran.stderr
            )
        (built,) = work.glob("*.whl")
        if built.name.endswith(_PURE):
            shutil.move(built, self.found)
        else:
            self._leave_to_machine(name, built)
        return True

    def _leave_to_machine(self, name: str, built: Path) -> None:
        package, version = built.name.split("-")[:2]
        words = ["download", "--no-deps", "--no-binary", name, "--dest", str(self.pending)]
        ran = _pip([*words, "--", f"{name}=={version}"])
        if ran.returncode:
            raise _failed(_cannot(self.plan), self.plan, ran.stderr)
        self.compiled[name] = f"{package}=={version}"
        shutil.move(built, self.found / f"{package}-{version}-py3{_PURE}")


def _leave(out: Path, compiled: Mapping[str, str]) -> None:
    """Take what was compiled for this computer out again, and list it for the machine."""
    for line in compiled.values():
        package, version = line.split("==")
        record = out / VENV / f"{package}-{version}.dist-info" / "RECORD"
        for row in csv.reader(record.read_text("utf-8").splitlines()):
            path = (out / VENV / row[0]).resolve()
            if path.is_relative_to((out / VENV).resolve()):
                path.unlink(missing_ok=True)
    text = "".join(f"{line}\n" for line in sorted(compiled.values()))
    (out / PENDING / "requirements.txt").write_text(text, encoding="utf-8")


def _pip(words: Sequence[str], markers: Mapping[str, str] | None = None) -> children.Ended:
    """Run the pip of this Python, away from the tree and from what Python itself reads of an environment.

    Args:
        words: Its arguments.
        markers: What environment markers are read against; None: this Python.

    Raises:
        NotFound: There is none.
        InvalidCharm: It takes too long.
    """
    call = ["-m", "pip"] if markers is None else ["-c", _CROSS, json.dumps(markers)]
    argv = [sys.executable, "-I", *call, "--disable-pip-version-check", "--quiet", *words]
    environ = {**children.environment(keep=("PIP_",)), **_GIT}
    try:
        ran = children.run(argv, environ=environ, timeout=_PIP_S)
    except children.TimedOut:
        raise InvalidCharm(f"installing packages takes more than {_PIP_S:.0f} seconds") from None
    if ran.returncode and "No module named 'pip'" in ran.stderr.replace("named pip", "named 'pip'"):
        raise NotFound(
            "packages of charms are installed with pip, which this Python does not have",
            hint="apt install python3-pip",
        )
    return ran


def _failed(message: str, plan: BuildPlan, text: str) -> InvalidCharm:
    lines = [line for line in text.splitlines() if not line.startswith("WARNING:")]
    return InvalidCharm(message, file=plan.wanted_by, detail="\n".join(lines[-12:]))
