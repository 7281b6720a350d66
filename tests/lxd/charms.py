"""Charms of these tests."""

from __future__ import annotations

import json
from pathlib import Path

_BASES = [{"name": "debian", "channel": "12", "architectures": ["amd64"]}]


def small_charm(folder: Path, says: str, **metadata: object) -> Path:
    """Write a charm for Debian that gets active at its install, with what a shell makes of a text."""
    (folder / "hooks").mkdir(parents=True)
    document = {"name": folder.name, "summary": "s", "description": "d", **metadata}
    (folder / "metadata.yaml").write_text(json.dumps(document))
    (folder / "manifest.yaml").write_text(json.dumps({"bases": _BASES}))
    install = folder / "hooks" / "install"
    install.write_text(f'#!/bin/sh\nset -e\nstatus-set active "{says}"\n')
    install.chmod(0o755)
    return folder
