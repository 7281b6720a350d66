"""Finds the charm that a user names: at a path, in a repository, in the model, or in the model's store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.charms.archive.bundles import names_bundle
from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.format.url import ArgumentKind, classify_argument, parse_url
from pushjuju.charms.values.charm_bases import DEFAULT_LTS, newest
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.plugins.api.sources import SourceServices
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.application import resources
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import constraints
from pushjuju.services.supply import charm_build, store_charms
from pushjuju.services.supply.charm_build import is_source
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.services.supply.store_charms import CharmRequest

if TYPE_CHECKING:
    from pushjuju.charms.values.model import Charm
    from pushjuju.core.charmstore import StoreResource
    from pushjuju.plugins.api.sources import CharmPlace
    from pushjuju.services.entities.basis.callbacks import Notices
    from pushjuju.services.entities.basis.context import Context

GIT = "git+"
_SCHEME = regex(r"([a-z][a-z0-9.-]*):.")
_JUJUS = ("ch", "cs", "local")  # schemes of Juju's charm URLs


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """A charm that was brought to this computer."""

    packed: PackedCharm
    origin: StoreOrigin | None = None  # the store's answer for the charm, or None for a charm without a store
    resources: Mapping[str, StoreResource] = field(default_factory=dict)  # name -> the store's resource
    files: Mapping[str, str] = field(default_factory=dict)  # name -> path of the file that the user names
    revisions: Mapping[str, int] = field(default_factory=dict)  # name -> revision that the user names
    url: str = ""  # the charm's URL when the model already has the charm, else empty
    source: bool = False  # True when the charm came as a source tree

    @property
    def name(self) -> str:
        """The charm's name in its store, which may differ from the name in its metadata."""
        return self.origin.charm.name if self.origin else self.packed.charm.name


def is_brought(argument: str) -> bool:
    """Return True when a charm argument has the form of a URL for which a plugin brings the charm."""
    scheme = _SCHEME.match(argument)
    return argument.startswith(GIT) or (scheme is not None and scheme[1] not in _JUJUS)


def kind_of(argument: str, environ: Mapping[str, str], notices: Notices) -> ArgumentKind:
    """Return what a charm argument names: a local path, a charm of the model, or a charm in the store."""
    if argument.startswith(GIT) or (is_brought(argument) and _place(argument, environ, notices) is not None):
        return ArgumentKind.LOCAL
    return classify_argument(argument, lambda text: Path(text).exists()).kind


def uploaded(ctx: Context, model: str, url: str) -> Acquired:
    """Return a charm that the model already has, from an upload.

    Mirrors: juju cmd/juju/application/deployer/charm.go predeployedLocalCharm (3.6)
    """
    try:
        with ctx.read(model) as tx:
            record, charm = charms.record(tx, url), charms.get(tx, url)
    except NotFound as error:
        raise NotFound(
            f"cannot interpret as a redeployment of a local charm from the controller: {error.message}",
            hint="the model deletes charms that no application uses: deploy the directory or file again",
        ) from None
    packed = PackedCharm(
        path=ctx.controller.blobs.path(record.sha256), sha256=record.sha256, size=record.size,
        members=(), charm=replace(charm, revision=record.revision, warnings=()),
    )  # fmt: skip
    return Acquired(packed=packed, url=url)


Choose = Callable[["Charm"], tuple[Base, str]]
"""Returns the base and architecture of the machines for which a charm is built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """How to build the source tree of a charm."""

    # returns base and architecture to build for, or None to take those that the charm names
    choose: Choose | None = None
    alone: bool = False  # True to let the charm support only this base and architecture
    scripts: bool = False  # True to run the scripts of the tree, in a machine that is deleted afterwards


def from_place(
    argument: str, folder: Path, environ: Mapping[str, str], notices: Notices, build: Build
) -> Acquired:
    """Bring and pack a charm from a path or URL; a source tree is built first."""
    path = bring(argument, folder, environ, notices)
    origin = "" if is_brought(argument) else None
    tree = built(path, folder, environ, notices, build, origin=origin)
    return Acquired(packed=pack(tree, folder / "charm", origin=origin), source=is_source(path))


def built(
    path: Path,
    folder: Path,
    environ: Mapping[str, str],
    notices: Notices,
    build: Build,
    *,
    origin: str | None = None,
) -> Path:
    """Build a source tree without packages, and return the built tree; any other path is returned unchanged.

    Args:
        origin: Prefix of file names in errors, or None for the path.
    """
    if not path.is_dir() or not charm_build.is_source(path):
        return path
    # The charm is read first, so that its faults are reported before the build, with their source lines.
    charm = read_charm(path, origin=origin).charm
    base, arch = build.choose(charm) if build.choose else (usual_base(charm), "")
    work = folder / "built"
    work.mkdir()
    return charm_build.built(
        path,
        work,
        base=base,
        arch=constraints.chosen_arch(charm, base, arch),
        environ=environ,
        say=notices.info,
        origin=origin,
        alone=build.alone,
        scripts=build.scripts,
    )


def usual_base(charm: Charm) -> Base:
    """Return the base for which a source tree is built by default: Juju's default, or the charm's newest."""
    bases = charm.bases()
    return newest(bases) if bases and not any(item.matches(DEFAULT_LTS) for item in bases) else DEFAULT_LTS


def bring(argument: str, folder: Path, environ: Mapping[str, str], notices: Notices) -> Path:
    """Return the path of a charm on this computer; a repository is cloned into `folder`."""
    if not is_brought(argument):
        return local_charm(argument)
    place = _place(argument, environ, notices)
    if place is None:
        if not argument.startswith(GIT):
            parse_url(argument)  # raises with the reason
        raise NotValid(f'charm or bundle URL "{argument}" malformed')
    work = folder / "brought"
    work.mkdir()
    return place.bring(work)


def local_charm(argument: str) -> Path:
    """Return the path of a local charm, or raise an error when the argument names no local charm."""
    found = classify_argument(argument, lambda text: Path(text).exists())
    if found.kind is ArgumentKind.UPLOADED:
        raise NotValid(
            f'charm "{argument}" cannot be used by its URL here',
            hint="name the directory or file of the charm",
        )
    if found.kind is not ArgumentKind.LOCAL:
        raise NotFound(f'no charm was found at "{argument}"', hint="a path starts with . or /")
    path = Path(found.path)
    if names_bundle(argument):
        raise NotValid(f"{argument} is a bundle, not a charm")
    return path


def _place(argument: str, environ: Mapping[str, str], notices: Notices) -> CharmPlace | None:
    """Return the place of a plugin that brings the charm of a URL, or None when no plugin knows the URL."""
    host = PluginHost(environ=environ, warn=notices.warn)
    return host.open_charm_place(argument, SourceServices(environ=environ))


def split_resources(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the files and the revisions among the values of `--resource`; a number is a revision."""
    numbers = {name: int(value) for name, value in given.items() if value.isascii() and value.isdigit()}
    return {name: value for name, value in given.items() if name not in numbers}, numbers


def from_store(
    ctx: Context,
    model: str,
    request: CharmRequest,
    given: Mapping[str, str],
    folder: Path,
    notices: Notices,
    *,
    keep: Collection[str] = (),
) -> Acquired:
    """Find a charm in the model's store and fetch it, with progress for a slow download.

    Args:
        given: The values of `--resource`.
        keep: Resources to keep unchanged when the store's answer does not have them.
    """
    files, numbers = split_resources(given)
    store = store_charms.open_store(ctx, model)
    origin = store_charms.resolve_one(ctx, model, request, store=store)
    with notices.downloading(f'charm "{origin.charm.name}" revision {origin.charm.revision}') as tell:
        packed = store_charms.fetch(ctx, store, origin, folder, tell, model=model)
    declared = packed.charm.meta.resources
    resources.check_names(declared, list(given))
    found = store_charms.pick_resources(store, origin, numbers, declared, keep=keep)
    return Acquired(packed=packed, origin=origin, resources=found, files=files, revisions=numbers)
