"""Reads the text of bundles, and of the files that bundles include.

Mirrors: juju/charm bundledatasrc.go, bundledir.go, bundlearchive.go (v12)
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from pushjuju.charms.archive import named_files
from pushjuju.charms.archive.bundles import NAME
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote

MAX_TEXT = 2 * 1024 * 1024  # bytes of a bundle or overlay file
MAX_INCLUDE = 5 * 1024 * 1024  # bytes of an included file; Juju's limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of a bundle or overlay file."""

    file: str  # the file as the user named it
    text: bytes
    # the folder that relative paths in the bundle start at, or None for an archive, whose bundle may name no
    # paths
    folder: Path | None
    # True for the text of a client of the API, which has uploaded the files of resources and names the ids
    # of the pending resources
    has_ids: bool = False


def read(path: Path) -> Source:
    """Read a bundle: a file, a directory or an archive."""
    shown = str(path)
    if path.is_dir():
        path = path / NAME
    if not path.is_file():
        raise NotFound(f"{quote(shown)} not found")
    if zipfile.is_zipfile(path):
        return Source(file=shown, text=_member(path), folder=None)
    return Source(file=str(path), text=_bytes(path, MAX_TEXT), folder=path.parent.absolute())


def overlay(text: str) -> Source:
    """Read the file that `--overlay` names."""
    path = Path(text).expanduser()
    if not path.is_file():
        raise NotFound(f"unable to process overlays: {quote(text)} not found")
    return Source(file=text, text=_bytes(path, MAX_TEXT), folder=path.parent.absolute())


def _member(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            if NAME not in archive.namelist():
                raise NotValid(f"interpret bundle contents as a bundle archive: archive has no {NAME}")
            with archive.open(NAME) as stream:
                found = stream.read(MAX_TEXT + 1)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise NotValid(f"interpret bundle contents as a bundle archive: {error}") from None
    if len(found) > MAX_TEXT:
        raise NotValid(f"{path}: {NAME} is larger than {MAX_TEXT} bytes")
    return found


def _bytes(path: Path, most: int) -> bytes:
    try:
        return named_files.read(path, most)
    except OSError as error:
        raise NotValid(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


def include(folder: Path | None, name: str) -> bytes:
    """Return the content of a file that a value of a bundle includes."""
    if folder is None:
        raise NotValid("remote bundle includes not supported")
    path = folder / name
    if path.is_dir():
        raise NotValid(f"include path {quote(str(path))} resolves to a folder")
    if not path.is_file():
        raise NotValid(f"include file {quote(str(path))} not found")
    return _bytes(path, MAX_INCLUDE)
