"""Writes small charms to disk."""

from __future__ import annotations

from pathlib import Path

METADATA = "name: web\nsummary: s\ndescription: d\nseries: [jammy]\n"


def write_tree(root: Path, files: dict[str, str | bytes], *, executable: tuple[str, ...] = ()) -> Path:
    """Write files below a new directory and return it."""
    for name, body in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() if isinstance(body, str) else body)
        if name in executable:
            path.chmod(0o755)
    return root


def charm_tree(root: Path, extra: dict[str, str | bytes] | None = None, metadata: str = METADATA) -> Path:
    """Write a charm with one hook, and return its directory."""
    files = {"metadata.yaml": metadata, "hooks/install": "#!/bin/sh\n", **(extra or {})}
    return write_tree(root, files, executable=("hooks/install",))
