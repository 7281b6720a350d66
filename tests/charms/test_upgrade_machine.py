"""A machine goes to another base, on a real one: the hooks around it, and the rest in between."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import yaml

from pushjuju.plugins.api.providers import no_progress
from pushjuju.plugins.providers.local.bases import cache_dir, ensure_base
from pushjuju.plugins.providers.local.sources import BasesConfig
from pushjuju.testing.machines import LocalCloud, local_cloud  # noqa: F401
from tests.charms.client import Client

pytestmark = pytest.mark.machine

BASES = [{"name": "ubuntu", "channel": channel, "architectures": ["all"]} for channel in ("24.04", "22.04")]
PREPARE = ("upgrade-machine", "0", "prepare", "ubuntu@24.04", "--yes")
READY = """
Juju is now ready for the machine base to be updated.
Perform any manual steps required along with "do-release-upgrade".
When ready, run the following to complete the upgrade base process:

pushjuju upgrade-machine 0 complete
"""
# Writes down what it is told of the upgrade; a file lets a hook wait.
_HOOK = """#!/bin/bash
set -eu
name=$(basename "$0")
echo "$name ${JUJU_TARGET_BASE:--} ${JUJU_TARGET_SERIES:--}" >> "/var/log/ran-${JUJU_UNIT_NAME%/*}"
sleep "$(cat "/etc/sleeps-$name" 2>/dev/null || echo 0)"
[ "$name" != start ] || status-set active
"""
HOOKS = ("install", "start", "config-changed", "update-status")
AROUND = ("pre-series-upgrade", "post-series-upgrade")


def charm(folder: Path, name: str, *hooks: str) -> Path:
    """Write a charm with an option and these hooks."""
    tree = folder / name
    (tree / "hooks").mkdir(parents=True)
    (tree / "metadata.yaml").write_text(yaml.safe_dump({"name": name, "summary": "-", "description": "-"}))
    (tree / "manifest.yaml").write_text(yaml.safe_dump({"bases": BASES}))
    (tree / "config.yaml").write_text(yaml.safe_dump({"options": {"title": {"type": "string"}}}))
    for hook in hooks:
        path = tree / "hooks" / hook
        path.write_text(_HOOK)
        path.chmod(0o755)
    return tree


@pytest.fixture
def site(client: Client, local_cloud: LocalCloud, tmp_path: Path) -> Client:  # noqa: F811
    """A machine with `both/0`, whose charm has both hooks, and `plain/0`, whose charm has none of them."""
    root = ensure_base(BasesConfig(), local_cloud.base, cache_dir(os.environ), no_progress).root
    # The base to come from need not be built: what it really is plays no part here.
    (client.data / "clouds.toml").write_text(
        f'[clouds.local]\ntype = "local"\n[clouds.local.bases."ubuntu@22.04"]\ndirectory = "{root}"\n'
    )
    client.run("bootstrap", "local", "here", "--add-model", "site", "--model-default", "mode=")
    client.run("deploy", charm(tmp_path, "both", *HOOKS, *AROUND), "--base", "ubuntu@22.04", "--quiet")
    plain = charm(tmp_path, "plain", *HOOKS)
    client.run("deploy", plain, "--base", "ubuntu@22.04", "--to", "0", "--quiet")
    return client


def ran(client: Client, application: str) -> list[str]:
    """Return what the hooks of an application wrote down since the last look, the first word each."""
    where = f"/var/log/ran-{application}"
    text = client.on("0", f"cat {where} 2>/dev/null; rm -f {where}")
    return [line.removesuffix(" - -") for line in text.splitlines()]


def test_the_upgrade_of_a_machine(site: Client) -> None:
    """Asked, prepared, rebooted by hand while things change, completed; then the units catch up."""
    for application in ("both", "plain"):
        assert ran(site, application) == ["install", "config-changed", "start"]

    done = site.fail(*PREPARE[:-1], stdin="n\n")
    assert done.error == "ERROR upgrade machine: aborted\n"
    assert "  - both/0\n  - plain/0\n" in done.stdout

    done = site.try_run(*PREPARE)
    assert done.rc == 0, str(done)
    head, *said, end = done.stderr.removesuffix(READY).splitlines()
    assert done.stderr.endswith(READY)
    assert head == 'machine-0 started upgrade from "ubuntu@22.04" to "ubuntu@24.04"'
    assert said == [
        "both/0 pre-series-upgrade hook running",
        "both/0 pre-series-upgrade completed",
        "plain/0 pre-series-upgrade hook running",
        "plain/0 pre-series-upgrade hook not found, skipping",
    ]
    assert end == "machine-0 binaries and service files written"
    assert ran(site, "both") == ["pre-series-upgrade ubuntu@24.04 noble"]
    instance = site.status()["machines"]["0"]["machine-status"]
    assert instance["message"] == "series upgrade prepare completed: waiting for completion command"

    assert site.fail("remove-machine", "0").error == (
        "ERROR removing machine failed: machine 0 is locked for series upgrade\n"
    )
    assert "currently" not in site.fail(*PREPARE).error
    site.run("config", "both", "title=meanwhile")
    site.run("update-status")
    boot = "cat /proc/sys/kernel/random/boot_id; uptime -s"
    before = site.on("0", boot)
    site.try_run("ssh", "0", "sudo", "systemctl", "reboot")
    site.until(lambda: (done := site.try_run("ssh", "0", boot)).rc == 0 and done.stdout != before)
    site.run("config", "plain", "title=meanwhile")
    assert (ran(site, "both"), ran(site, "plain")) == ([], [])
    assert site.agents("both") == {"both/0": ("active", "idle")}

    done = site.try_run("upgrade-machine", "0", "complete")
    assert done.rc == 0, str(done)
    assert done.stderr.startswith(
        "machine-0 complete phase started\nmachine-0 start units after series upgrade\n"
    )
    assert done.stderr.endswith(
        "plain/0 post-series-upgrade hook not found, skipping\nmachine-0 series upgrade complete\n\n"
        'Upgrade machine base "0" has successfully completed\n'
    )
    first, *rest = ran(site, "both")
    assert (first, sorted(rest)) == ("post-series-upgrade", ["config-changed", "start"])
    assert sorted(ran(site, "plain")) == ["config-changed", "start"]
    status = site.status()
    assert status["machines"]["0"]["base"] == {"name": "ubuntu", "channel": "24.04"}
    assert status["applications"]["both"]["base"] == {"name": "ubuntu", "channel": "22.04"}
    site.run("remove-application", "both", "plain")
    assert site.status()["machines"] == {}


def test_another_process_goes_on(site: Client) -> None:
    """The command is killed in the middle of the hook, which runs once; the next one ends the preparation."""
    ran(site, "both")
    site.on("0", "echo 4 > /etc/sleeps-pre-series-upgrade")
    process = site.start(*PREPARE)
    try:
        site.until(lambda: "pre-series-upgrade" in site.on("0", "cat /var/log/ran-both || true"))
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.communicate(timeout=30)
    done = site.fail("upgrade-machine", "0", "complete")
    assert "it is either not prepared or already completed" in done.error
    site.run("update-status")
    assert ran(site, "both") == ["pre-series-upgrade ubuntu@24.04 noble"]
    assert 'current state is "prepare completed"' in site.fail(*PREPARE).error
    site.run("upgrade-machine", "0", "complete")
    assert "post-series-upgrade" in ran(site, "both")
