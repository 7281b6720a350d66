"""Reads a charm from a directory, an archive or a source tree.

All files are read before the charm is refused, so that one error names every fault.
Mirrors: juju/charm charmdir.go charmarchive.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TypeVar

from pushjuju.charms.archive import tree
from pushjuju.charms.archive.archiving import ArchiveLimits, open_archive
from pushjuju.charms.build import charmcraft
from pushjuju.charms.format import actions, config, extras, manifest, metadata
from pushjuju.charms.format.metacheck import charm_format
from pushjuju.charms.format.places import Places, Source
from pushjuju.charms.values.model import Charm, CharmMeta
from pushjuju.charms.values.problems import Locate, Problem, Problems
from pushjuju.core.errors import InvalidCharm, NotFound
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCharm:
    """A charm, and the path from which it was read."""

    path: Path
    charm: Charm
    archive: bool  # True when the charm was read from an archive
    # files that are made for a source tree because they are not on disk: name -> content
    generated: Mapping[str, bytes] = field(default_factory=dict)
    # hooks of a source tree to be linked to `dispatch` instead of the entry point: path -> target
    links: Mapping[str, str] = field(default_factory=dict)


def read_charm(path: Path, limits: ArchiveLimits | None = None, origin: str | None = None) -> LoadedCharm:
    """Read a charm.

    Args:
        path: A charm directory, a source tree with `charmcraft.yaml`, or an archive.
        origin: Prefix of the names of files in errors; None for the path.
    """
    try:
        if path.is_dir():
            return _read_directory(tree.resolve_root(path), str(path) if origin is None else origin)
        if not path.exists():
            raise NotFound(f"no charm was found at {quote(str(path))}")
    except PermissionError as error:
        raise InvalidCharm(f"cannot read {quote(str(path))}: {error.strerror}") from None
    with open_archive(path, limits) as archive:
        charm = load(archive.read, str(path) if origin is None else origin)
    return LoadedCharm(path=path, charm=charm, archive=True)


def _read_directory(root: Path, origin: str) -> LoadedCharm:
    project = tree.read_document(root, charmcraft.FILE)
    has_metadata = (root / metadata.FILE).exists()
    if not has_metadata and project is None:
        raise InvalidCharm(
            f"charm or bundle at {quote(str(root))} not found",
            detail=f"neither {metadata.FILE} nor {charmcraft.FILE} is there",
        )
    generated: dict[str, bytes] = {}
    problems = Problems()

    def own(name: str) -> bytes | None:
        return tree.read_document(root, name)

    def written(problem: Problem) -> tuple[str, str]:
        made = problem.file in generated
        return charmcraft.written(problem) if made else (problem.file, problem.key)

    links: dict[str, str] = {}
    if project is not None:
        links = tree.entry_links(root, charmcraft.entry(project))
        generated = charmcraft.generate(
            project, lambda name: (root / name).exists(), problems, linked=bool(links)
        )
    places = Places(own, origin, written)
    if not generated and not has_metadata:
        problems.raise_if_any(places.of)
    charm = _load(lambda name: generated[name] if name in generated else own(name), problems, places.of)
    warnings = (*charm.warnings, *_dispatch_warnings(root, generated))
    charm = replace(charm, warnings=warnings)
    return LoadedCharm(path=root, charm=charm, archive=False, generated=generated, links=links)


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


def load(source: Source, origin: str = "") -> Charm:
    """Return the charm that a source of files describes.

    Args:
        source: Returns the bytes of a file at the charm's root, or None when the file is missing.
        origin: Prefix of the names of files in errors.

    Raises:
        InvalidCharm: The charm breaks a rule; the error names every fault.
    """
    return _load(source, Problems(), Places(source, origin).of)


def _load(source: Source, problems: Problems, locate: Locate) -> Charm:
    data = source(metadata.FILE)
    if data is None:
        raise InvalidCharm(f"archive file {quote(metadata.FILE)} not found", file=metadata.FILE)
    later = Problems()
    manifest_data = source(manifest.FILE)
    bases = None if manifest_data is None else manifest.read_manifest(manifest_data, later)
    meta = metadata.read_metadata(data, bases, problems, manifest_wrong=bool(later.found))
    problems.extend(later)
    name = meta.name if meta else ""
    if name and not is_application(name):
        problems.add(metadata.FILE, f"charm name {quote(name)} not valid", key="name")
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
    if problems.found and charm.lxd_profile:  # `--force` would accept faults of the profile alone
        told = {item.key for item in problems.found if item.file == extras.PROFILE_FILE}
        problems.found += [
            item
            for item in extras.profile_problems(charm.lxd_profile)
            if not any(item.key.startswith(key) for key in told)
        ]
    problems.raise_if_any(locate)
    profile = extras.place_faults(charm.lxd_profile, locate) if charm.lxd_profile else None
    return replace(charm, lxd_profile=profile, warnings=tuple(problems.warnings))


def _optional(source: Source, name: str, read: Callable[[bytes], T]) -> T | None:
    data = source(name)
    return None if data is None else read(data)
