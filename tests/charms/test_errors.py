"""Hooks that fail, hooks that are interrupted, work that is left to the background."""

from __future__ import annotations

import signal
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from tests.charms.client import Client, watched_charm

pytestmark = pytest.mark.machine


@pytest.fixture
def web(client: Client, tmp_path: Path) -> Client:
    """A model with one unit of hello-page, `web/0`, whose hooks can be told to fail or to wait."""
    client.run("deploy", watched_charm(tmp_path), "web", "--quiet")
    return client


def _begun(client: Client, hook: str) -> int:
    return Counter(client.on("web/0", "cat /var/log/hooks-begun").split())[hook]


def _ended(client: Client, hook: str) -> int:
    return Counter(client.on("web/0", "cat /var/log/hooks-ended").split())[hook]


def _failures(client: Client) -> list[datetime]:
    """Return when hooks failed, from the log."""
    lines = client.run(
        "debug-log", "--replay", "--no-tail", "--ms", "--date", "--include", "web/0"
    ).splitlines()
    return [
        datetime.fromisoformat(line.split(": ", 1)[1][:23])
        for line in lines
        if " failed: exit status " in line
    ]


def test_a_failing_hook(web: Client) -> None:
    """It is told with its log, retried with growing waits, mended by `resolved`, skipped by `--no-retry`."""
    web.on("web/0", "touch /etc/hook-fails-config-changed")
    done = web.fail("config", "web", "greeting=Moin")
    first, *more = done.error.splitlines()
    assert first == 'ERROR unit web/0: hook failed: "config-changed"'
    assert any("config-changed: the file says no" in line for line in more)
    assert any("failed: exit status 7" in line for line in more)
    assert more[-1].split("  ")[0] == "pushjuju resolved web/0"
    unit = web.units("web")["web/0"]
    assert unit["workload-status"] | {"since": ""} == {
        "current": "error",
        "message": 'hook failed: "config-changed"',
        "since": "",
    }
    assert unit["juju-status"]["current"] == "idle"

    # By itself: a controller process tries again, after 5 seconds and some, then after twice that.
    process = web.start("controller", "run")
    try:
        web.until(lambda: len(_failures(web)) == 3)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0
    at = _failures(web)
    assert (at[1] - at[0]).total_seconds() > 3.9
    assert (at[2] - at[1]).total_seconds() > 7.9

    # By hand, with the cause still there, then without it.
    assert web.fail("resolved", "web/0").error.startswith(first)
    assert _begun(web, "config-changed") == 5
    web.on("web/0", "rm /etc/hook-fails-config-changed")
    web.run("resolved", "web/0")
    assert web.agents("web") == {"web/0": ("active", "idle")}
    assert (_begun(web, "config-changed"), _ended(web, "config-changed")) == (6, 2)
    assert web.fail("resolved", "web/0").error == 'ERROR unit "web/0" is not in an error state\n'

    web.on("web/0", "touch /etc/hook-fails-config-changed")
    web.fail("config", "web", "greeting=Ahoy")
    web.run("resolved", "web/0", "--no-retry")
    assert web.agents("web") == {"web/0": ("active", "idle")}
    assert (_begun(web, "config-changed"), _ended(web, "config-changed")) == (7, 2)


def test_a_failing_install_and_the_ways_out(client: Client, tmp_path: Path) -> None:
    """`deploy` fails and says why; a unit in error holds up what is gentle, not what is forced."""
    charm = watched_charm(tmp_path)
    hook = charm / "hooks" / "hook"
    hook.write_text(hook.read_text().replace("set -eu\n", 'set -eu\necho "no room" >&2\nexit 3\n', 1))
    done = client.fail("deploy", charm, "web")
    assert done.error.startswith('ERROR unit web/0: hook failed: "install"\n')
    assert "no room" in done.error
    assert "failed: exit status 3" in done.error
    done = client.fail("remove-application", "web", "--no-prompt")
    assert done.error.startswith('ERROR unit web/0: hook failed: "install"\n')
    assert client.status()["applications"]["web"]["life"] == "dying"
    done = client.fail("destroy-model", "default", "--no-prompt")
    assert "web/0" in done.error
    asked = time.monotonic()
    done = client.try_run("-v", "destroy-model", "default", "--no-prompt", "--force")
    assert time.monotonic() - asked < 45  # the forced end itself would come after a minute
    assert (done.rc, "web/0: is in error: removed without its hooks" in done.stderr) == (0, True), str(done)
    assert client.models() == []


def test_interrupted_by_the_person(web: Client) -> None:
    """Ctrl-C in the middle of a hook ends the command at once; the hook goes on, and runs once."""
    web.on("web/0", "echo 5 > /etc/hook-sleeps-config-changed")
    process = web.start("config", "web", "greeting=Moin")
    web.until(lambda: _begun(web, "config-changed") == 2)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert time.monotonic() - asked < 5
    assert process.returncode == 130, stderr
    assert "Interrupted. What was asked for is recorded" in stderr
    assert "'pushjuju update-status' continues it" in stderr
    assert "Traceback" not in stderr
    assert web.agents("web") == {"web/0": ("maintenance", "executing")} or web.agents("web") == {
        "web/0": ("active", "executing")
    }
    web.run("update-status", "web/0")
    assert web.agents("web") == {"web/0": ("active", "idle")}
    assert (_begun(web, "config-changed"), _ended(web, "config-changed")) == (2, 2)
    assert "Moin" in web.on("web/0", "cat /srv/page-web-0/index.html")


def test_left_to_the_background(web: Client) -> None:
    """`--no-wait` and PUSHJUJU_WAIT=0 return at once; one process in the background does the work."""
    web.on("web/0", "echo 3 > /etc/hook-sleeps-config-changed")
    asked = time.monotonic()
    web.run("config", "web", "greeting=Moin", "--no-wait")
    web.run("config", "web", "banner=false", env={"PUSHJUJU_WAIT": "0"})
    web.run("add-unit", "web", "--no-wait")
    assert time.monotonic() - asked < 10
    web.until(lambda: len(web.processes()) == 1)
    background = web.processes()
    web.until(lambda: web.agents("web") == {f"web/{number}": ("active", "idle") for number in range(2)})
    assert set(web.processes()) <= set(background)
    page = web.on("web/0", "cat /srv/page-web-0/index.html")
    assert "Moin" in page
    assert "Served by" not in page
    assert _begun(web, "config-changed") == _ended(web, "config-changed")
    web.until(lambda: not web.processes())
