"""Makes the manual page for the wheel, and packs the wheel tightly. Runs in hatchling's build."""

from __future__ import annotations

import io
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPage(BuildHookInterface):  # type: ignore[type-arg]
    """Adds share/man/man1/pushjuju.1 to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the page; an editable install has no page (`pushjuju man` prints it)."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            text = _page()
        finally:
            sys.path.remove(self.root)
        self._folder = tempfile.TemporaryDirectory(prefix="pushjuju-man-")
        path = Path(self._folder.name) / "pushjuju.1"
        path.write_text(text, encoding="utf-8")
        build_data["shared_data"][str(path)] = "share/man/man1/pushjuju.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the temporary page after the build, and pack the wheel as tightly as the format allows."""
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()
            _pack(Path(artifact_path))


def _pack(wheel: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(packed, "w", compresslevel=9) as target:
        for entry in source.infolist():
            target.writestr(entry, source.read(entry), zipfile.ZIP_DEFLATED, 9)
    wheel.write_bytes(packed.getvalue())


def _page() -> str:
    """Return the output of `pushjuju man`; only click is there, so all other imports must stay lazy."""
    from pushjuju.cli import lazy_imports

    page = io.StringIO()
    main = lazy_imports.import_lazily("pushjuju.cli.app.main")
    status = main.run(["man"], stdin=io.StringIO(), stdout=page, stderr=sys.stderr, env={})
    if status:
        raise RuntimeError(f"`pushjuju man` ended with {status}")
    return page.getvalue()
