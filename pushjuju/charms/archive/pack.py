"""Packs a charm into the archive that is stored and sent to machines.

Equal trees give equal bytes: fixed times, sorted names, two modes. Mirrors: juju/charm charmdir.go ArchiveTo.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from pushjuju.charms.archive import tree
from pushjuju.charms.archive.archiving import Archive, ArchiveLimits, Kind, check_links, open_archive
from pushjuju.charms.archive.reader import LoadedCharm, load, read_charm
from pushjuju.charms.archive.version import VersionRunner, run_vcs, version_text
from pushjuju.charms.build import charmcraft
from pushjuju.charms.format.tomlsafe import TomlFault, load_toml
from pushjuju.charms.values.hooks import hook_names
from pushjuju.charms.values.model import Charm
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import InvalidCharm, StoreError
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

# The oldest time a zip file can hold.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_DOS_DIRECTORY = 0x10
_CHUNK = 1 << 20
_BUILD_FILES = ("requirements.txt", "uv.lock", "poetry.lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedCharm:
    """A charm in its stored form: an archive."""

    path: Path
    sha256: str  # the digest of the archive, in hex
    size: int  # bytes of the archive
    # every path in the archive, its parent directories and `revision`; an upgrade may remove them
    members: tuple[str, ...]
    charm: Charm  # the charm, with the warnings of packing added


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    path: str
    kind: Kind
    mode: int
    open: Callable[[], IO[bytes]] | None = None
    size: int = 0
    body: bytes = b""


def pack(
    path: Path,
    out: Path,
    *,
    limits: ArchiveLimits | None = None,
    run: VersionRunner = run_vcs,
    origin: str | None = None,
    needs_hooks: bool = True,
) -> PackedCharm:
    """Write the stored form of a charm.

    Args:
        path: A charm directory, a source tree, or an archive. A clean archive is copied byte by byte.
        out: The file to write; an existing file is replaced atomically.
        run: Runs the version control tool of a directory and returns its text.
        origin: Prefix of the names of files in errors; None for the path.
        needs_hooks: False to take an archive without hooks and dispatch: Juju's client refuses one, the
            controller does not.
    """
    if not path.is_dir():
        return _pack_archive(path, out, limits, origin, needs_hooks=needs_hooks)
    loaded = read_charm(path, limits, origin)
    return _pack_directory(loaded, out, run)


def members_of(paths: Mapping[str, object] | Iterator[str]) -> tuple[str, ...]:
    """Return the paths, all their parent directories and `revision`, sorted."""
    found = {"revision"}
    for path in paths:
        found.add(path)
        found.update(str(parent) for parent in PurePosixPath(path).parents)
    return tuple(sorted(found - {"."}))


# --- directories ------------------------------------------------------------------------------------------


def _pack_directory(loaded: LoadedCharm, out: Path, run: VersionRunner) -> PackedCharm:
    root = loaded.path
    _check_built(loaded)
    version, warnings = version_text(root, run)
    charm = replace(loaded.charm, version=version or loaded.charm.version)
    members = {
        "revision": _text_member("revision", str(charm.revision)),
        **({"version": _text_member("version", charm.version)} if charm.version else {}),
    }
    hooks = hook_names(charm.meta)
    entries = _tree_entries(root)
    for entry in entries.values():
        member, warning = _tree_member(root, entry, hooks)
        members[entry.path] = member
        warnings += [warning] if warning else []
    if loaded.generated:
        # charmcraft leaves the file out, too: the generated files have its content.
        members.pop(charmcraft.FILE, None)
    for name, body in loaded.generated.items():
        mode = 0o755 if name == "dispatch" else 0o644
        members[name] = _Member(path=name, kind=Kind.FILE, mode=mode, body=body)
    if "dispatch" in members:
        for name in members.keys() & loaded.links.keys():
            members[name] = replace(members[name], body=loaded.links[name].encode())
    _check_documents(members)
    _check_upload(charm, members, needs_hooks=True)
    charm = replace(charm, warnings=(*charm.warnings, *warnings))
    return _write(charm, members, out)


def _tree_entries(root: Path) -> dict[str, tree.TreeEntry]:
    """Return the entries of a charm's directory by their paths."""
    problems = Problems()
    entries = {entry.path: entry for entry in tree.walk(root, tree.ignore_rules(root), problems)}
    check_links(entries, problems)
    problems.raise_if_any()
    return entries


def _check_built(loaded: LoadedCharm) -> None:
    """Refuse a source tree whose Python packages are not installed: its first hook would fail."""
    if "dispatch" not in loaded.generated or (loaded.path / "venv").is_dir():
        return
    needs = [name for name in _BUILD_FILES if _lists_something(loaded.path / name)]
    needs += ["pyproject.toml"] if _has_dependencies(loaded.path / "pyproject.toml") else []
    if needs:
        raise InvalidCharm(
            f"charm {quote(loaded.charm.name)} needs the packages of {needs[0]}, which are not in its tree",
            file=needs[0],
            hint=f"run `charmcraft pack` in {loaded.path} and deploy the .charm file that it makes",
        )


def _lists_something(path: Path) -> bool:
    if not path.is_file():
        return False
    lines = path.read_text("utf-8", "replace").splitlines()
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def _has_dependencies(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        project = load_toml(path.read_text("utf-8")).get("project")
    except (TomlFault, UnicodeDecodeError):
        return False
    return isinstance(project, dict) and bool(project.get("dependencies"))


def _check_documents(members: Mapping[str, _Member]) -> None:
    """Refuse a `.jujuignore` that leaves out a file which the archive needs."""
    if "metadata.yaml" not in members:
        raise InvalidCharm("metadata.yaml is left out by .jujuignore", file=".jujuignore")


def _text_member(path: str, text: str) -> _Member:
    return _Member(path=path, kind=Kind.FILE, mode=0o644, body=text.encode())


def _tree_member(root: Path, entry: tree.TreeEntry, hooks: frozenset[str]) -> tuple[_Member, str]:
    if entry.kind is Kind.LINK:
        return _Member(path=entry.path, kind=Kind.LINK, mode=0o777, body=entry.target.encode()), ""
    if entry.kind is Kind.DIR:
        return _Member(path=entry.path, kind=Kind.DIR, mode=0o755), ""
    path = root / entry.path
    executable, warning = entry.executable, ""
    if not executable and _is_hook(entry.path, hooks):
        executable, warning = True, f"making {quote(str(path))} executable in charm"
    mode = 0o755 if executable else 0o644
    size = path.lstat().st_size
    return _file(entry.path, mode, size, partial(tree.open_plain, root, entry.path)), warning


def _file(path: str, mode: int, size: int, opener: Callable[[], IO[bytes]]) -> _Member:
    return _Member(path=path, kind=Kind.FILE, mode=mode, open=opener, size=size)


def _is_hook(path: str, hooks: frozenset[str]) -> bool:
    return path.startswith("hooks/") and path.removeprefix("hooks/") in hooks


# --- archives ---------------------------------------------------------------------------------------------


def _pack_archive(
    path: Path, out: Path, limits: ArchiveLimits | None, origin: str | None, *, needs_hooks: bool
) -> PackedCharm:
    # For a missing file, read_charm raises an error of its own.
    if not path.exists():
        read_charm(path)
    with open_archive(path, limits) as archive:
        charm = load(archive.read, str(path) if origin is None else origin)
        _check_upload(charm, archive.entries, needs_hooks=needs_hooks)
        hooks = hook_names(charm.meta)
        archive.verify()
        if _storable(archive, hooks):
            return _copy(charm, archive, path, out)
        return _write(charm, dict(_archive_members(archive, charm, hooks)), out)


def _storable(archive: Archive, hooks: frozenset[str]) -> bool:
    return not archive.repack_reason and not any(
        entry.kind is Kind.FILE and not entry.mode & 0o100 and _is_hook(entry.path, hooks)
        for entry in archive.entries.values()
    )


def _archive_members(archive: Archive, charm: Charm, hooks: frozenset[str]) -> Iterator[tuple[str, _Member]]:
    yield "revision", _text_member("revision", str(charm.revision))
    for path, entry in archive.entries.items():
        if entry.kind is Kind.LINK:
            yield path, _Member(path=path, kind=Kind.LINK, mode=0o777, body=entry.target.encode())
        elif entry.kind is Kind.DIR:
            yield path, _Member(path=path, kind=Kind.DIR, mode=0o755)
        elif path != "revision":
            executable = entry.mode & 0o100 or _is_hook(path, hooks)
            mode = 0o755 if executable else 0o644
            yield path, _file(path, mode, entry.info.file_size, partial(archive.open, entry))


def _copy(charm: Charm, archive: Archive, path: Path, out: Path) -> PackedCharm:
    with _replacing(out) as (temporary, digest), path.open("rb") as stream, temporary.open("wb") as target:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
        _sync(target)
    members = members_of(archive.entries)
    return PackedCharm(
        path=out, sha256=digest.hexdigest(), size=out.stat().st_size, members=members, charm=charm
    )


# --- both -------------------------------------------------------------------------------------------------


def _check_upload(charm: Charm, paths: Mapping[str, object], *, needs_hooks: bool) -> None:
    if not is_application(charm.name):
        raise InvalidCharm(f"charm name {quote(charm.name)} not valid", file="metadata.yaml", key="name")
    if needs_hooks and not any(path.startswith("hooks/") or "dispatch" in path for path in paths):
        raise InvalidCharm(f"invalid charm {quote(charm.name)}: has no hooks nor dispatch file")


def _write(charm: Charm, members: Mapping[str, _Member], out: Path) -> PackedCharm:
    with _replacing(out) as (temporary, digest):
        with temporary.open("wb") as target, zipfile.ZipFile(target, "w") as file:
            for path in sorted(members):
                _add(file, members[path])
        with temporary.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
            os.fsync(stream.fileno())
    return PackedCharm(
        path=out, sha256=digest.hexdigest(), size=out.stat().st_size, members=members_of(members), charm=charm
    )


def _add(file: zipfile.ZipFile, member: _Member) -> None:
    directory = member.kind is Kind.DIR
    info = zipfile.ZipInfo(member.path + "/" if directory else member.path, _EPOCH)
    info.create_system = _UNIX
    kind = {Kind.FILE: stat.S_IFREG, Kind.DIR: stat.S_IFDIR, Kind.LINK: stat.S_IFLNK}[member.kind]
    info.external_attr = (kind | member.mode) << 16 | (_DOS_DIRECTORY if directory else 0)
    if directory:
        file.writestr(info, b"")
        return
    info.compress_type = zipfile.ZIP_STORED if member.kind is Kind.LINK else zipfile.ZIP_DEFLATED
    if member.open is None:
        file.writestr(info, member.body)
        return
    # With the size known beforehand, zipfile chooses the zip64 form for large entries.
    info.file_size = member.size
    with member.open() as source, file.open(info, "w") as target:
        shutil.copyfileobj(source, target, _CHUNK)


@contextmanager
def _replacing(out: Path) -> Iterator[tuple[Path, hashlib._Hash]]:
    """Yield a temporary file beside `out`, which replaces `out` when the block succeeds."""
    temporary = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary, hashlib.sha256()
        temporary.replace(out)
    except OSError as error:
        raise StoreError(f"cannot write {quote(str(out))}: {error.strerror or error}") from None
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def _sync(target: IO[bytes]) -> None:
    target.flush()
    os.fsync(target.fileno())
