"""The program runs on every Python from 3.8 on, and says so where Python is too old."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pushjuju.core.errors import RemoteFailed
from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.packer import pack

from .conftest import Machine, hook_op, lines
from .test_deploy import V0, deploy


def find_python(version: str) -> str:
    """Return a real interpreter of a version, or skip."""
    candidates = [shutil.which(f"python{version}") or ""]
    candidates += map(str, Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python{version}"))
    for path in candidates:
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        if path and os.access(path, os.X_OK):
            done = subprocess.run([path, "-I", "-c", code], capture_output=True, text=True, check=False)
            if done.stdout.strip() == version:
                return path
    pytest.skip(f"Python {version} is not installed here")


def use_python(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Make the bootstrap find one interpreter only."""
    monkeypatch.setattr(bootstrap, "_SCRIPT", f'exec {path} -I -S -c "$0" "$@" "$SSH_CONNECTION"')


@pytest.mark.parametrize("client", ["native", "perl", "python"])
@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
async def test_everything_works_on(
    version: str, client: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_python(monkeypatch, find_python(version))
    folder = Path(__file__).parents[2] / "pushjuju/plugins/hooks"
    modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
    machine.program = pack([(f"pushjuju.plugins.hooks.{path.stem}", path) for path in modules])
    machine.options["client"] = client
    files = V0 | {"hooks/start": "#!/bin/sh\nconfig-get title; relation-ids db; status-set active é\n"}
    del files["dispatch"]
    context = {"unit": "web/0", "app": "web", "config": {"title": "blå"}, "leader": True, "relations": {}}
    async with machine.session() as session:
        assert session.hello["python"].startswith(version)
        assert (await deploy(session, tmp_path, 0, files))["outcome"] == "ok"
        result = await session.run(hook_op("start", context=context | {"endpoints": ["db"]}))
        assert result["outcome"] == "ok", lines(result)
        assert lines(result) == ["blå"]
        status = next(item["e"] for item in result["events"] if item["e"]["k"] == "status")
        assert (status["status"], status["message"]) == ("active", "é")
    assert await machine.gone()


@pytest.mark.parametrize("version", ["3.6", "3.7"])
async def test_too_old_is_said(version: str, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    use_python(monkeypatch, "env PATH=/nowhere " + find_python(version))
    with pytest.raises(RemoteFailed) as caught:
        async with machine.session():
            pass
    assert f"Python {version} is too old: pushjuju needs Python 3.8 or newer" in caught.value.detail
