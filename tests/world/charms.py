"""Packs small charms for tests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.core.base import Base

UBUNTU = Base.parse("ubuntu@22.04")
CONFIG = {
    "title": {"type": "string", "default": "hello"},
    "port": {"type": "int", "default": 80},
    "debug": {"type": "boolean", "default": False},
    "ratio": {"type": "float"},
    "note": {"type": "string"},
}
PEERS = {"cluster": {"interface": "web-cluster"}}
SETUP = ("install", "cluster-relation-created", "leader-elected", "config-changed", "start")


class Charms:
    """Packs small charms; equal charms are packed once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._made: dict[str, PackedCharm] = {}

    def make(
        self,
        name: str = "web",
        *,
        config: Mapping[str, Any] | None = CONFIG,
        peers: Mapping[str, Any] | None = PEERS,
        files: Mapping[str, str] | None = None,
        **metadata: Any,
    ) -> PackedCharm:
        """Pack a charm.

        Args:
            name: The charm's name.
            config: The charm's options; None for no config.yaml.
            peers: The charm's peer endpoints.
            files: More files: path -> text.
            metadata: More keys of metadata.yaml.
        """
        document = {"name": name, "summary": "s", "description": "d", "series": ["jammy"], **metadata}
        if peers:
            document["peers"] = dict(peers)
        tree = {"metadata.yaml": yaml.safe_dump(document), "hooks/install": "#!/bin/sh\n", **(files or {})}
        if config is not None:
            tree["config.yaml"] = yaml.safe_dump({"options": dict(config)})
        key = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
        if key not in self._made:
            folder = self.root / key[:16]
            for path, text in tree.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            (folder / "hooks" / "install").chmod(0o755)
            self._made[key] = pack(folder, self.root / f"{key[:16]}.charm")
        return self._made[key]
