"""The command that installs what a cloud needs is one that works where pushjuju came from."""

from __future__ import annotations

import json
import sys
from importlib import metadata

import pytest

from pushjuju.core.extras import install_command, install_hint

PIP = (sys.executable, "-m", "pip", "install")


class Found:
    """An installed distribution."""

    requires = ("click>=8.1", "pylxd>=2.4; extra == 'lxd'", "a>=1; extra == 'x'", 'b; extra == "x"')

    def __init__(self, **origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        return json.dumps(self.origin) if self.origin else None


def test_a_checkout_is_named_with_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Found(url="file:///srv/my%20checkout", dir_info={"editable": True})
    monkeypatch.setattr(metadata, "distribution", lambda _: found)
    assert install_command("lxd") == (*PIP, "-e", "/srv/my checkout[lxd]")
    assert install_hint("lxd").endswith("-e '/srv/my checkout[lxd]'")


def test_without_a_checkout_the_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody published a distribution named pushjuju: an extra of it cannot be asked for."""
    monkeypatch.setattr(metadata, "distribution", lambda _: Found())
    assert install_command("lxd") == (*PIP, "pylxd>=2.4")
    assert install_command("x") == (*PIP, "a>=1", "b")


@pytest.mark.parametrize("extra", ["libcloud", "lxd", "postgres"])
def test_every_extra_of_this_pushjuju_is_known(extra: str) -> None:
    assert len(install_command(extra)) > len(PIP)
