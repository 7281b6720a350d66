"""Every command that there is, with good and with bad input, on a model with one real unit."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.charms.client import HELLO, Client

pytestmark = pytest.mark.machine

# command -> exit code, first line of the error text (a pattern where it holds what differs from run to run).
REFUSED = [
    ("bootstrap nope", 1, "cloud nope not found"),
    ("bootstrap local 'a b'", 1, '"a b" is not a valid controller name'),
    ("bootstrap local local", 1, 'controller "local" already exists'),
    ("bootstrap local x y", 2, 'unrecognized args: ["y"]'),
    ("bootstrap local x --add-model Bad_Name", 2, '"Bad_Name" is not a valid name: .*'),
    ("controllers x", 2, 'unrecognized args: ["x"]'),
    ("switch nope", 1, '"nope" is not the name of a model or controller: not found'),
    ("add-model", 2, "model name is required"),
    ("add-model Bad_Name", 2, '"Bad_Name" is not a valid name: .*'),
    ("add-model default", 1, 'model "default" for admin already exists'),
    ("add-model other nocloud", 1, "cloud nocloud not found"),
    ("add-model other --config update-status-hook-interval=soon", 1, '.*invalid duration "soon"'),
    ("models -c nope", 1, "controller nope not found"),
    ("models --format json -c nope", 1, "controller nope not found"),
    ("show-model nope", 1, "model local:admin/nope not found"),
    ("show-model --format json nope", 1, "model local:admin/nope not found"),
    ("destroy-model", 2, "no model specified"),
    ("destroy-model nope --no-prompt", 1, "model local:admin/nope not found"),
    ("destroy-model default", 1, "model destruction: aborted"),
    (
        "destroy-model default --no-prompt --timeout 3s",
        2,
        r"--timeout can only be used with --force \(dangerous\)",
    ),
    (
        "destroy-model default --destroy-storage --release-storage",
        2,
        "--destroy-storage and --release-storage cannot both be specified",
    ),
    ("model-config nope", 1, 'key "nope" not found in "default" model.'),
    ("model-config name=other", 1, "name cannot be changed for a model, it is read-only"),
    ("model-config mode=a --reset mode", 2, 'cannot set and reset key "mode" simultaneously'),
    ("model-config update-status-hook-interval=soon", 1, '.*invalid duration "soon"'),
    ("model-config --reset agent-version", 1, '"agent-version" cannot be reset'),
    ("add-machine 3", 1, "machine-id cannot be specified when adding machines"),
    ("add-machine lxd:9", 1, "machine 9 not found"),
    ("add-machine kvm:0", 1, "kvm containers are not supported"),
    ("add-machine ssh:", 2, 'invalid --to parameter "ssh:"'),
    ("add-machine ssh:root@127.0.0.1:1", 1, "cannot reach .*127.0.0.1:1: Connection refused"),
    ("add-machine --base soon", 1, 'base string must contain exactly one @. "soon" not valid'),
    ("add-machine zone=a -n 2", 2, "cannot use -n when specifying a placement directive"),
    ("add-machine --constraints colour=red", 1, 'unknown constraint "colour"'),
    (
        "add-machine --constraints container=lxd",
        2,
        'container constraint "lxd" not allowed when adding a machine',
    ),
    ("remove-machine", 2, "no machines specified"),
    ("remove-machine x", 2, 'invalid machine id "x"'),
    ("remove-machine 44", 1, "removing machine failed: machine 44 not found"),
    ("remove-machine 0 --no-wait", 2, "--no-wait without --force not valid"),
    ("remove-machine 0", 1, "machine removal: aborted"),
    ("remove-machine 0 --no-prompt", 1, 'removing machine failed: machine 0 has unit "web/0" assigned'),
    ("machines x", 2, 'unrecognized args: ["x"]'),
    ("deploy", 2, "no charm or bundle specified"),
    ("deploy ./nope", 1, 'no charm was found at "./nope"'),
    ("deploy /etc", 1, 'charm or bundle at "/etc" not found'),
    ("deploy CHARM web", 1, 'cannot add application "web": application already exists'),
    ("deploy CHARM Other_1", 2, 'invalid application name "Other_1"'),
    ("deploy CHARM other more", 2, 'unrecognized args: ["more"]'),
    ("deploy CHARM other --to 44", 1, "machine 44 not found"),
    ("deploy CHARM other --to kvm:0", 1, "kvm containers are not supported"),
    ("deploy CHARM other --to :", 2, 'invalid --to parameter ":"'),
    ("deploy CHARM other --config port=high", 1, 'option "port" expected int, got "high"'),
    ("deploy CHARM other --config colour=red", 1, 'unknown option "colour"'),
    ("deploy CHARM other --config ./nope.yaml", 1, "open ./nope.yaml: no such file or directory"),
    ("deploy CHARM other -n 0", 2, "--num-units must be a positive integer"),
    ("deploy CHARM other -n many", 2, 'invalid value "many" for option -n: .*'),
    ("deploy CHARM other --base ubuntu@18.04", 1, "hello-page is not available on the following base: .*"),
    (
        "deploy CHARM other --base ubuntu@24.04 --series noble",
        2,
        "--series and --base cannot be specified together",
    ),
    ("deploy CHARM other --constraints mem=much", 1, 'bad "mem" constraint: .*'),
    ("deploy CHARM other --constraints container=kvm", 1, "kvm containers are not supported"),
    ("deploy CHARM other -m nope", 1, "model local:admin/nope not found"),
    ("add-unit", 2, "no application specified"),
    ("add-unit nope", 1, 'application "nope" not found'),
    ("add-unit web -n 0", 2, "--num-units must be a positive integer"),
    ("add-unit web --to 44", 1, "machine 44 not found"),
    ("add-unit web/0", 2, 'invalid application name "web/0"'),
    ("remove-unit", 2, "no units specified"),
    ("remove-unit web", 2, 'invalid unit name "web"'),
    ("remove-unit web/7 --no-prompt", 1, 'removing unit web/7 failed: unit "web/7" does not exist'),
    ("remove-unit web/0 web/7 --no-prompt", 1, 'removing unit web/7 failed: unit "web/7" does not exist'),
    ("remove-unit web/0 --no-wait", 2, "--no-wait without --force not valid"),
    ("remove-unit web/0", 1, "unit removal: aborted"),
    ("remove-application", 2, "no application specified"),
    (
        "remove-application nope --no-prompt",
        1,
        'removing application nope failed: application "nope" not found',
    ),
    ("remove-application web/0", 2, 'invalid application name "web/0"'),
    ("remove-application web", 1, "application removal: aborted"),
    ("refresh", 2, "no application specified"),
    ("refresh nope --path CHARM", 1, 'application "nope" not found'),
    ("refresh web", 1, "refreshing a local charm requires either --path or --switch"),
    ("refresh web --path ./nope", 1, 'no charm was found at "./nope"'),
    ("refresh web --path CHARM --revision 3", 2, "--path and --revision are mutually exclusive"),
    ("refresh web --path", 2, "option needs an argument: --path"),
    ("config", 2, "no application name specified"),
    ("config nope", 1, 'application "nope" not found'),
    ("config --format json nope", 1, 'application "nope" not found'),
    ("config web colour", 1, 'key "colour" not found in "web" application config or charm settings.'),
    ("config web colour=red", 1, 'parsing settings for application: unknown option "colour"'),
    (
        "config web port=high greeting=Hi",
        1,
        'parsing settings for application: option "port" expected int, got "high"',
    ),
    ("config web port=1 --reset port", 2, 'cannot set and reset key "port" simultaneously'),
    ("config web port greeting", 2, "cannot specify multiple keys to get"),
    ("config web --file ./nope", 1, "open ./nope: no such file or directory"),
    ("trust", 2, "no application name specified"),
    ("trust nope", 1, 'application "nope" not found'),
    ("resolved", 2, "no unit specified"),
    ("resolved web", 2, 'unit name "web" not valid'),
    ("resolved web/7", 1, 'unit "web/7" not found'),
    ("resolved web/0", 1, 'unit "web/0" is not in an error state'),
    ("resolved web/0 --all", 2, r"specifying unit names\(s\) with --all not supported"),
    ("status --format xml", 2, 'invalid value "xml" for option --format: unknown format "xml"'),
    ("status -m nope", 1, "model local:admin/nope not found"),
    ("status --format json -m nope", 1, "model local:admin/nope not found"),
    ("status --format yaml -m nope", 1, "model local:admin/nope not found"),
    ("status --color --no-color", 2, "cannot mix --no-color and --color"),
    ("show-unit", 2, "an unit name must be supplied"),
    ("show-unit web", 2, "unit name web not valid"),
    ("show-unit web/7 --format json", 1, 'unit "web/7" not found'),
    ("show-status-log", 2, "entity name is missing."),
    ("show-status-log web/0 --type mood", 2, 'unexpected status type "mood"'),
    (
        "show-status-log web/0 -n 3 --days 2",
        2,
        "backlog size, backlog date and backlog days back cannot be specified together",
    ),
    (
        "debug-log --level loud",
        2,
        'level value "loud" is not one of "TRACE", "DEBUG", "INFO", "WARNING", "ERROR"',
    ),
    ("debug-log --tail --no-tail", 2, "setting --tail and --no-tail not valid"),
    ("debug-log -n -3", 2, 'invalid value "-3" for option -n: .*'),
    ("ssh", 2, "no target name specified"),
    ("ssh 44 true", 1, "machine 44 not found"),
    ("ssh web/44 true", 1, 'unit "web/44" not found'),
    ("ssh nope/leader true", 1, 'could not determine leader for "nope"'),
    ("scp web/0:/etc/hostname", 2, "at least two arguments required"),
    ("scp web/44:/etc/hostname .", 1, 'unit "web/44" not found'),
    ("version x", 2, 'unrecognized args: ["x"]'),
    ("help nope", 1, "unknown command or topic for nope"),
    ("plugins x", 2, 'unrecognized args: ["x"]'),
    ("doctor nope", 1, "cloud nope not found"),
    ("update-status web", 2, 'invalid unit name "web"'),
    ("update-status web/7", 1, 'unit "web/7" not found'),
    ("controller", 2, "no subcommand specified: controller run|processes|drain|move|key|join|renew-key"),
    ("controller walk", 2, 'unknown subcommand "walk" of controller: .*'),
    ("controller run -c nope", 1, "controller nope not found"),
    ("status --nope", 2, "option provided but not defined: --nope"),
    ("--nope", 2, "option provided but not defined: --nope"),
    ("statsu", 1, 'pushjuju: "statsu" is not a pushjuju command. .*'),
    ("status -v -q", 2, '"verbose" and "quiet" flags clash, .*'),
]


@pytest.fixture(scope="module")
def web(shared_client: Client) -> Client:
    """A model with one unit of hello-page, `web/0`."""
    shared_client.run("deploy", HELLO, "web", "--quiet")
    return shared_client


@pytest.fixture
def unchanged(web: Client) -> Iterator[None]:
    """Check that a test leaves the store, the settings and the archives as they were."""
    before = _everything(web.data)
    yield
    assert _everything(web.data) == before


def _everything(data: Path) -> dict[str, object]:
    """Return the settings, the rows of every store and the archives."""
    files = [*data.glob("*.toml"), *data.glob("controllers/*/controller.toml")]
    found: dict[str, object] = {str(path): path.read_text() for path in files}
    found["blobs"] = sorted(path.name for path in data.glob("controllers/*/blobs/*/*"))
    return found | {str(path): _dump(path) for path in data.glob("controllers/*/state.db")}


def _dump(path: Path) -> dict[str, list[str]]:
    """Return the rows of a store, without the results of commands in the audit log."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: sorted(map(repr, store.execute(f"SELECT * FROM {name}"))) for name in names}
    found["audit"] = [row for row in found["audit"] if '"answers":' not in row]
    return found


@pytest.mark.parametrize(
    ("command", "rc", "text"), REFUSED, ids=[row[0].replace("/", "_") for row in REFUSED]
)
@pytest.mark.usefixtures("unchanged")
def test_refused(web: Client, command: str, rc: int, text: str) -> None:
    """Exit code, error line, no data on stdout, and nothing changed."""
    done = web.call(*shlex.split(command.replace("CHARM", str(HELLO))))
    pattern = text if re.search(r"\.\*|\\", text) else re.escape(text)
    assert done.rc == rc, str(done)
    assert re.fullmatch(f"ERROR {pattern}", (done.error.splitlines() or [""])[0]), str(done)
    asked = command.startswith("remove-") and text.endswith("aborted")
    wanted = "{}\n" if rc == 1 and re.search("--format (json|yaml)", command) else ""
    assert done.stdout.startswith("will remove") if asked else done.stdout == wanted, str(done)


def test_controllers_and_models(client: Client) -> None:
    """They are made, chosen, shown and destroyed; nothing of it needs a machine."""
    done = client.try_run("bootstrap", "manual", "lab", "--add-model", "shop", "--model-default", "mode=")
    assert (done.rc, done.stdout) == (0, ""), str(done)
    assert done.stderr.splitlines()[0] == 'Creating Juju controller "lab" on manual/default'
    assert done.stderr.splitlines()[-2:] == [
        'Bootstrap complete, controller "lab" is now available',
        'Initial model "shop" added',
    ]
    assert client.run("switch") == "lab:admin/shop\n"
    client.run("bootstrap", "local", "--no-switch")
    found = client.json("controllers")
    assert (sorted(found["controllers"]), found["current-controller"]) == (["lab", "local"], "lab")
    assert re.search(r"^lab\*  ", client.run("controllers"), re.MULTILINE)
    done = client.try_run("add-model", "second", "--no-switch", "--config", "update-status-hook-interval=10m")
    assert done.stderr == "Added 'second' model on manual/default for user 'admin'\n"
    assert client.try_run("switch", "second").stderr == "lab:admin/shop -> lab:admin/second\n"
    settings = client.json("model-config")
    assert settings["update-status-hook-interval"] == {"Value": "10m", "Source": "model"}
    assert settings["mode"]["Value"] == ""
    client.run("model-config", "--reset", "update-status-hook-interval")
    assert client.run("model-config", "update-status-hook-interval") == "5m\n"
    done = client.try_run("model-config", "colour=red")
    assert done.rc == 0
    assert (
        'key "colour" is not defined in the current model configuration: possible misspelling' in done.stderr
    )
    assert client.models() == ["second", "shop"]
    assert client.json("show-model", "shop")["shop"]["controller-name"] == "lab"
    assert client.run("status", "-m", "shop").startswith("Model  Controller  Cloud/Region")
    done = client.try_run("destroy-model", "second", stdin="second\n")
    assert done.rc == 0, str(done)
    assert client.fail("status").error.startswith("ERROR No model in focus.")
    assert client.run("whoami", "--format", "json") == '{"controller":"lab","user":"admin"}\n'


def test_machines(client: Client) -> None:
    """Machines are added, listed and removed, with and without a unit on them."""
    done = client.try_run("add-machine", "-n", "2", "--constraints", "cores=1 mem=512M")
    assert done.rc == 0, str(done)
    assert [line for line in done.stderr.splitlines() if line.startswith("created")] == [
        "created machine 0",
        "created machine 1",
    ]
    machines = client.json("machines")["machines"]
    assert {m["juju-status"]["current"] for m in machines.values()} == {"started"}
    assert "cores=1" in machines["0"]["hardware"]
    assert list(client.json("show-machine", "1")["machines"]) == ["1"]
    assert client.run("machines").splitlines()[0].startswith("Machine  State    Address")
    client.run("deploy", HELLO, "web", "--to", "1", "--config", "port=8090")
    assert client.units("web")["web/0"]["machine"] == "1"
    assert client.run("remove-machine", "0", "1", "--dry-run") == (
        "will remove machine 0\nwill remove machine 1\n- will remove unit web/0\n"
    )
    assert client.run("remove-machine", "0", stdin="y\n") == "will remove machine 0\n"
    assert (
        client.run("remove-machine", "1", "--force", "--no-prompt").splitlines()[0] == "will remove machine 1"
    )
    client.until(lambda: client.status()["machines"] == {})


def test_deploy_takes_its_flags(web: Client, tmp_path: Path) -> None:
    """Settings from pairs and files, trust, base and placement; a dry run changes nothing."""
    (tmp_path / "settings.yaml").write_text("other:\n  greeting: Hej\n  port: 8101\n")
    words = [
        "deploy",
        HELLO,
        "other",
        "--to",
        "0",
        "--base",
        "ubuntu@24.04",
        "--trust",
        "--constraints",
        "mem=1G",
    ]
    settings = ["--config", tmp_path / "settings.yaml", "--config", "port=8102", "--config", "refresh=0"]
    done = web.try_run(*words, *settings, "--dry-run")
    assert (done.rc, done.stdout) == (0, "")
    assert "would be deployed" in done.stderr
    assert list(web.status()["applications"]) == ["web"]
    done = web.try_run(*words, *settings)
    assert done.rc == 0, str(done)
    assert 'Located local charm "hello-page", revision 1' in done.stderr
    try:
        config = web.json("config", "other")
        values = {
            key: (item["value"], item["source"])
            for key, item in config["settings"].items()
            if "value" in item
        }
        assert values == {
            "greeting": ("Hej", "user"),
            "port": (8102, "user"),
            "refresh": (0.0, "user"),
            "banner": (True, "default"),
        }
        assert config["application-config"]["trust"]["value"] is True
        assert web.run("constraints", "other") == "mem=1024M\n"
        assert web.units("other")["other/0"]["open-ports"] == ["8102/tcp"]
        page = web.run("ssh", "0", "curl -s http://127.0.0.1:8102/")
        assert "Hej, I am other/0" in page
    finally:
        web.run("remove-application", "other", "--no-prompt")
    assert list(web.status()["machines"]) == ["0"]
    assert "other" not in web.on("0", "ls /var/lib/juju/agents /var/lib/juju/tools")


def test_config_is_shown_set_and_reset(web: Client, tmp_path: Path) -> None:
    """In each form, from pairs, files and stdin."""
    assert web.run("config", "web", "port") == "8080\n"
    assert web.run("config", "web", "token") == "\n"
    (tmp_path / "motto").write_text("Hyvää päivää")
    web.run("config", "web", f"greeting=@{tmp_path / 'motto'}", "port=8081", "banner=false")
    assert web.run("config", "web", "greeting") == "Hyvää päivää\n"
    assert "Hyvää päivää, I am web/0" in web.run("ssh", "web/0", "curl -s http://127.0.0.1:8081/")
    assert web.units("web")["web/0"]["open-ports"] == ["8081/tcp"]
    dump = web.run("config", "web", "--format", "yaml")
    web.run("config", "web", "--reset", "greeting,port", "--reset", "banner")
    assert {item["source"] for item in web.json("config", "web")["settings"].values()} == {"default", "unset"}
    web.run("config", "web", "--file", "-", stdin=dump)
    assert web.run("config", "web", "port") == "8081\n"
    web.run("config", "web", "port=0")
    assert web.agents("web") == {"web/0": ("blocked", "idle")}
    web.run("config", "web", "--reset", "greeting,port,banner")
    assert web.agents("web") == {"web/0": ("active", "idle")}
    web.run("trust", "web")
    assert web.json("config", "web")["application-config"]["trust"]["value"] is True
    web.run("trust", "web", "--remove")
    assert web.json("config", "web")["application-config"]["trust"]["value"] is False


def test_the_demos_charm_takes_many_changes_in_a_row(web: Client) -> None:
    """A new port restarts its service: systemd's limit of five in ten seconds does not hold."""
    web.on("0", "for n in 1 2 3 4 5 6 7 8; do systemctl restart page-web-0 || exit 1; done")
    web.run("config", "web", "port=8123")
    assert web.agents("web")["web/0"] == ("active", "idle")
    folder = "/etc/systemd/system/page-web-0.service.d"
    web.on("0", f"mkdir {folder}; printf '[Service]\\nExecStartPre=/bin/false\\n' > {folder}/no.conf")
    try:
        done = web.try_run("config", "web", "port=8124")
        assert done.rc == 1, str(done)
        assert any("cannot restart page-web-0: exit-code" in line for line in web.log("unit-web-0"))
    finally:
        web.on("0", f"rm -r {folder}; systemctl daemon-reload")
        web.run("resolved", "web/0")
        web.run("config", "web", "--reset", "port")
    assert web.agents("web")["web/0"] == ("active", "idle")


def test_looking_on(web: Client) -> None:
    """Status in all forms and with filters, histories, logs."""
    for form in ("tabular", "yaml", "json", "short", "oneline", "line", "summary"):
        assert "web" in web.run("status", "--format", form)
    assert json.loads(web.run("status", "--format=json", "web/0", "--utc"))["applications"]["web"]["units"]
    done = web.try_run("status", "nope")
    assert (done.rc, done.stderr) == (0, "Nothing matched specified filter.\n")
    shown = web.json("show-unit", "web/0")["web/0"]
    assert (shown["leader"], shown["machine"], shown["opened-ports"]) == (True, "0", ["8080/tcp"])
    history = web.json("show-status-log", "web/0", "-n", "500")
    assert {"allocating", "executing", "idle", "active"} <= {entry["status"] for entry in history}
    assert "started" in web.run("show-status-log", "0", "--type", "juju-machine")
    every = web.log()
    assert web.run("debug-log", "--limit", "3").splitlines() == every[-3:]
    assert web.run("debug-log", "-n", "2").splitlines() == every[-2:]
    assert web.run("debug-log").splitlines() == every[-10:]
    some = web.run("debug-log", "--replay", "--no-tail", "--include-module", "juju.worker.uniter.operation")
    assert some.splitlines() == [line for line in every if " juju.worker.uniter.operation " in line]
    assert web.run("debug-log", "--replay", "--no-tail", "--level", "ERROR", "--exclude", "unit-web-0") == ""
    assert re.match(
        r"unit-web-0: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO ",
        web.run("debug-log", "--limit", "1", "--ms", "--date"),
    )


def test_following_the_log(web: Client) -> None:
    """`--tail` shows what comes, until Ctrl-C."""
    process = web.start("debug-log", "--tail", "-n", "1")
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        web.run("update-status", "web/0")
        assert 'ran "update-status" hook' in process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr.strip()) == (130, "Following ended.")


def test_ssh_and_scp(web: Client, tmp_path: Path) -> None:
    """Streams, exit codes and options are OpenSSH's."""
    name = web.run("ssh", "0", "hostname").strip()
    assert web.run("ssh", "web/leader", "hostname").strip() == name
    assert web.run("ssh", "web/0", "-o", "SendEnv=NOTHING", "cat", stdin="over\n") == "over\n"
    assert web.run("ssh", "web/0", "id", "-un") == "ubuntu\n"
    assert web.run("ssh", "--pty=false", "root@web/0", "id", "-un") == "root\n"
    done = web.try_run("ssh", "web/0", "echo out; echo err >&2; exit 37")
    assert (done.rc, done.stdout, done.stderr) == (37, "out\n", "err\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("content\n")
    web.run("scp", "--", "-r", folder, "web/0:/tmp/")
    assert web.run("ssh", "web/0", "cat /tmp/folder/file") == "content\n"
    web.run("scp", "0:/tmp/folder/file", tmp_path / "back")
    assert (tmp_path / "back").read_text() == "content\n"
    assert web.try_run("scp", "0:/tmp/nothing", tmp_path).rc == 1


def test_ssh_starts_a_machine_that_is_stopped(web: Client) -> None:
    web.try_run("ssh", "root@web/0", "systemctl", "poweroff", "--no-block")
    until = time.monotonic() + 60  # it answers for a moment yet
    while (
        "machine 0 is stopped; starting it" not in (done := web.try_run("ssh", "web/0", "echo back")).stderr
    ):
        assert time.monotonic() < until, str(done)
    assert (done.rc, done.stdout) == (0, "back\n"), str(done)
    web.run("config", "web", "greeting=again")


def test_the_program_tells_of_itself(web: Client) -> None:
    """version, help, plugins, doctor."""
    assert re.fullmatch(r"3\.6\.\d+-\w+-\w+\n", web.run("version"))
    assert web.json("version", "--all")["pushjuju-version"]
    assert web.run("--version") == web.run("version")
    assert web.run("help", "deploy") == web.run("deploy", "--help")
    assert "Usage: pushjuju deploy" in web.run("deploy", "-h")
    assert {"local", "manual"} <= {plugin["name"] for plugin in web.json("plugins")}
    assert all(entry["level"] != "error" for entry in web.json("doctor"))


def test_update_status_runs_the_hook(web: Client) -> None:
    """On named units or on all; it works what else is due."""
    before = web.hooks()["web/0"].count("update-status")
    web.run("update-status", "web/0")
    web.run("update-status")
    assert web.hooks()["web/0"].count("update-status") == before + 2


def test_a_controller_process(web: Client) -> None:
    """`controller run` takes the work of commands that do not wait, and ends when told to."""
    process = web.start("controller", "run")
    try:
        web.until_it_serves(process)
        web.run("config", "web", "greeting=Salut", "--no-wait")
        web.until(lambda: "Salut" in web.run("ssh", "web/0", "curl -s http://127.0.0.1:8080/"))
        web.until(lambda: web.agents("web") == {"web/0": ("active", "idle")})
        assert web.processes() == [process.pid]
    finally:
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "config-changed: done" in stderr
