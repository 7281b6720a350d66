"""Runs pip to choose packages for the Python of a machine, without running any code of the packages."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping, Sequence

from pushjuju.core import children
from pushjuju.core.errors import InvalidCharm, NotFound
from pushjuju.core.values import dataclass

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64el": "ppc64le", "armhf": "armv7l"}
_GLIBC = ("2_28", "2_17", "2_5")
_PIP_S = 900.0

# pip uses --python-version only for wheels; markers like `python_version < "3.11"` need this patch.
_CROSS = """
import json, sys
from pip._vendor.packaging import markers
known = dict(markers.default_environment(), **json.loads(sys.argv.pop(1)))
markers.default_environment = lambda: dict(known)
# A source package would be built, and so run, on this computer.
from pip._internal.distributions.sdist import SourceDistribution
from pip._internal.exceptions import InstallationError
assert SourceDistribution.prepare_distribution_metadata
def refuse(self, *_args, **_named):
    raise InstallationError(f"{self.req} is not a wheel: nothing is built on this computer")
SourceDistribution.prepare_distribution_metadata = refuse
from pip._internal.cli.main import main
sys.exit(main())
"""
# Downloads the source archive that pip would choose for a package, without looking into the archive.
_FETCH = """
import hashlib, json, os, sys
from pip._internal.commands import create_command
from pip._internal.models.link import Link
from pip._internal.models.target_python import TargetPython
from pip._vendor.packaging.requirements import Requirement
python, line, folder, limits, markers = json.load(sys.stdin)
command = create_command("download")
options, _ = command.parse_args(["--quiet", "--no-deps", "--no-binary", ":all:"])
with command.main_context():
    session = command.get_default_session(options)
    if "://" in line:
        link = Link(line)
    else:
        wanted = Requirement(line)
        version = tuple(int(part) for part in python.split("."))
        finder = command._build_package_finder(options, session, TargetPython(py_version_info=version))
        specifier = wanted.specifier
        for other in map(Requirement, json.loads(limits)):
            if other.marker is None or other.marker.evaluate({"extra": "", **json.loads(markers)}):
                specifier &= other.specifier
        best = finder.find_best_candidate(wanted.name, specifier).best_candidate
        if best is None:
            sys.exit(3)
        link = best.link
    answer = session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
    answer.raise_for_status()
    digest = hashlib.new(link.hash_name) if link.hash_name else None
    with open(os.path.join(folder, os.path.basename(link.filename)), "wb") as file:
        for chunk in answer.iter_content(1 << 16):
            file.write(chunk)
            if digest:
                digest.update(chunk)
    if digest and digest.hexdigest() != link.hash:
        sys.exit(f"{link.filename} has another hash than the index says")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The Python that packages are for: its full version, and the architecture in Juju's words."""

    python: str
    arch: str

    def __str__(self) -> str:
        return f"Python {self.version} on {self.arch}"

    @property
    def version(self) -> str:
        """The version of Python without its last number, such as `3.12`."""
        return ".".join(self.python.split(".")[:2])

    @property
    def markers(self) -> Mapping[str, str]:
        """The values with which environment markers of requirements are evaluated."""
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
        """Return the arguments that make pip choose wheels for the target."""
        machine = _MACHINES.get(self.arch, self.arch)
        tags = [f"manylinux_{glibc}_{machine}" for glibc in _GLIBC] + [f"linux_{machine}"]
        words = ["--python-version", self.python, "--implementation", "cp"]
        return [*words, *(word for tag in tags for word in ("--platform", tag))]


def run(words: Sequence[str], markers: Mapping[str, str], *, quiet: bool = True) -> children.Ended:
    """Run pip in an isolated Python, with the arguments `words`.

    Args:
        markers: The values with which environment markers of requirements are evaluated.
        quiet: True to print only errors.
    """
    said = ["--quiet"] if quiet else []
    return _python([_CROSS, json.dumps(markers), "--disable-pip-version-check", *said, *words])


def fetch(words: Sequence[str]) -> children.Ended:
    """Download the sources of a package into a folder.

    Args:
        words: The version of Python, the requirement or URL, the folder, a JSON list of lines that limit the
            versions, and the values for environment markers as JSON.
    """
    return _python([_FETCH], stdin=json.dumps(words))  # not as arguments: a URL may contain a password


def settings() -> dict[str, str]:
    """Return the user's options for `pip install` and `pip wheel`, from files and environment variables.

    Raises:
        NotFound: This Python has no pip.
    """
    found: dict[tuple[str, str], str] = {}
    for line in run(["config", "list"], {}, quiet=False).stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if value:
            found[section, option] = str(ast.literal_eval(value))
    sections = ("global", "wheel", "install", ":env:")  # later sections override earlier ones, as in pip
    return {option: found[name, option] for name in sections for at, option in found if at == name}


def _python(words: Sequence[str], stdin: str = "") -> children.Ended:
    """Run a Python program in isolation, with pip's modules; `words` are the program and its arguments."""
    argv = [sys.executable, "-I", "-c", *words]
    environ = {**children.environment(keep=("PIP_",)), "GIT_ALLOW_PROTOCOL": ""}
    try:
        ran = children.run(argv, environ=environ, stdin=stdin, timeout=_PIP_S)
    except children.TimedOut:
        raise InvalidCharm(f"installing packages takes more than {_PIP_S:.0f} seconds") from None
    if ran.returncode and "No module named 'pip'" in ran.stderr.replace("named pip", "named 'pip'"):
        raise NotFound(
            "packages of charms are installed with pip, which this Python does not have",
            hint="apt install python3-pip",
        )
    return ran
