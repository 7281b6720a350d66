"""What `doctor --install` does where the tool that it needs is missing too."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.plugins import install
from pushjuju.plugins.types import Finding, Fix


@pytest.mark.parametrize(
    ("fix", "missing", "hint"),
    [
        (Fix(command=("modprobe", "overlay")), "modprobe", "apt-get install kmod"),
        (Fix(packages=("nftables",)), "env", ""),
    ],
)
def test_a_missing_tool_is_named(
    fix: Fix, missing: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install.children, "SYSTEM", {"PATH": str(tmp_path)})
    monkeypatch.setattr(install.os, "geteuid", lambda: 0)
    finding = Finding(name="kernel", ok=False, message="no", fix=fix)
    with pytest.raises(ProviderError, match=f"cannot run {missing}: it is not installed") as caught:
        install.install_missing([finding], lambda *_: None)
    assert caught.value.hint == hint
