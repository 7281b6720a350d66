"""pack: a charm's source tree becomes a .charm file. Layer: cli. Ours alone: Juju has charmcraft for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pushjuju.cli import charmsource, flags, values
from pushjuju.cli.command import Cli, command
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid


@command(
    "pack",
    usage="[<directory>]",
    summary="Packs a charm from its sources.",
    at_most=1,
    flags=(
        flags.text("base", "The base to pack for; without it every base of the charm gets a file"),
        flags.text("destination", "The folder that the files are written to", short="d", default="."),
    ),
    details="The directory holds a charmcraft.yaml, or a charm that is built already. Of the parts, the\n"
    "plugins charm, uv, python, dump and nil are known; packages of Python are installed with pip, for the\n"
    "Python of the base. What cannot be built here is named. deploy and refresh --path do the same.",
    examples="    pushjuju pack\n    pushjuju pack ./web --base ubuntu@22.04 -d dist\n",
    see_also=("deploy", "refresh"),
)
def pack(cli: Cli, args: tuple[str, ...], *, base: str, destination: str) -> None:
    """Write a charm's archives."""
    from pushjuju.charms.pack import pack as write
    from pushjuju.charms.reader import read_charm
    from pushjuju.services import charm_build

    path = Path(args[0] if args else ".").expanduser()
    if not path.is_dir():
        raise NotFound(f'no charm was found at "{path}"')
    folder = Path(destination).expanduser()
    if not folder.is_dir():
        raise NotFound(f"open {destination}: no such directory")
    charm = read_charm(path).charm
    wanted = values.base(base, "", cli.console)
    bases = [item for item in charm.bases() if wanted is None or item.matches(wanted)]
    if wanted and not bases:
        names = ", ".join(item.display for item in charm.bases())
        raise NotValid(f'base "{wanted.display}" is not one of the charm\'s, which are: {names}')
    if not charm_build.is_source(path):
        bases = bases[:1]  # nothing is built: one archive is for all of them
    several = len(bases) > 1 or (wanted is not None and len(charm.bases()) > 1)
    for item in bases or [Base("ubuntu", "24.04")]:
        target = folder / f"{charm.name}{f'_{item.os}-{item.track}' if several else ''}.charm"
        with tempfile.TemporaryDirectory(prefix="pushjuju-") as work:
            packed = write(charmsource.built(cli, path, Path(work), item), target)
        target.chmod(0o644)
        for text in packed.charm.warnings:
            cli.console.warn(text)
        cli.console.info(f"Packed {target}")
