"""Installs Python packages into a charm, for the Python of a machine instead of this computer's Python.

pip chooses wheels for the machine's version and architecture. A source package runs its own code when it is
built, so no build happens on this computer: the machine builds a package without a wheel, or a temporary
machine does (`build_machine`). The wheels that the build needs are sent along, so that neither machine has to
reach an index.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pushjuju.charms.build import charmcraft
from pushjuju.charms.build.locks import plain
from pushjuju.core import children
from pushjuju.core.errors import InvalidCharm, PushjujuError
from pushjuju.core.values import dataclass, regex
from pushjuju.plugins.sources.places import check_out
from pushjuju.portable.quote import quote
from pushjuju.services.supply import pip_settings, requirement_files, runpip, source_packages
from pushjuju.services.supply.requirement_files import Copies
from pushjuju.services.supply.runpip import Target
from pushjuju.services.supply.source_packages import Described

if TYPE_CHECKING:
    from pushjuju.charms.build.parts import BuildPlan

Say = Callable[[str], None]
Build = Callable[[Path, Path, Sequence[Path]], Path]
"""Builds a wheel from a source archive and wheels of tools; returns its path in the given folder."""

VENV = "venv"
PENDING = "pending"
_MOST_BUILT = 40  # packages without a wheel that one charm may have
# Newer releases of pip add the name of the package that requires it.
_MISSING = regex(r"No matching distribution found for (.+?)(?: \(from .+\))?$", re.MULTILINE)
_CONSTRAINT = regex(r"The user requested \(constraint\) (.+)$", re.MULTILINE)
_REPOSITORY = regex(r"git\+((?:https|http|ssh)://[^#\s]+?)(?:@([A-Za-z0-9][\w./+-]*))?(?:#(\S*))?")
ALLOW = "--allow-build-scripts builds sources in a machine of the cloud `local`, which is deleted afterwards"


def install(
    root: Path, plan: BuildPlan, target: Target, out: Path, *, say: Say, build: Build | None = None
) -> None:
    """Install a plan's packages into `out/venv`; sources that machines have to build go to `out/pending`.

    Args:
        plan: The packages that the source tree asks for.
        target: The Python and the platform that the packages are for.
        out: An empty folder.
        say: Called with a line about each package that is left to the machine.
        build: Builds a wheel from an archive in a sandbox, or None to leave building to the machines.
    """
    try:
        _install(root, plan, target, out, say, build)
    except InvalidCharm as error:
        raise requirement_files.placed(error, root, plan.wanted_by) from None


def _install(root: Path, plan: BuildPlan, target: Target, out: Path, say: Say, build: Build | None) -> None:
    found, copies = out.parent / "wheels", out.parent / "lines"
    found.mkdir()
    copies.mkdir()
    named = [*plan.requirements, *requirement_files.all_lines(root, (*plan.files, *plan.constraints))]
    sources = Sources(plan, target, found, out / PENDING, out.parent, say, build=build, named=named)
    files = _files(root, plan, copies, sources)
    for _ in range(_MOST_BUILT):
        shutil.rmtree(out / VENV, ignore_errors=True)
        words = _words(plan, target, out, found, files)
        ran = runpip.run(words, target.markers)
        if not ran.returncode:
            break
        if not any(map(sources.fetch, _without_wheel(ran, words, target))):
            what = f"cannot install the packages of {plan.wanted_by or charmcraft.FILE}"
            raise failed(f"{what} for {target}", plan, ran.stderr)
    else:
        raise InvalidCharm(f"more than {_MOST_BUILT} packages have no wheel", file=plan.wanted_by)
    shutil.rmtree(out / VENV / "bin", ignore_errors=True)
    sources.leave(out)


def _files(root: Path, plan: BuildPlan, folder: Path, sources: Sources) -> list[str]:
    """Return pip's arguments for the copies of the requirement and constraint files."""
    copies = Copies(root, folder, sources.take)
    own = [*plan.requirements, *(f"./{name}" for name in plan.local)]
    lines = [copies.of_lines(own, plan.wanted_by)] if own else []
    wanted = [*lines, *(copies.of_file(name) for name in plan.files)]
    limits = [copies.of_file(name) for name in plan.constraints]
    return [
        *(word for path in wanted for word in ("--requirement", str(path))),
        *(word for path in limits for word in ("--constraint", str(path))),
    ]


def _without_wheel(ran: children.Ended, words: Sequence[str], target: Target) -> list[str]:
    """Return the requirements for which pip found no wheel, from its output."""
    missing = _MISSING.search(ran.stderr)
    if missing:
        return [missing[1].strip()]
    if "ResolutionImpossible" not in ran.stderr:
        return []
    told = runpip.run(words, target.markers, quiet=False)
    return [line.strip() for line in _CONSTRAINT.findall(told.stdout + told.stderr)]


def _words(plan: BuildPlan, target: Target, out: Path, found: Path, files: Sequence[str]) -> list[str]:
    return [
        "install", "--target", str(out / VENV), "--no-compile", "--only-binary", ":all:",
        *(["--no-deps"] if plan.locked else []), *target.words(), "--find-links", str(found),
        *files, "--",
    ]  # fmt: skip


@dataclass(slots=True)
class Sources:
    """The packages that come as sources, which are never built on this computer."""

    plan: BuildPlan
    target: Target
    found: Path  # the folder of wheels for pip
    pending: Path  # the folder of sources that the machine builds
    work: Path  # a folder for downloads
    say: Say
    # builds a wheel from an archive in a sandbox, or None to leave building to the machines
    build: Build | None = None
    named: Sequence[str] = ()  # all lines of requirements and constraints, which limit the versions
    # `NAME==VERSION` -> metadata of the packages that machines build
    left: dict[str, Described] = field(default_factory=dict)
    _brought: int = 0
    _tools: dict[tuple[str, ...], list[Path]] = field(default_factory=dict)

    def fetch(self, line: str) -> bool:
        """Download and take the sources of a requirement; return False on failure, or for known sources."""
        folder = self._folder()
        limits = json.dumps(requirement_files.limits(line, self.named))
        markers = json.dumps(self.target.markers)
        ran = runpip.fetch([self.target.python, line, str(folder), limits, markers])
        if ran.returncode:
            return False
        (path,) = folder.iterdir()
        name = source_packages.describe(path).name
        if any(plain(pin.partition("==")[0]) == plain(name) for pin in self.left) or self._has_wheel(name):
            return False
        self.take(path)
        return True

    def _has_wheel(self, name: str) -> bool:
        return any(plain(path.name.split("-")[0]) == plain(name) for path in self.found.glob("*.whl"))

    def _folder(self) -> Path:
        self._brought += 1
        folder = self.work / f"brought-{self._brought}"
        folder.mkdir()
        return folder

    def take(self, place: Path | str) -> str:
        """Build the sources at a path or URL, or leave them to machines; return `NAME==VERSION`."""
        path = self._bring(place) if isinstance(place, str) else place
        shown = place if isinstance(place, str) else path.name
        if not path.exists() or not source_packages.is_source(path):
            raise InvalidCharm(f"{quote(str(shown))} contains no package", file=self.plan.wanted_by)
        described = source_packages.describe(path)
        if self.build is not None:
            return self._built(path, described)
        if not described.known:
            raise InvalidCharm(
                f"name and version of package {quote(str(shown))} are known only when it is built",
                file=self.plan.wanted_by, hint=ALLOW,
            )  # fmt: skip
        self.say(f"Leaving {described.name} {described.version} to the machine: no wheel for {self.target}")
        pin = f"{described.name}=={described.version}"
        self.left[pin] = described
        self.pending.mkdir(exist_ok=True)
        for tool in self._bring_tools(self._archive(path, described, self.pending), described):
            shutil.copy(tool, self.pending)
        requires = [self._direct(line) for line in described.requires]
        source_packages.stub(described, requires, self.found)
        return pin

    def _archive(self, path: Path, described: Described, folder: Path) -> Path:
        if path.is_dir():
            return source_packages.archive(path, described, folder)
        return source_packages.copy(path, described, folder)

    def _bring_tools(self, archive: Path, described: Described) -> list[Path]:
        """Return the wheels that the build of a source package needs, including pip.

        The list is empty when they cannot be downloaded here; the machine then needs an index.
        """
        needs = ("pip", *source_packages.build_needs(archive))
        if needs not in self._tools:
            folder = self._folder()
            words = ["download", "--only-binary", ":all:", *self.target.words(), "--dest", str(folder)]
            ran = runpip.run([*words, "--", *needs], self.target.markers)
            if ran.returncode:
                self.say(f"The machine has to download what builds {described.name}: {', '.join(needs)}")
            self._tools[needs] = [] if ran.returncode else sorted(folder.glob("*.whl"))
        return self._tools[needs]

    def _built(self, path: Path, described: Described) -> str:
        assert self.build is not None
        if not described.known:
            described = Described(
                name=re.sub(r"[^A-Za-z0-9]+", "-", path.name).strip("-") or "x", version="0"
            )
        self.say(f"Building {described.name}, which has no wheel for {self.target}, in a machine")
        folder = self._folder()
        archive = self._archive(path, described, folder)
        wheel = self.build(archive, folder, self._bring_tools(archive, described))
        name, version = wheel.name.split("-")[:2]
        shutil.move(wheel, self.found / wheel.name)
        return f"{name}=={version}"

    def _direct(self, line: str) -> str:
        """Return a requirement of a package; when it names sources by a URL, they are taken and pinned."""
        match = re.fullmatch(r"\s*([A-Za-z0-9._-]+)\s*(\[[^\]]*\])?\s*@\s*(\S+)\s*(;.*)?", line)
        if match is None or match[3].endswith(".whl"):
            return line
        pin = self.take(match[3]).partition("==")
        return f"{pin[0]}{match[2] or ''}=={pin[2]} {match[4] or ''}"

    def _bring(self, address: str) -> Path:
        folder = self._folder()
        if address.startswith("git+"):
            return self._clone(address, folder / "checkout")
        if not address.startswith(("https://", "http://")):
            raise InvalidCharm(f"packages cannot be fetched from {quote(address)}", file=self.plan.wanted_by)
        ran = runpip.fetch([self.target.python, address, str(folder), "[]", "{}"])
        if ran.returncode:
            raise failed(f"cannot bring {address}", self.plan, ran.stderr)
        return next(folder.iterdir())

    def _clone(self, address: str, target: Path) -> Path:
        match = _REPOSITORY.fullmatch(address)
        options = dict(part.partition("=")[::2] for part in (match[3] or "").split("&")) if match else {}
        below = PurePosixPath(options.get("subdirectory", ""))
        if match is None or ".." in below.parts or below.is_absolute():
            raise InvalidCharm(f"{quote(address)} is not the URL of a repository", file=self.plan.wanted_by)
        try:
            check_out(match[1], match[2] or "", target, {})
        except PushjujuError as error:
            raise InvalidCharm(error.message, file=self.plan.wanted_by, detail=error.detail) from None
        path = target / below
        return path if path.resolve().is_relative_to(target.resolve()) else target / "nowhere"

    def leave(self, out: Path) -> None:
        """Remove the stubs from the installed packages, and list the sources that machines build."""
        for described in self.left.values():
            info = f"{source_packages.stem(described)}.dist-info"
            shutil.rmtree(out / VENV / info, ignore_errors=True)
        if self.left:
            text = "".join(f"{pin}\n" for pin in sorted(self.left))
            (out / PENDING / "requirements.txt").write_text(text, encoding="utf-8")


def failed(message: str, plan: BuildPlan, text: str) -> InvalidCharm:
    lines = [line for line in pip_settings.hidden(text).splitlines() if not line.startswith("WARNING:")]
    return InvalidCharm(pip_settings.hidden(message), file=plan.wanted_by, detail="\n".join(lines[-12:]))
