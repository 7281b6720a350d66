"""What `doctor --install` does, and where the tool that it needs is missing too."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.plugins import install
from pushjuju.plugins.api.findings import Finding, Fix
from pushjuju.plugins.api.providers import no_progress
from pushjuju.plugins.providers.local import doctor

MODULE = Finding(name="kernel", ok=False, message="no", fix=Fix(command=("modprobe", "overlay")))


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The arguments and proxies of all commands that ran as root, a line each."""
    told = tmp_path / "ran"
    for name in ("env", "modprobe", "sudo"):
        tool = tmp_path / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f'#!/bin/sh\necho {name} "$@" >> {told}; echo "$http_proxy" >> {told}.proxy\n')
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(install.children, "SYSTEM", {"PATH": f"{tmp_path}/bin:/bin"})
    monkeypatch.setattr(install.os, "geteuid", lambda: 0)
    for name in ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return told


@pytest.mark.parametrize(
    ("step", "finding", "missing"),
    [
        (install.load_modules, MODULE, "modprobe"),
        (
            install.install_packages,
            Finding(name="nft", ok=False, message="no", fix=Fix(packages=("nftables",))),
            "env",
        ),
    ],
)
def test_a_missing_tool_is_named(
    step: object, finding: Finding, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install.children, "SYSTEM", {"PATH": str(tmp_path)})
    monkeypatch.setattr(install.os, "geteuid", lambda: 0)
    with pytest.raises(ProviderError, match=f"cannot run {missing}: it is not installed"):
        step([finding], no_progress)  # type: ignore[operator]


def test_a_missing_probe_tool_is_no_missing_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a bare host nft is not there yet: its package is the fix, and the kernel was not tried."""
    monkeypatch.setattr(doctor, "which", lambda command: None if command == "nft" else "/bin/true")
    *_, nat = doctor.kernel_findings({"nat": "unshare: failed to execute nft"})
    assert (nat.ok, nat.fix) == (False, Fix(packages=("nftables",)))
    assert nat.message == "address translation by nftables: not tried, because nft is missing"


def test_the_loader_of_modules_is_installed_before_it_is_called(
    ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "which", lambda command: None if command == "modprobe" else "/bin/true")
    found = doctor.kernel_findings({"overlay": "unknown filesystem type"})
    assert install.load_modules(found, no_progress)
    assert [line.split()[-1] for line in ran.read_text().splitlines()] == ["-q", "kmod", "overlay"]


def test_a_fix_that_is_not_needed_is_not_run(ran: Path) -> None:
    fine = Finding(name="kernel", ok=True, message="work", fix=MODULE.fix)
    assert not install.install_packages([fine], no_progress)
    assert not install.load_modules([fine], no_progress)
    assert not ran.exists()


def test_a_proxys_password_is_on_no_command_line(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install.os, "geteuid", lambda: 1000)
    monkeypatch.setenv("http_proxy", "http://me:hush@proxy:3128")
    assert install.load_modules([MODULE], no_progress)
    assert ran.read_text() == "sudo --preserve-env=http_proxy -- modprobe overlay\n"
    assert "hush" in Path(f"{ran}.proxy").read_text()
