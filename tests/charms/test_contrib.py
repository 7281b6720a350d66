"""What contrib/ offers beside charms, each tried for real: services, timer, cron line, the example plugin.

The wheel is installed on a machine of its own, as the how-to page says; it drives another machine over SSH.
"""

from __future__ import annotations

import asyncio
import hashlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.nspawn.layout import Layout
from pushjuju.testing.machines import LocalCloud
from tests.charms.client import HELLO, REPOSITORY, Client, watched_charm
from tests.charms_tools.packing import cache_dir, made_once, pip
from tests.world import how_to

pytestmark = pytest.mark.machine

CONTRIB = REPOSITORY / "contrib"
PJ = "sudo -H -u pushjuju /opt/pushjuju/bin/pushjuju"
HOOKS = "/var/log/hooks-begun"
FIRST_KEY = "var/lib/pushjuju-controller/first-key"

# The how-to page, sections 1 and 2; the packages were downloaded on the host.
_INSTALL = """set -e
cd /root
python3 -m venv --without-pip /opt/pushjuju
pip=$(echo /root/wheels/pip-*.whl)/pip
/opt/pushjuju/bin/python "$pip" install -q --no-index --find-links /root/wheels pushjuju
install -D -m 0644 /root/contrib/systemd/pushjuju.sysusers /etc/sysusers.d/pushjuju.conf
systemd-sysusers
install -d -o pushjuju -g pushjuju -m 0700 /var/lib/pushjuju-controller
cp /root/contrib/systemd/pushjuju-*.service /root/contrib/systemd/pushjuju-*.timer /etc/systemd/system/
systemctl daemon-reload
chmod -R a+rX /root/watched && mv /root/watched /srv/
"""


@dataclass(frozen=True)
class Host:
    """The machine that the controller lives on, and the machine that it drives."""

    cloud: LocalCloud
    target: SSHTarget
    driven: SSHTarget

    def try_run(self, script: str) -> ScriptResult:
        """Run a script as root on the controller's machine."""
        return asyncio.run(self.cloud.ssh.run_script(self.target, script, sudo=True))

    def run(self, script: str) -> str:
        """Run a script as root on the controller's machine; it must succeed."""
        done = self.try_run(f"{script}\n")
        assert done.rc == 0, f"{script}\n{done.stdout}{done.stderr}\n{self.journal()}"
        return done.stdout

    def journal(self) -> str:
        """Return what the services said."""
        return self.try_run("journalctl --no-pager -q -o cat -u 'pushjuju-*' -n 60\n").stdout

    def there(self, script: str) -> str:
        """Run a script as root on the driven machine."""
        done = asyncio.run(self.cloud.ssh.run_script(self.driven, f"{script}\n", sudo=True))
        assert done.rc == 0, done
        return done.stdout

    def begun(self, hook: str) -> int:
        """Return how often a hook began."""
        return self.there(f"cat {HOOKS}").split().count(hook)

    def until(self, condition: Callable[[], object], limit: float = 60.0) -> None:
        """Wait until a condition holds; the test fails when it does not in time."""
        end = time.monotonic() + limit
        while not condition():
            if time.monotonic() > end:
                status = self.try_run(f"{PJ} status\n").stdout
                pytest.fail(f"did not come about in {limit} s:\n{status}\n{self.journal()}")
            time.sleep(0.3)

    def rests(self) -> bool:
        """Tell whether the one unit is active and idle."""
        line = re.search(r"^web/0\*? +(\w+) +(\w+)", self.run(f"{PJ} status"), re.MULTILINE)
        return line is not None and line.groups() == ("active", "idle")


@pytest.fixture(scope="module")
def host(local_cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Two machines; on one of them pushjuju with a model on the other."""
    data_dir = local_cloud.data_dir()
    provider = local_cloud.provider(data_dir)
    layout = Layout.of(data_dir)

    async def start(machine_id: str) -> tuple[SSHTarget, Path]:
        started = await provider.start(local_cloud.request(machine_id))
        target = await provider.ssh_target(started.instance)
        await local_cloud.ssh.wait_for(target)
        return target, layout.machine(started.instance.id) / "root"

    async def start_both() -> tuple[tuple[SSHTarget, Path], tuple[SSHTarget, Path]]:
        return await asyncio.gather(start("0"), start("1"))

    try:
        (target, root), (driven, _) = asyncio.run(start_both())
        made = Host(local_cloud, target, driven)
        version = made.run("python3 -c 'import sys; print(*sys.version_info[:2], sep=str(chr(46)))'").strip()
        shutil.copytree(_wheels(version), root / "root/wheels")
        _build_wheel(REPOSITORY, root / "root/wheels")
        shutil.copytree(CONTRIB, root / "root/contrib", symlinks=True)
        shutil.copytree(watched_charm(tmp_path_factory.mktemp("charm")), root / "root/watched", symlinks=True)
        made.run(_INSTALL)
        shutil.copy(local_cloud.key, root / FIRST_KEY)
        made.run(
            f"cd /root; chown pushjuju /{FIRST_KEY}\n"
            f"{PJ} bootstrap manual lab --add-model shop\n"
            f"{PJ} add-machine ssh:ubuntu@{driven.host} --private-key /{FIRST_KEY}\n"
            f"rm /{FIRST_KEY}"
        )
        yield made
    finally:
        local_cloud.sweep_data_dir(data_dir)


def _build_wheel(source: Path, target: Path) -> None:
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(argv, cwd=source, check=True, capture_output=True)


def _wheels(version: str) -> Path:
    """Return a folder with pip and all that pushjuju needs, for the Python of the machine."""
    wanted = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["dependencies"]
    digest = hashlib.sha256(repr(wanted).encode()).hexdigest()[:12]
    machine = platform.machine()
    platforms = [
        f"--platform={name}_{machine}" for name in ("manylinux2014", "manylinux_2_28", "manylinux_2_34")
    ]

    def fetch(folder: Path) -> None:
        pip(
            "download", "--dest", str(folder), "--only-binary=:all:", f"--python-version={version}",
            *platforms, "pip", *wanted,
        )  # fmt: skip

    return made_once(cache_dir() / f"wheels-{version}-{digest}", fetch)


def test_units_are_sound(host: Host) -> None:
    """systemd finds nothing wrong with them; what a service may do is little."""
    names = " ".join(path.name for path in sorted((CONTRIB / "systemd").glob("pushjuju-*")))
    assert host.run(f"cd /etc/systemd/system; systemd-analyze verify {names} 2>&1") == ""
    for name in ("pushjuju-controller", "pushjuju-update-status"):
        shown = host.run(f"systemd-analyze security --no-pager {name}.service")
        exposure = re.search(r"Overall exposure level for \S+: ([\d.]+) ", shown)
        assert exposure, shown
        assert float(exposure[1]) < 3.0, shown


def test_the_service(host: Host) -> None:
    """It works what others record, comes back after kill -9, and stops in mid-hook without harm."""
    host.run("systemctl enable --now pushjuju-controller")
    assert host.run("systemctl is-active pushjuju-controller") == "active\n"
    host.run(f"cd /root; {PJ} deploy /srv/watched web --to 0 --no-wait")
    host.until(host.rests)
    assert host.run("pgrep -u pushjuju -f 'controller run'").split() == [_main_pid(host)]

    host.run(f"kill -9 {_main_pid(host)}")
    host.run(f"{PJ} config web greeting=Moin --no-wait")
    host.until(lambda: "Moin" in host.there("cat /srv/page-web-0/index.html") and host.rests())

    host.there("echo 5 > /etc/hook-sleeps-config-changed")
    before = host.begun("config-changed")
    host.run("systemctl restart pushjuju-controller")
    host.until(lambda: f":{_main_pid(host)}:" in host.run(f"{PJ} controller processes"))
    host.run(f"{PJ} config web greeting=Ahoy --no-wait")
    host.until(lambda: host.begun("config-changed") == before + 1)
    asked = time.monotonic()
    host.run("systemctl stop pushjuju-controller")
    assert time.monotonic() - asked < 5
    shown = host.run("systemctl show -P Result -P ExecMainStatus pushjuju-controller")
    assert sorted(shown.split()) == ["0", "success"], host.journal()
    assert "executing" in host.run(f"{PJ} status")
    host.there("rm /etc/hook-sleeps-config-changed")
    host.run("systemctl start pushjuju-controller")
    host.until(host.rests)
    assert host.begun("config-changed") == before + 1
    assert "Ahoy" in host.there("cat /srv/page-web-0/index.html")
    host.run("systemctl disable --now pushjuju-controller")
    assert "Traceback" not in host.journal()


def _main_pid(host: Host) -> str:
    return host.run("systemctl show -P MainPID pushjuju-controller").strip()


def test_the_timer(host: Host) -> None:
    """Its first round comes by itself, and runs update-status; a unit in error makes a round fail."""
    before = host.begun("update-status")
    # The minute before the first round is cut short; the rest is as it is.
    host.run(
        "mkdir -p /etc/systemd/system/pushjuju-update-status.timer.d\n"
        "printf '[Timer]\\nOnActiveSec=\\nOnActiveSec=1\\nRandomizedDelaySec=0\\nAccuracySec=100ms\\n'"
        " > /etc/systemd/system/pushjuju-update-status.timer.d/test.conf\n"
        "systemctl daemon-reload; systemctl enable --now pushjuju-update-status.timer"
    )
    host.until(lambda: host.begun("update-status") == before + 1)
    host.until(lambda: _result(host) == "success inactive")
    assert "pushjuju-update-status.timer" in host.run("systemctl list-timers --no-pager")

    host.there("touch /etc/hook-fails-update-status")
    done = host.try_run("systemctl start pushjuju-update-status.service\n")
    assert done.rc != 0
    assert _result(host) == "exit-code failed"
    assert 'ERROR unit web/0: hook failed: "update-status"' in host.journal()
    host.there("rm /etc/hook-fails-update-status")
    host.run(f"{PJ} resolved web/0")
    host.run("systemctl start pushjuju-update-status.service")
    assert _result(host) == "success inactive"
    host.run("systemctl disable --now pushjuju-update-status.timer")


def _result(host: Host) -> str:
    shown = host.run("systemctl show -P Result -P ActiveState pushjuju-update-status.service").split()
    return " ".join(sorted(shown, key=["success", "exit-code", "inactive", "failed", "activating"].index))


def _need_cron(host: Host) -> None:
    if host.try_run("command -v cron\n").rc:
        done = host.try_run(
            "export DEBIAN_FRONTEND=noninteractive; apt-get update -q && "
            "apt-get install -q -y --no-install-recommends cron\n"
        )
        if done.rc:
            pytest.skip(f"cron cannot be installed here: {done.stderr.strip().splitlines()[-1:]}")


def test_cron(host: Host) -> None:
    """The line as it is, but for the minutes: cron runs it, and it says nothing."""
    _need_cron(host)
    before = host.begun("update-status")
    # cron knows its folder by the second of the last change: a start within that second would hide the file.
    host.run(
        "sed 's|^\\*/5 |* |' /root/contrib/cron/pushjuju > /etc/cron.d/pushjuju\n"
        "chmod 0644 /etc/cron.d/pushjuju; grep -q '^\\* \\* ' /etc/cron.d/pushjuju\n"
        "systemctl enable -q cron; systemctl restart cron"
    )
    host.until(lambda: host.begun("update-status") > before, limit=80)
    host.run("rm /etc/cron.d/pushjuju")
    host.until(host.rests)
    assert "No MTA installed, discarding output" not in host.run("journalctl --no-pager -q -u cron")
    assert host.run("stat -c %a /var/lib/pushjuju-controller/cron.lock") == "600\n"


def test_doctor_gives_a_user_a_line_that_cron_runs(host: Host) -> None:
    """A line of the user's own crontab, but for the minutes; the command of the how-to page takes it out."""
    _need_cron(host)
    asked = f"cd /root; {PJ} doctor manual"
    assert "nothing runs it regularly" in host.run(asked)
    for _ in range(2):
        assert "the crontab of pushjuju runs it regularly" in host.run(f"{asked} --schedule")
    (line,) = host.run("crontab -u pushjuju -l").splitlines()
    before = host.begun("update-status")
    host.run("crontab -u pushjuju -l | sed 's|^\\*/5 |* |' | crontab -u pushjuju -; systemctl start cron")
    host.until(lambda: host.begun("update-status") > before, limit=80)
    host.until(host.rests)
    page = (REPOSITORY / "docs/how-to/run-as-a-service.md").read_text()
    (removal,) = re.findall(r"^    (crontab -l \| grep .*\| crontab -) ", page, re.MULTILINE)
    host.run(f"sudo -u pushjuju sh -c {shlex.quote(removal)}")
    assert host.run("crontab -u pushjuju -l") == ""
    assert line.endswith("--quiet update-status")
    assert "nothing runs it regularly" in host.run(asked)


def test_the_page_about_services(host: Host) -> None:
    """Another controller, made, run and driven by the lines of the page; cron is not waited for."""
    _forget_controller(host)
    key = shlex.quote(host.cloud.key.read_text())
    host.run(f"cp -r /root/contrib /srv/; mkdir -p ~/.ssh; (umask 077; echo {key} > ~/.ssh/id_ed25519)")
    installed = "the machine has no network: the fixture installs packages that were downloaded"
    scheduled = "test_doctor_gives_a_user_a_line_that_cron_runs makes the line, and takes it out"

    def run(line: str) -> tuple[int, str]:
        if "juju-exec" in line:
            host.until(host.rests)
            host.until(lambda: host.there("pgrep -x pushjuju-attach || true"))
            return 0, host.there(line)
        done = host.try_run(f"shopt -s expand_aliases; cd /srv; alias pj='{PJ}'\n{line}\n")
        return done.rc, done.stdout + done.stderr

    how_to.play(
        "run-as-a-service.md",
        run,
        left_out={
            "sudo python3 -m venv /opt/pushjuju": installed,
            "sudo /opt/pushjuju/bin/pip install .": installed,
            **{line: scheduled for line in how_to.commands("run-as-a-service.md") if "crontab" in line},
            "pushjuju doctor": "named in a sentence",
            "pushjuju doctor --schedule": scheduled,
        },
        put={
            "bob@10.0.0.7": f"ubuntu@{host.driven.host}",
            "hello-page": "hello-page web",
            "apt-get -y upgrade": "apt-get --version",
            "HOST": host.run("hostname").strip(),
        },
    )
    host.run("rm /etc/cron.d/pushjuju; systemctl disable --now pushjuju-update-status.timer")


def test_the_unit_of_the_service_is_a_template(host: Host) -> None:
    """The lines with `sudo` of the page about several hosts; the others are for PostgreSQL."""
    host.run("head -c 32 /dev/urandom | base64 > /root/controller.key")
    page = "grow-to-several-hosts.md"
    others = [line for line in how_to.commands(page) if "sudo" not in line or line.startswith("alias")]
    why = "tests/postgres/test_how_to.py plays this line, or names why not"

    def run(line: str) -> tuple[int, str]:
        return 0, host.run(f"cd /root; {line}")

    how_to.play(page, run, left_out=dict.fromkeys(others, why))
    both = "pushjuju-controller@1 pushjuju-controller@2"
    host.until(lambda: host.run(f"{PJ} controller processes").count("waiting") == 2)
    host.run(f"systemctl disable --now {both}; rm /etc/systemd/system/pushjuju-controller@.service")


def _forget_controller(host: Host) -> None:
    """Give the driven machine back, and delete the controller."""
    host.run("systemctl disable --now pushjuju-controller")
    host.run(f"{PJ} destroy-controller lab --no-prompt --destroy-all-models")


def test_the_example_plugin(client: Client, host: Host, tmp_path: Path) -> None:
    """Installed by pip it is listed, and its cloud gives machines to a model."""
    _build_wheel(CONTRIB / "plugins" / "pushjuju-pool", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    pip("install", "--no-deps", "--no-index", "--target", str(tmp_path / "site"), str(wheel))
    assert "pool" not in {plugin["name"] for plugin in client.json("plugins")}
    client.environ["PYTHONPATH"] = ":".join(
        filter(None, (str(tmp_path / "site"), client.environ.get("PYTHONPATH")))
    )
    (plugin,) = [plugin for plugin in client.json("plugins") if plugin["name"] == "pool"]
    assert plugin["source"] == "pushjuju_pool"
    assert plugin["error"] == ""
    assert "pushjuju_open_provider" in plugin["hooks"]
    base = host.cloud.base.display
    (client.data / "clouds.toml").write_text(
        f'[clouds.rack]\ntype = "pool"\nbase = "{base}"\nservers = ["{host.target.host}"]\n'
    )
    client.run("bootstrap", "rack", "lab", "--add-model", "shop")
    key = (client.data / "controllers/lab/ssh/id_ed25519.pub").read_text().strip()
    host.run(f"echo '{key}' >> /root/.ssh/authorized_keys")
    client.run("deploy", HELLO, "web", "--base", base)
    assert client.agents("web") == {"web/0": ("active", "idle")}
    assert client.status()["machines"]["0"]["instance-id"] == host.target.host
    done = client.fail("add-machine")
    assert "none of the 1 servers is free" in done.stderr
    client.run("destroy-model", "shop", "--no-prompt", "--force", "--no-wait")
