"""The command that installs what a cloud needs is one that works where pushjuju came from."""

from __future__ import annotations

import json
import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from pushjuju.core import extras
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


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of another environment, whose libraries are those of `Found`."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "pushjuju"))
    monkeypatch.setattr(metadata, "distribution", lambda _: Found())
    (tmp_path / "pushjuju").mkdir()
    return tmp_path / "pushjuju"


def test_in_an_environment_of_pipx_the_libraries_are_injected(home: Path) -> None:
    (home / "pipx_metadata.json").write_text("{}")
    assert install_hint("lxd") == "pipx inject pushjuju 'pylxd>=2.4'"


def test_in_an_environment_of_uv_an_extra_comes_to_those_that_are_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = home / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "pushjuju" }]\n')
    assert install_hint("lxd") == "uv tool install 'pushjuju[lxd]'"
    receipt.write_text(
        '[tool]\nrequirements = [{ name = "pushjuju", extras = ["api"], path = "/dist/p.whl" },'
        ' { name = "pool", specifier = ">=1" }]\n'
    )
    monkeypatch.setattr(metadata, "distribution", lambda _: Found(url="file:///dist/p.whl"))
    assert install_command("lxd") == (
        *("uv", "tool", "install", "--with", "pool>=1"), "pushjuju[api,lxd] @ file:///dist/p.whl"
    )  # fmt: skip


@pytest.mark.usefixtures("home")
def test_an_environment_without_pip_is_named_to_another_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/uv")
    assert install_command("lxd") == ("uv", "pip", "install", "--python", sys.executable, "pylxd>=2.4")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert install_command("lxd")[:4] == ("python3", "-m", "pip", "--python")


@pytest.mark.parametrize("extra", ["libcloud", "lxd", "postgres"])
def test_every_extra_of_this_pushjuju_is_known(extra: str) -> None:
    assert len(install_command(extra)) > len(PIP)
