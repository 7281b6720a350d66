"""pack: packs a charm from its sources."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from pushjuju.charms.archive import pack as archive
from pushjuju.charms.archive import reader, tree
from pushjuju.charms.build import charmcraft
from pushjuju.charms.format import manifest
from pushjuju.charms.values import model
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm, NotFound, NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.entities.model import constraints
from pushjuju.services.supply import charm_build, charm_places

_USUAL = Base("ubuntu", "24.04")


@command(
    "pack",
    usage="[<directory>]",
    summary="Packs a charm from its sources.",
    at_most=1,
    flags=(
        flags.text("base", "The base to pack for; by default every base of the charm gets a file"),
        flags.text("platform", "The platform of charmcraft.yaml to pack for"),
        flags.text("destination", "The folder that the files are written to", short="d", default="."),
        flags.BUILD_SCRIPTS,
    ),
    details="The directory holds a charmcraft.yaml, or a charm that is built already. Parts may use the\n"
    "plugins charm, uv, python, poetry, dump and nil; pip installs Python packages for the Python\n"
    "of the base and the architecture of the platform. Archives that cannot be built here are\n"
    "left out, with a message. deploy and refresh --path pack in the same way.",
    examples="    pushjuju pack\n    pushjuju pack ./web --base ubuntu@22.04 -d dist\n"
    "    pushjuju pack ./web --platform arm64\n",
    see_also=("deploy", "refresh"),
)
def pack(
    cli: Cli, args: tuple[str, ...], *, base: str, platform: str, destination: str, allow_build_scripts: bool
) -> None:
    """Write a charm's archives; architectures that this computer cannot build for are left out."""
    path = Path(args[0] if args else ".").expanduser()
    if not path.is_dir():
        raise NotFound(f'no charm was found at "{path}"')
    folder = Path(destination).expanduser()
    if not folder.is_dir():
        raise NotFound(f"open {destination}: no such directory")
    charm = reader.read_charm(path).charm
    wanted = values.base(base, "", cli.console)
    left: list[InvalidCharm] = []
    targets = _targets(path, charm, wanted, platform)
    for target in targets:
        out = folder / f"{charm.name}{target.suffix}.charm"
        try:
            _write(cli, path, target, out, scripts=allow_build_scripts)
        except InvalidCharm as error:
            if platform or target.arch in ("", constraints.own_arch()):
                raise
            left.append(error)
            cli.console.warn(f"left out {out}: {error.message}")
    if left and len(left) == len(targets):
        raise left[0]


def _write(cli: Cli, path: Path, target: _Target, out: Path, *, scripts: bool) -> None:
    """Write an archive of a charm; raise InvalidCharm when the charm cannot be built on this computer."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as work:
        build = charm_places.Build(choose=target.choose, alone=target.alone, scripts=scripts)
        tree = charm_places.built(path, Path(work), cli.env, cli.console, build)
        if not target.arch:
            _check_pure(tree)
        packed = archive.pack(tree, out)
    out.chmod(0o644)
    for text in packed.charm.warnings:
        cli.console.warn(text)
    cli.console.info(f"Packed {out}")


def _check_pure(tree: Path) -> None:
    """Refuse machine code in an archive for all architectures."""
    found = sorted(path.name for path in (tree / "venv").rglob("*.so*"))
    if found:
        raise NotValid(
            f"the packages are not for every architecture: {found[0]} is machine code",
            hint="name the architectures among the platforms of charmcraft.yaml",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """An archive to write: base and architecture, the end of its name, and whether it is the only archive."""

    base: Base
    arch: str = ""
    suffix: str = ""
    alone: bool = False

    def choose(self, _charm: model.Charm) -> tuple[Base, str]:
        """Return the base and the architecture to build for."""
        return self.base, self.arch


def _targets(path: Path, charm: model.Charm, wanted: Base | None, platform: str) -> list[_Target]:
    if platform:
        return _of_platform(path, platform, wanted)
    bases = [item for item in charm.bases() if wanted is None or item.matches(wanted)]
    if wanted and not bases:
        names = ", ".join(item.display for item in charm.bases())
        raise NotValid(f'base "{wanted.display}" is not one of the charm\'s, which are: {names}')
    several = wanted is not None and len(charm.bases()) > 1
    if not charm_build.is_source(path):
        bases = bases[:1]  # a built charm is not built for each base: one archive is for all bases
        return [_Target(base=item, suffix=_suffix(item, several)) for item in bases] or [_Target(base=_USUAL)]
    several = several or len(bases) > 1
    # as in charmcraft, `bases` without architectures mean this computer's architecture, for machine code
    data = tree.read_document(tree.resolve_root(path), charmcraft.FILE)
    named = charmcraft.names_architectures(data or b"")
    own = "" if named else constraints.own_arch()
    found = []
    for item in bases:
        arches = _arches(charm, item, own)
        for arch in arches:
            ending = _suffix(item, several) + (f"-{arch}" if several and len(arches) > 1 else "")
            ending = ending or (f"_{arch}" if len(arches) > 1 else "")
            alone = several or len(arches) > 1 or not named
            found.append(_Target(base=item, arch=arch, suffix=ending, alone=alone))
    return found or [_Target(base=_USUAL)]


def _suffix(base: Base, several: bool) -> str:
    return f"_{base.os}-{base.track}" if several else ""


def _arches(charm: model.Charm, base: Base, own: str) -> list[str]:
    """Return the architectures that a charm names for a base, else `own` (empty: any)."""
    entries = [item for item in charm.manifest.bases if item.base.matches(base)] if charm.manifest else []
    return list(dict.fromkeys(arch for item in entries for arch in item.architectures)) or [own]


def _of_platform(path: Path, platform: str, wanted: Base | None) -> list[_Target]:
    listed = charmcraft.platforms(tree.read_document(tree.resolve_root(path), charmcraft.FILE) or b"")
    if platform not in listed:
        names = ", ".join(listed) or "none"
        raise NotValid(f'platform "{platform}" is not one of the charm\'s, which are: {names}')
    name = re.sub(r"[^\w.]+", "-", platform)
    targets = [(Base(os, channel), manifest.normalise_arch(arch)) for os, channel, arch in listed[platform]]
    found = [item for item in targets if wanted is None or item[0].matches(wanted)]
    if not found and wanted:
        raise NotValid(f'platform "{platform}" is not for the base "{wanted.display}"')
    return [_of_label(name, base, arch or "", several=len(found) > 1) for base, arch in found]


def _of_label(name: str, base: Base, arch: str, *, several: bool) -> _Target:
    ending = f"{_suffix(base, several)}{f'-{arch}' if several else ''}"
    return _Target(base=base, arch=arch, suffix=f"_{name}{ending}", alone=bool(arch))
