"""The example of a notifier in contrib: installed by pip, it delivers to a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.plugins.api.notices import NotifyTarget
from pushjuju.plugins.manager import PluginHost
from tests.unit.plugins.notifiers.receivers import unused_port, web
from tests.unit.plugins.notifiers.test_webhook import EVENT

SOURCE = Path(__file__).parents[2] / "contrib" / "plugins" / "pushjuju-apprise"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginHost:
    """A plugin host that finds the plugin, installed by pip from its own pyproject."""
    folder, copy = tmp_path / "site", tmp_path / "pushjuju-apprise"
    shutil.copytree(SOURCE, copy)
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder]
    environ = {**os.environ, "PIP_NO_INPUT": "1"}
    subprocess.run([sys.executable, "-m", "pip", "install", *flags, copy], check=True, env=environ)
    monkeypatch.syspath_prepend(folder)
    return PluginHost(environ={}, warn=pytest.fail, path=[str(folder)])


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_the_plugin_delivers_an_event(host: PluginHost) -> None:
    notifier = host.notifiers()["apprise"]
    with web() as posted:
        target = NotifyTarget(name="t", address=f"apprise:json://127.0.0.1:{posted.port}/s3cret")
        notifier.check(target)
        notifier.send(target, EVENT)
    ((path, _, body),) = posted.requests
    assert path.startswith("/s3cret")
    assert (body["title"], body["message"]) == ("pushjuju: unit.error", EVENT.text)
    assert notifier.shown(target.address) == "apprise:json://…"
    gone = NotifyTarget(name="t", address=f"apprise:json://127.0.0.1:{unused_port()}/s3cret")
    with pytest.raises(NotifyError, match="apprise:json://… did not take the message"):
        notifier.send(gone, EVENT)
    with pytest.raises(NotValid):
        notifier.check(NotifyTarget(name="t", address="apprise:nonsense"))
