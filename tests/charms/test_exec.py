"""juju-exec on a real machine: a charm's background job, with and without a controller."""

from __future__ import annotations

import itertools
import json
import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.charms.client import Client
from tests.waiting import remains

pytestmark = pytest.mark.machine

LINK = "/usr/bin/juju-exec"
WAITS = "juju-exec: no controller is attached: the commands wait for its next contact\n"
_START = """#!/bin/bash
set -eu
cat > /usr/local/bin/web-job <<'END'
#!/bin/bash
mkdir -p /var/tmp/jobs/$1
bash /var/tmp/jobs/$1.sh > /var/tmp/jobs/$1/out 2> /var/tmp/jobs/$1/err
echo $? > /var/tmp/jobs/$1/code
END
chmod +x /usr/local/bin/web-job
job=/etc/systemd/system/web-job@.service
printf '[Service]\\nType=oneshot\\nExecStart=/usr/local/bin/web-job %%i\\n' > $job
systemctl daemon-reload
status-set active ready
"""
_DISPATCH = """#!/bin/bash
set -eu
juju-log "dispatched ${JUJU_DISPATCH_PATH#hooks/}"
if [ "${JUJU_DISPATCH_PATH#hooks/}" = start ]; then exec ./start.sh; fi
while [ "${JUJU_DISPATCH_PATH#hooks/}" = update-status -a -e /var/tmp/hold ]; do
    touch /var/tmp/held
    sleep 0.2
done
case "$JUJU_DISPATCH_PATH" in *-relation-created) relation-set "name=$JUJU_UNIT_NAME" ;; esac
"""


def charm(folder: Path, name: str, **metadata: object) -> Path:
    """Write a charm whose start brings the background job."""
    place = folder / name
    place.mkdir()
    about = {"name": name, "summary": "s", "description": "d", **metadata}
    (place / "metadata.yaml").write_text(yaml.safe_dump(about))
    bases = [
        {"name": "ubuntu", "channel": channel, "architectures": ["all"]} for channel in ("24.04", "22.04")
    ]
    (place / "manifest.yaml").write_text(yaml.safe_dump({"bases": bases}))
    (place / "config.yaml").write_text("options: {note: {type: string, default: ''}}\n")
    for file, text in (("dispatch", _DISPATCH), ("start.sh", _START)):
        (place / file).write_text(text)
        (place / file).chmod(0o755)
    return place


class Job:
    """A background job on the machine."""

    def __init__(self, client: Client, name: str, *words: str) -> None:
        self.client = client
        self.name = name
        script = f"exec {LINK} {shlex.join(words)}"
        client.on(
            "0",
            f"mkdir -p /var/tmp/jobs; echo {shlex.quote(script)} > /var/tmp/jobs/{name}.sh;"
            f" systemctl start --no-block web-job@{name}",
        )

    def file(self, name: str) -> str:
        """Return what it wrote so far; nothing while the machine is on its way down or up."""
        command = shlex.quote(f"cat /var/tmp/jobs/{self.name}/{name} 2>/dev/null || true")
        return self.client.try_run("ssh", "0", "sudo", "sh", "-c", command).stdout

    def over(self) -> bool:
        """Tell whether it has ended."""
        return bool(self.file("code"))

    def end(self, limit: float = 20.0) -> tuple[int, str, str]:
        """Wait for its end; return exit code, stdout, stderr."""
        self.client.until(self.over, limit)
        return int(self.file("code")), self.file("out"), self.file("err")

    def until_it_waits(self) -> None:
        """Wait until it has said that it waits."""
        self.client.until(lambda: self.file("err") == WAITS, 20)


@pytest.fixture(scope="module")
def web(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A unit of web and two of store on one machine."""
    folder = tmp_path_factory.mktemp("charms")
    client = shared_client
    client.run(
        "deploy", charm(folder, "web", requires={"db": {"interface": "sql"}, "cache": {"interface": "sql"}})
    )
    client.run("deploy", charm(folder, "store", provides={"server": {"interface": "sql"}}), "--to", "0")
    client.run("add-unit", "store", "--to", "0")
    client.run("integrate", "web:db", "store:server")
    yield client
    client.run("remove-application", "web", "store", "--no-prompt")


def relation(client: Client) -> int:
    found = client.on("0", f"{LINK} --no-context true; ls /var/lib/juju/agents").split()
    assert "unit-web-0" in found
    info = json.loads(client.run("show-unit", "web/0", "--format", "json"))
    (item,) = info["web/0"]["relation-info"]
    return int(item["relation-id"])


def test_a_job_waits_for_the_next_contact(web: Client) -> None:
    commands = "status-set active from-cron; relation-ids db; echo oops >&2; exit 3"
    job = Job(web, "waits", "web/0", commands)
    job.until_it_waits()
    remains(lambda: not job.over(), 3)
    web.run("update-status")
    code, out, err = job.end()
    assert (code, out) == (3, f"db:{relation(web)}\n")
    assert err == f"{WAITS}oops\n"
    unit = web.units("web")["web/0"]
    assert unit["workload-status"]["message"] == "from-cron"
    assert unit["juju-status"]["current"] == "idle"
    assert web.on("0", "ls /var/lib/juju/pushjuju/requests") == ""


def test_a_job_is_served_at_once_while_a_controller_is_attached(web: Client) -> None:
    process = web.start("controller", "run")
    try:
        web.until_it_serves(process)
        before = web.hooks()["web/0"].count("config-changed")
        web.run("config", "web", "note=attached", "--no-wait")
        web.until(lambda: web.hooks()["web/0"].count("config-changed") > before)
        web.until(lambda: web.agents("web")["web/0"][1] == "idle")
        time.sleep(1)
        began = time.monotonic()
        job = Job(web, "served", "unit-web-0", "status-set active attached; echo $JUJU_UNIT_NAME; pwd")
        code, out, err = job.end(10)
        print("served after", round(time.monotonic() - began, 2), "s, ssh and all")
        assert (code, out, err) == (0, "web/0\n/var/lib/juju/agents/unit-web-0/charm\n", "")
        web.until(lambda: web.units("web")["web/0"]["workload-status"]["message"] == "attached", 5)
        jobs = [Job(web, f"many{number}", "-u", "web/0", f"exit {number}") for number in (4, 5)]
        assert [job.end()[0] for job in jobs] == [4, 5]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()


def test_the_way_charms_dispatch_events_of_their_own(web: Client) -> None:
    dispatch = "JUJU_DISPATCH_PATH=hooks/topology_change ./dispatch"
    job = Job(web, "event", "-u", "web/0", dispatch)
    job.until_it_waits()
    web.run("update-status")
    assert job.end()[0] == 0
    assert any("dispatched topology_change" in line for line in web.log("web/0"))


def test_relations_with_one_member_with_several_and_with_none(web: Client) -> None:
    number = relation(web)
    from_store = Job(
        web, "one", "-r", f"server:{number}", "store/0", "echo $JUJU_RELATION_ID $JUJU_REMOTE_UNIT"
    )
    several = Job(web, "several", "-r", str(number), "web/0", "true")
    chosen = Job(
        web, "chosen", "-r", f"db:{number}", "--remote-unit", "store/1", "web/0",
        "echo $JUJU_RELATION $JUJU_REMOTE_UNIT; relation-get name; relation-set by=exec; exit 9",
    )  # fmt: skip
    stranger = Job(web, "stranger", "-r", str(number), "--remote-unit", "store/7", "web/0", "true")
    forced = Job(
        web, "forced", "-r", str(number), "--remote-unit", "store/7", "--force-remote-unit", "web/0",
        "echo $JUJU_REMOTE_UNIT",
    )  # fmt: skip
    unknown = Job(web, "unknown", "-r", "db:99", "web/0", "true")
    every = (from_store, several, chosen, stranger, forced, unknown)
    for job in every:
        job.until_it_waits()
    web.run("update-status")
    possible = "possibilities are [store/0 store/1]"
    assert [job.end() for job in every] == [
        (0, f"server:{number} web/0\n", WAITS),
        (1, "", f"{WAITS}ERROR ambiguous remote unit; {possible}\n"),
        (9, "db store/1\nstore/1\n", WAITS),
        (1, "", f"{WAITS}ERROR unknown remote unit store/7; {possible}\n"),
        (0, "store/7\n", WAITS),
        (1, "", f"{WAITS}ERROR unknown relation id: 99\n"),
    ]
    info = json.loads(web.run("show-unit", "store/0", "--format", "json"))
    (item,) = info["store/0"]["relation-info"]
    assert item["related-units"]["web/0"]["data"]["by"] == "exec"


def test_a_person_on_the_machine(web: Client) -> None:
    done = web.try_run("ssh", "0", f"sudo {LINK} --no-context 'echo $0; exit 6'")
    assert (done.rc, done.stdout.strip()) == (6, "/bin/bash")
    done = web.try_run("ssh", "0", f"sudo {LINK} 'hostname'")
    assert (done.rc, "is not a valid tag" in done.stderr) == (2, True)
    done = web.try_run("ssh", "0", f"sudo timeout -s INT 1 {LINK} web/0 'touch /var/tmp/never'")
    assert done.rc != 0
    assert web.on("0", "ls /var/lib/juju/pushjuju/requests") == ""
    web.run("update-status")
    assert web.on("0", "ls /var/tmp | grep never || true") == ""


def test_a_controller_that_dies_meanwhile_leaves_the_answer_to_the_next_one(web: Client) -> None:
    job = Job(
        web, "orphan", "web/0", "echo ran >> /var/tmp/orphan; sleep 4; status-set active orphan; echo end"
    )
    job.until_it_waits()
    process = web.start("update-status")
    web.until(lambda: web.on("0", "cat /var/tmp/orphan 2>/dev/null || true") == "ran\n")
    process.kill()
    process.communicate()
    remains(lambda: not job.over(), 4)
    web.run("update-status")
    assert job.end() == (0, "end\n", WAITS)
    assert web.on("0", "cat /var/tmp/orphan") == "ran\n"
    assert web.units("web")["web/0"]["workload-status"]["message"] == "orphan"


def test_a_command_ends_though_an_update_status_that_is_due_takes_long(web: Client) -> None:
    """What was asked for runs first; the background process goes on with the rest."""
    web.on("0", "touch /var/tmp/hold")
    web.run("model-config", "update-status-hook-interval=1s")
    try:
        notes = itertools.count()
        while "held" not in web.on("0", "ls /var/tmp").split():
            web.run("config", "web", f"note={next(notes)}")  # once beside a hook that does not end
            assert web.hooks()["web/0"][-1] == "config-changed"
    finally:
        web.run("model-config", "--reset", "update-status-hook-interval")
        web.on("0", "rm -f /var/tmp/hold")
        web.until(lambda: web.agents("web")["web/0"][1] == "idle")
        web.end_processes()  # the next test's job would be answered at once


def test_a_reboot_that_is_asked_for(web: Client) -> None:
    def boot() -> str:
        return web.on("0", "cut -d' ' -f22 /proc/1/stat")

    before = boot()
    job = Job(web, "reboot", "web/0", "status-set active rebooted; juju-reboot; exit 7")
    job.until_it_waits()
    web.run("update-status")
    assert boot() != before
    assert job.file("code").strip() in ("", "7")  # the machine goes down right after the answer
    unit = web.units("web")["web/0"]
    assert (unit["workload-status"]["message"], unit["juju-status"]["current"]) == ("ready", "idle")
    assert web.on("0", "ls /var/lib/juju/pushjuju/requests") == ""
