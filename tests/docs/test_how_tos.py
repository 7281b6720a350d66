"""The commands of how-tos that need no machine of this computer run on simulated machines."""

from __future__ import annotations

import base64
import json
import re
import shlex
import shutil
import ssl
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.plugins.notifiers.receivers import web
from tests.unit.plugins.notifiers.test_mail import Box, served
from tests.world import how_to
from tests.world.charm_trees import charm_tree
from tests.world.machine import status_event
from tests.world.played_home import PlayedHome
from tests.world.span_receiver import span_receiver

_CHARMS = {"db": "provides: {server: {interface: sql}}", "web": "requires: {db: {interface: sql}}"}
RULES = how_to.HOW_TOS.parents[1] / "contrib" / "prometheus" / "pushjuju.rules.yml"
FOLLOWS = "goes on until it is stopped; tests/unit/cli/commands/hook/test_inspecting.py follows"


@pytest.fixture
def home(tmp_path: Path) -> PlayedHome:
    """A home with a controller and the charms `db` and `web`."""
    for name, endpoints in _CHARMS.items():
        text = f"name: {name}\nsummary: s\ndescription: d\nseries: [jammy, noble]\n{endpoints}\n"
        charm_tree(tmp_path / name, {"config.yaml": "options: {port: {type: int}}\n"}, text)
    made = PlayedHome(tmp_path, active)
    ran(made, "bootstrap local home")
    return made


def active(_frame: Mapping[str, Any]) -> Mapping[str, Any]:
    """A hook that sets the status active."""
    return {"events": [status_event(1, "active")], "writes": {"status_set": True}}


def failing(_frame: Mapping[str, Any]) -> Mapping[str, Any]:
    """A hook that fails."""
    return {"outcome": "failed", "exit": 1}


def ran(home: PlayedHome, command: str, *, codes: tuple[int, ...] = (0,)) -> str:
    """Run a command line, and return what it printed."""
    ended = home(*shlex.split(command))
    assert ended.status in codes, f"{command}\n{ended.out}{ended.err}"
    return ended.err + ended.out


def typed(home: PlayedHome, line: str) -> tuple[int, str]:
    """Run a line: a command of pushjuju, whose output may go into a file, in this process; others in bash."""
    if not line.startswith("pushjuju ") or "\n" in line:
        return how_to.Shell(home.folder, PUSHJUJU_DATA=str(home.folder / "data"))(line)
    command, _, file = line.partition(" > ")
    ended = home(*shlex.split(command.replace("~", str(home.folder)))[1:])
    if file:
        (home.folder / file).write_text(ended.out)
    return ended.status, ended.err + ("" if file else ended.out)


def deploy(home: PlayedHome, model: str, *charms: str) -> None:
    ran(home, f"add-model {model}")
    for charm in charms:
        ran(home, f"deploy {home.folder / charm}")


def test_every_how_to_is_played() -> None:
    texts = [path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py")]
    named = {name for text in texts if "how_to.play(" in text for name in re.findall(r'"([\w-]+\.md)"', text)}
    assert {page.name for page in how_to.HOW_TOS.glob("*.md")} <= named


def test_a_command_that_is_left_out_is_on_the_page() -> None:
    with pytest.raises(AssertionError, match="pushjuju nonsense"):
        how_to.play("plan-a-change.md", lambda _: (0, ""), left_out={"pushjuju nonsense": "no reason"})


def test_relate_applications_of_two_models(home: PlayedHome) -> None:
    deploy(home, "prod", "db")
    deploy(home, "shop", "web")

    before = {
        "integrate web admin/prod.hosted-db --via 192.168.0.0/16": ["remove-relation web hosted-db"],
        "offers": ["switch prod"],
        "remove-relation web hosted-db": ["switch shop", "integrate web hosted-db"],
    }

    def run(line: str) -> tuple[int, str]:
        for command in before.get(line.removeprefix("pushjuju "), ()):
            ran(home, command)
        if "-relation 2" in line:
            (offer,) = json.loads(ran(home, "offers --format json")).values()
            line = line.replace("-relation 2", f"-relation {offer['connections'][0]['relation-id']}")
        return typed(home, line)

    how_to.play("relate-models.md", run)


def test_find_out_why_a_hook_failed(
    home: PlayedHome, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deploy(home, "shop", "db", "web")
    ran(home, "integrate web db")
    ran(home, "add-secret token value=1")
    home.does = lambda frame: (failing if frame["unit"] == "web/0" else active)(frame)
    ran(home, "config web port=81", codes=(1,))
    home.does = active
    (failed,) = json.loads(ran(home, "hooks web/0 --failed --format json"))
    monkeypatch.chdir(tmp_path)  # the page names a file without a folder
    shown = how_to.play(
        "find-out-why.md",
        lambda line: typed(home, line),
        left_out={"pushjuju hooks --follow": FOLLOWS},
        put={"3f2a": failed["operation"], "kim": "admin"},
    )
    silent = {line for line, printed in shown.items() if not printed}
    assert silent == {"pushjuju resolved web/0", "pushjuju replay web/0 --format json > report.json"}
    assert "error" not in ran(home, "status web")


def test_plan_a_change(home: PlayedHome) -> None:
    deploy(home, "shop", "db", "web")
    shown = how_to.play(
        "plan-a-change.md",
        lambda line: typed(home, line),
        left_out={"pushjuju hooks --follow": FOLLOWS},
        ends={"pushjuju plan -- remove-application db": 2},
    )
    assert "-  application db" in shown["pushjuju plan -- remove-application db"]
    assert shown[how_to.block("plan-a-change.md", "sh")].startswith("change application web\n")


def test_upgrade_a_machine(home: PlayedHome) -> None:
    """The hook after the upgrade fails; `resolved` goes on."""
    ran(home, "add-model shop")
    ran(home, f"deploy {home.folder / 'web'} -n 4 --base ubuntu@22.04")

    def run(line: str) -> tuple[int, str]:
        home.does = failing if "complete" in line else active
        return typed(home, line)

    how_to.play(
        "upgrade-a-machine.md",
        run,
        left_out={"pushjuju ssh 3": "tests/charms/test_upgrade_machine.py works on a real machine"},
        put={"24.04": "24.04 --yes", "UNIT": "web/3"},
        ends={"pushjuju upgrade-machine 3 complete": 1},
    )
    shown = json.loads(ran(home, "status --format json"))
    assert shown["machines"]["3"]["base"]["channel"] == "24.04"
    assert shown["applications"]["web"]["units"]["web/3"]["workload-status"]["current"] == "active"


def test_a_chat_a_program_and_a_mailbox_get_notified(home: PlayedHome, tmp_path: Path) -> None:
    """The servers are real, but without TLS and on this computer."""
    deploy(home, "prod", "web")
    got = tmp_path / "got"
    (tmp_path / "page").write_text(f"#!/bin/sh\ncat >> {got}\n")
    box = Box()
    mail = served(box)
    with web() as chat:
        how_to.play(
            "get-notified.md",
            lambda line: typed(home, line),
            put={
                "https://hooks.example.com": f"http://127.0.0.1:{chat.port}",
                "smtps://mail.example.com": f"smtp://127.0.0.1:{mail.port}",
                "~/.local/share/pushjuju": "~/data",
                "--file chat-url": f"--file {tmp_path}/chat-url",
            },
        )
        home.does = failing
        ran(home, "config web port=81", codes=(1,))
    mail.stop()
    sentence = 'home:admin/prod: unit web/0 is in error: hook failed: "config-changed"'
    assert [body for _, _, body in chat.requests] == [
        {"text": "home: this is a test of target chat"},
        {"text": sentence},
    ]
    assert [to for to, _ in box.messages] == [["ops@example.com"]] * 2
    assert sentence in box.messages[0][1]["Subject"]
    assert '"config" has done its work' in box.messages[1][1]["Subject"]
    shown, event = json.loads(how_to.block("get-notified.md", "json")), json.loads(got.read_text())
    assert shown.keys() == event.keys()
    assert shown["data"].keys() == event["data"].keys()


def test_monitor_a_controller(home: PlayedHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prometheus's own tool reads the configuration; the collector and the server are real."""
    deploy(home, "shop", "db")
    monkeypatch.chdir(tmp_path)
    with span_receiver() as collector:
        home.env = collector.env  # what the line with `export` does

        def run(line: str) -> tuple[int, str]:
            if line == "pushjuju change-user-password prometheus":
                ended = home(*shlex.split(line)[1:], stdin="sesame\nsesame\n")
                return ended.status, ended.err + ended.out
            return typed(home, line.removeprefix("* * * * * "))

        names = ("api", "COMMAND", "notify")
        how_to.play(
            "monitor.md",
            run,
            left_out={f"pushjuju {name}": "named in a sentence" for name in names},
            put={"UNIT": "db/0", "MACHINE": "0", "/var/lib/prometheus/node-exporter": str(tmp_path)},
        )
    assert collector.named("pushjuju deploy")
    assert "pushjuju_units{" in (tmp_path / "pushjuju.prom").read_text()
    _check_scraping(home)


def _check_scraping(home: PlayedHome) -> None:
    """Check the block for prometheus.yml with promtool, and read the metrics with what the block names."""
    shell = how_to.Shell(home.folder, PUSHJUJU_DATA=str(home.folder / "data"))
    with shell.serves("pushjuju api --listen 127.0.0.1:0 --log-format json", r"listens at (\S+?);") as said:
        (ca,) = home.folder.glob("data/controllers/*/api/ca.pem")
        text = how_to.block("monitor.md", "yaml").replace("192.0.2.7:17070", said[1])
        text = text.replace("/etc/prometheus/pushjuju-ca.pem", str(ca))
        text = text.replace("/etc/prometheus/pushjuju-password", str(home.folder / "password"))
        (home.folder / "password").write_text("sesame")
        (home.folder / "prometheus.yml").write_text(text)
        shutil.copy(RULES, home.folder)
        if shutil.which("promtool"):
            code, printed = shell("promtool check config prometheus.yml")
            assert not code, printed
        (job,) = yaml.safe_load(text)["scrape_configs"]
        login = base64.b64encode(b"prometheus:sesame").decode()
        asked = urllib.request.Request(
            f"https://{said[1]}/metrics", headers={"Authorization": f"Basic {login}"}
        )
        trust = ssl.create_default_context(cafile=job["tls_config"]["ca_file"])
        with urllib.request.urlopen(asked, context=trust) as answer:
            assert b"pushjuju_units{" in answer.read()
        own = {"model", "machine", "unit", "operation"}  # of lines about such an entity
        assert json.loads(said.string).keys() == json.loads(how_to.block("monitor.md", "json")).keys() - own


def test_look_at_models_in_a_browser(home: PlayedHome) -> None:
    """The link of the page logs in."""
    deploy(home, "shop", "web")
    shell = how_to.Shell(home.folder, PUSHJUJU_DATA=str(home.folder / "data"))

    def run(line: str) -> tuple[int, str]:
        with shell.serves(line, r"(http://\S+/ui/)enter\?token=(\S+)\n.*Ctrl-C.*\n") as found:
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            opener.open(found[0].split()[0]).close()
            with opener.open(found[1]) as page:
                assert "admin/shop" in page.read().decode()
            return 0, found[0].replace(found[2], "...")

    links = ("dashboard --link USER", "dashboard --link USER --listen 127.83.20.9:31666")
    names = ("dashboard", *links, "plan", "api", "controller run --api")
    left_out = {f"pushjuju {name}": "named in a sentence" for name in names}
    how_to.play("use-the-dashboard.md", run, left_out=left_out)
