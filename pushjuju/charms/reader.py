"""Reads a charm wherever it lies: a directory, an archive, a source tree. Layer: charms.

Mirrors: juju/charm charmdir.go charmarchive.go. All files are read before anything is refused, so that one
error names everything that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from pushjuju.charms import actions, charmcraft, config, extras, manifest, metadata, tree
from pushjuju.charms.archive import ArchiveLimits, open_archive
from pushjuju.charms.goform import quote
from pushjuju.charms.metacheck import charm_format
from pushjuju.charms.model import Charm, CharmMeta
from pushjuju.charms.problems import Problems
from pushjuju.core.errors import InvalidCharm, NotFound

T = TypeVar("T")
Source = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCharm:
    """A charm and where it was read.

    Attributes:
        path: The directory or archive.
        archive: Whether it is an archive.
        generated: Files that belong to the charm but are not on disk: name -> content (source trees).
    """

    path: Path
    charm: Charm
    archive: bool
    generated: Mapping[str, bytes] = field(default_factory=dict)


def is_charm_dir(path: Path) -> bool:
    """Tell whether a directory looks like a charm, packed or source."""
    return (path / metadata.FILE).exists() or (path / charmcraft.FILE).exists()


def read_charm(path: Path, limits: ArchiveLimits | None = None) -> LoadedCharm:
    """Read a charm.

    Args:
        path: A charm directory, a source tree with `charmcraft.yaml`, or an archive.
        limits: For archives.

    Raises:
        NotFound: Nothing is there.
        InvalidCharm: The charm is refused; the message is the first reason, the detail names the others.
    """
    try:
        if path.is_dir():
            return _read_directory(tree.resolve_root(path))
        if not path.exists():
            raise NotFound(f"no charm was found at {quote(str(path))}")
    except PermissionError as error:
        raise InvalidCharm(f"cannot read {quote(str(path))}: {error.strerror}") from None
    with open_archive(path, limits) as archive:
        charm = load(archive.read)
    return LoadedCharm(path=path, charm=charm, archive=True)


def _read_directory(root: Path) -> LoadedCharm:
    project = tree.read_document(root, charmcraft.FILE)
    has_metadata = (root / metadata.FILE).exists()
    if not has_metadata and project is None:
        raise InvalidCharm(
            f"charm or bundle at {quote(str(root))} not found",
            detail=f"neither {metadata.FILE} nor {charmcraft.FILE} is there",
        )
    generated: dict[str, bytes] = {}
    if project is not None:
        generated = charmcraft.generate(project, lambda name: (root / name).exists())

    def source(name: str) -> bytes | None:
        return generated[name] if name in generated else tree.read_document(root, name)

    charm = load(source)
    warnings = (*charm.warnings, *_dispatch_warnings(root, generated))
    return LoadedCharm(path=root, charm=replace(charm, warnings=warnings), archive=False, generated=generated)


def _dispatch_warnings(root: Path, generated: Mapping[str, bytes]) -> list[str]:
    path = root / "dispatch"
    if "dispatch" in generated or not path.is_file():
        return []
    found = []
    if not path.stat().st_mode & 0o100:
        found.append("dispatch is not executable: every hook will fail")
    with path.open("rb") as stream:
        if stream.read(2) not in (b"#!", b"\x7fE"):
            found.append('dispatch does not start with "#!": every hook will fail')
    return found


def load(source: Source) -> Charm:
    """Return the charm that a source of files describes.

    Args:
        source: Returns the bytes of a file at the charm's root, None if it is missing.

    Raises:
        InvalidCharm: It is refused.
    """
    problems = Problems()
    data = source(metadata.FILE)
    if data is None:
        raise InvalidCharm(f"archive file {quote(metadata.FILE)} not found", file=metadata.FILE)
    later = Problems()
    manifest_data = source(manifest.FILE)
    bases = None if manifest_data is None else manifest.read_manifest(manifest_data, later)
    meta = metadata.read_metadata(data, bases, problems)
    problems.extend(later)
    name = meta.name if meta else ""
    charm = Charm(
        meta=meta or CharmMeta(name=""),
        config=_optional(source, config.FILE, lambda found: config.read_config(found, problems)) or {},
        actions=_optional(source, actions.FILE, lambda found: actions.read_actions(found, name, problems))
        or {},
        manifest=bases,
        revision=_optional(source, "revision", lambda found: extras.read_revision(found, problems)) or 0,
        version=_optional(source, "version", extras.read_version) or "",
        lxd_profile=_optional(
            source, extras.PROFILE_FILE, lambda found: extras.read_profile(found, problems)
        ),
        metrics=_optional(source, extras.METRICS_FILE, lambda found: extras.read_metrics(found, problems)),
        format=charm_format(meta, bases) if meta else 1,
    )
    problems.raise_if_any()
    return replace(charm, warnings=tuple(problems.warnings))


def _optional(source: Source, name: str, read: Callable[[bytes], T]) -> T | None:
    data = source(name)
    return None if data is None else read(data)
