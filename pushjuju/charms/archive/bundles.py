"""Tells which paths are bundles. The module imports little, for commands that rarely meet bundles."""

from __future__ import annotations

import zipfile
from pathlib import Path

NAME = "bundle.yaml"


def is_bundle(path: Path) -> bool:
    """Return True when a path is a bundle: a YAML file, or a directory or archive with bundle.yaml in it."""
    if path.is_dir():
        return (path / NAME).is_file() and not (path / "metadata.yaml").is_file()
    if path.suffix in (".yaml", ".yml") or not path.is_file():
        return path.is_file()
    try:
        with zipfile.ZipFile(path) as archive:
            return NAME in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def names_bundle(argument: str) -> bool:
    """Return True when an argument of `deploy` is the path of a bundle."""
    return argument.startswith((".", "/", "~")) and is_bundle(Path(argument).expanduser())
