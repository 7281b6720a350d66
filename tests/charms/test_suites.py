"""What the shell scripts of Juju's own test suites call and read, suite by suite, on real machines.

The tests have the names of the suites. Each does what its scripts do with machine models and reads the same
paths of the documents (theirs by jq, ours in Python) or the same line of the text. One model and one machine
serve all that fit; charms of ours take the place of those from the store. The suites that need no machine are
in `tests/unit/cli/test_suites.py`.
"""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charms import prober
from tests.charms.client import PUSHJUJU, Client

pytestmark = pytest.mark.machine
_STORAGE = {
    "data": {"type": "filesystem", "multiple": {"range": "0-"}, "minimum-size": "4M"},
    "disks": {"type": "block", "multiple": {"range": "0-"}, "minimum-size": "4M"},
}
_BLOB = {"foo-file": {"type": "file", "filename": "foo.txt"}}


class Juju:
    """`juju` as the scripts use it: words in, text or a document out."""

    def __init__(self, client: Client, tree: Path) -> None:
        self.client = client
        self.tree = tree

    def __call__(self, line: str, *more: str | Path) -> str:
        """Run a command that must succeed; return its stdout."""
        return self.client.run(*line.split(), *more)

    def both(self, line: str, *more: str | Path) -> list[str]:
        """Return the lines of `2>&1`, in the order in which they came."""
        done = subprocess.run(
            [PUSHJUJU, *line.split(), *more], cwd=self.client.work, env=self.client.environ,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    def json(self, line: str) -> Any:
        """Return the document of a command with `--format json`."""
        return json.loads(self(f"{line} --format=json"))

    def yaml(self, line: str) -> Any:
        """Return the document of a command whose YAML the scripts give to yq."""
        return yaml.safe_load(self(line))

    def tool(self, unit: str, command: str) -> str:
        """Run a hook tool in the context of a unit; return what it prints."""
        return self("exec --unit", unit, "--", command).strip()

    def refused(self, unit: str, command: str) -> str:
        """Run a hook tool that must fail; return all that is said."""
        done = self.client.try_run("exec", "--unit", unit, "--", command)
        assert done.rc != 0, str(done)
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def juju(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Juju:
    """A controller, a model, and two units of `sink` related to one of `source`, all on one machine."""
    folder = tmp_path_factory.mktemp("charms")
    (folder / "foo.txt").write_text("did the resource attach?")
    tree = prober.charm(folder, "dummy", storage=_STORAGE, resources=_BLOB)
    juju = Juju(shared_client, tree)
    juju("bootstrap local home --add-model suites --model-default mode= --config features=[a]")
    juju("model-config", "logging-config=<root>=DEBUG")
    juju("--show-log add-machine")
    juju("--debug deploy", tree, "sink", "-n", "2", "--to", "0,0")
    juju("deploy", tree, "source", "--to", "0", "--resource", f"foo-file={folder / 'foo.txt'}")
    juju("relate sink:down source:up")
    return juju


def test_includes(juju: Juju) -> None:
    """The helpers that all suites share."""
    status = juju.json("status")
    assert list(status["machines"]) == ["0"]
    for rev, application, units in ((0, "sink", ["sink/0", "sink/1"]), (1, "source", ["source/0"])):
        found = status["applications"][application]
        assert found["application-status"]["current"] == "active"
        assert (found["charm-rev"], found.get("charm-channel")) == (rev, None)
        assert sorted(found["units"]) == units
        for unit in found["units"].values():
            assert unit["juju-status"]["current"] == "idle"
            assert unit["workload-status"]["current"] == "active"
            assert "subordinates" not in unit
    assert min(status["applications"]) == "sink"
    assert [line for line in juju("status --relations").splitlines() if "sink:down" in line]

    shown = juju.json("show-machine")["machines"]["0"]
    assert shown["juju-status"]["current"] == "started"
    assert len(shown["network-interfaces"]) >= 1
    listed = juju.json("machines -m suites")["machines"]["0"]
    assert listed["juju-status"]["current"] == "started"
    assert "arch=" in listed["hardware"]
    assert [line for line in juju("machines").splitlines() if line.startswith("0  ")]

    models = juju.json("models -c home")
    assert [model["short-name"] for model in models["models"]] == ["controller", "suites"]
    assert models["current-model"] == "suites"
    controllers = juju.json("controllers")
    assert (list(controllers["controllers"]), controllers["current-controller"]) == (["home"], "home")
    details = juju.json("show-controller")["home"]["details"]
    assert details["agent-version"].startswith("3.6.")
    assert isinstance(details["api-endpoints"], list)
    log = juju("debug-log -m home:suites --replay --no-tail")
    assert "unit-source-0" in log


def test_model(juju: Juju) -> None:
    """status.sh, multi.sh, config.sh, destroy.sh."""
    for words, units, machines in (
        ("", ["sink/0", "sink/1", "source/0"], ["0"]), ("sink", ["sink/0", "sink/1"], ["0"]),
        ("sink/1", ["sink/1"], ["0"]), ("0", ["sink/0", "sink/1", "source/0"], ["0"]),
    ):  # fmt: skip
        found = juju.yaml(f"status --format yaml {words}")
        assert sorted(_units(found)) == units, words
        assert list(found["machines"]) == machines
    leader = _leader(juju, "sink")
    assert list(_units(juju.yaml("status --format yaml sink/leader"))) == [leader]

    juju("add-model --show-log -c home model-new")
    assert juju.json("models")["current-model"] == "model-new"
    (new,) = [model for model in juju.json("models")["models"] if model["short-name"] == "model-new"]
    assert new["is-controller"] is False
    lines = juju.both("status")
    assert (lines[2], lines[3]) == ("", 'Model "admin/model-new" is empty.')
    juju("model-config", "update-status-hook-interval=4m")
    assert juju("model-config update-status-hook-interval").strip() == "4m"
    juju("model-config --reset update-status-hook-interval")
    assert juju.json("model-config")["update-status-hook-interval"]["Value"] == "5m"
    juju("switch suites")
    juju("destroy-model --no-prompt --destroy-storage --force --timeout 10m model-new")
    left = [model["short-name"] for model in juju.json("models")["models"]]
    assert left == ["controller", "suites"]


def test_relations(juju: Juju) -> None:
    """relation_data_exchange.sh, relation_departing_unit.sh, relation_list_app.sh, relation_model_get.sh."""
    leader, other = _leader(juju, "sink"), _other(juju, "sink")
    sink, source = (
        juju.tool("sink/leader", "relation-ids down"),
        juju.tool("source/leader", "relation-ids up"),
    )
    assert re.fullmatch(r"down:\d+", sink)
    assert re.fullmatch(r"up:\d+", source)
    juju.tool("source/0", f"relation-set --app -r {source} origin=dummy-source")
    juju.tool("sink/leader", f"relation-set --app -r {sink} origin=dummy-sink")
    assert juju.tool("sink/leader", f"relation-get --app -r {sink} origin sink") == "dummy-sink"
    assert juju.tool("source/0", f"relation-get --app -r {source} origin source") == "dummy-source"
    assert juju.tool(other, f"relation-get --app -r {sink} origin source/0") == "dummy-source"
    assert "permission denied" in juju.refused(other, f"relation-get --app -r {sink} origin sink")
    assert juju.tool("source/0", f"relation-list -r {source}").split() == ["sink/0", "sink/1"]
    assert juju.tool("source/0", f"relation-list --app -r {source.partition(':')[2]}") == "sink"
    assert _uuid(juju) in juju.tool("source/0", f"relation-model-get -r {source}")

    juju("add-unit sink --to 0")
    juju("remove-unit --no-prompt sink/2")
    assert "sink/2" not in juju.json("status")["applications"]["sink"]["units"]
    log = juju("debug-log --replay --no-tail --include unit-source-0")
    assert 'ran "up-relation-departed" hook' in log
    assert leader == _leader(juju, "sink")


def test_appdata(juju: Juju) -> None:
    """appdata.sh: what a charm wrote to a file, read by ssh, follows the settings of the other one."""
    write = "relation-get -r down:$(relation-ids down | cut -d: -f2) --app token source > /tmp/token"
    juju("config sink", f"update-status={write}")
    for token in ("test-value", "value2"):
        juju.tool("source/leader", f"relation-set --app -r $(relation-ids up) token={token}")
        juju("update-status sink/0 sink/1")
        assert juju("ssh sink/0 cat /tmp/token").strip() == token
    juju("config sink --reset update-status")


def test_hooktools(juju: Juju) -> None:
    """state_tools.sh, and the tools that other scripts call."""
    unit = "source/0"
    assert juju.tool(unit, "state-get") == "{}"
    juju.tool(unit, "state-set one=two")
    assert "one: two" in juju.tool(unit, "state-get")
    juju("exec --unit", unit, "JUJU_DISPATCH_PATH=hooks/update-status ./dispatch")
    juju.tool(unit, "state-set three=four")
    assert juju.tool(unit, "state-get three") == "four"
    juju.tool(unit, "state-delete one")
    assert juju.tool(unit, "state-get") == "three: four"
    assert 'ERROR "one" not found' in juju.refused(unit, "state-get one --strict")
    assert juju.tool(unit, "state-get one") == ""
    assert juju.tool(unit, "is-leader") == "True"
    address = juju.json("status")["machines"]["0"]["dns-name"]
    assert juju.tool(unit, "unit-get private-address") == address
    assert juju.tool(unit, "network-get up --ingress-address") == address
    assert json.loads(juju.tool(unit, "network-get up --format json"))["ingress-addresses"] == [address]


def test_hooks(juju: Juju) -> None:
    """dispatch.sh and reboot.sh: what is read in the log."""
    log = juju("debug-log --replay --no-tail --include unit-source-0").splitlines()
    ran = [line.partition(' ran "')[2].partition('"')[0] for line in log if ' ran "' in line]
    first = ran[:5]
    assert first == ["install", "ring-relation-created", "leader-elected", "config-changed", "start"]
    assert [line for line in log if "via hook dispatching script: dispatch" in line]
    only = juju("debug-log --include-module juju.worker.uniter --replay --no-tail")
    assert only
    assert "reboot detected" not in only
    task = juju.json("run source/0 do")["source/0"]
    assert juju.json(f"show-task {task['id']}")["status"] == "completed"


def test_firewall(juju: Juju) -> None:
    """expose_app.sh, ssh_allow.sh, bundle_with_exposed_endpoints.sh; network: public addresses."""
    unit = "source/0"
    juju("exec --unit", unit, "open-port 1337-1339/tcp")
    juju("exec --unit", unit, "open-port 1234/tcp --endpoints up")
    assert juju.tool(unit, "opened-ports").split() == ["1234/tcp", "1337-1339/tcp"]
    assert juju.tool(unit, "opened-ports --endpoints").splitlines() == ["1234/tcp (up)", "1337-1339/tcp (*)"]
    juju("expose source --to-cidrs 10.0.0.0/24,192.168.0.0/24")
    juju("expose source --endpoints up")
    juju("expose source --endpoints up --to-cidrs 10.42.0.0/16,2002:0:0:1234::/64")
    assert juju("export-bundle").partition("--- # overlay.yaml\n")[2] == (
        "applications:\n  source:\n    exposed-endpoints:\n"
        '      "":\n        expose-to-cidrs:\n        - 10.0.0.0/24\n        - 192.168.0.0/24\n'
        "      up:\n        expose-to-cidrs:\n        - 10.42.0.0/16\n        - 2002:0:0:1234::/64\n"
    )
    address = juju.json("status")["machines"]["0"]["dns-name"]
    assert juju.json(f"show-unit {unit}")[unit]["public-address"] == address
    assert juju.json("status")["applications"]["source"]["exposed"] is True
    juju("unexpose source")
    juju("exec --unit", unit, "close-port 1337-1339/tcp; close-port 1234/tcp --endpoints up")
    allowed = juju("model-config ssh-allow")
    juju("model-config", "ssh-allow=0.0.0.0/0,192.168.0.0/24")
    assert juju("model-config ssh-allow").strip() == "0.0.0.0/0,192.168.0.0/24"
    juju("model-config --reset ssh-allow")
    assert juju("model-config ssh-allow") == allowed


def test_secrets_iaas(juju: Juju) -> None:
    """juju.sh: a charm's secrets, granted over a relation."""
    mine = juju.tool("source/0", "secret-add --owner unit owned-by=source/0")
    apps = juju.tool("source/0", "secret-add owned-by=source-app")
    ids = {uri: uri.rpartition("/")[2].removeprefix("secret:") for uri in (mine, apps)}
    juju.tool("source/0", f"secret-set {ids[apps]} owned-by=source-app")
    assert set(ids.values()) <= set(re.split(r"\W+", juju.tool("source/0", "secret-ids")))
    juju.tool("source/0", f"secret-set {mine} --label=unit_0")
    juju.tool("source/0", f"secret-get {apps} --label=source-app")
    assert "owned-by: source/0" in juju.tool("source/0", f"secret-get {mine}")
    info = {uri: json.loads(juju.tool("source/0", f"secret-info-get {uri} --format json"))[key]
            for uri, key in ids.items()}  # fmt: skip
    assert (info[mine]["owner"], info[mine]["label"]) == ("unit", "unit_0")
    assert (info[apps]["owner"], info[apps]["revision"]) == ("application", 1)
    assert "owned-by: source/0" in juju.tool("source/0", "secret-get --label=unit_0")
    assert "owned-by: source-app" in juju.tool("source/0", "secret-get --label=source-app")

    relations = juju.json("show-unit source/0")["source/0"]["relation-info"]
    number = next(item["relation-id"] for item in relations if item["endpoint"] == "up")
    for uri in ids:
        juju.tool("source/0", f"secret-grant {uri} -r {number}")
    assert "owned-by: source/0" in juju.tool("sink/0", f"secret-get {mine} --label=theirs_0")
    assert "owned-by: source/0" in juju.tool("sink/0", "secret-get --label=theirs_0")
    assert "owned-by: source-app" in juju.tool("sink/0", f"secret-get {apps} --label=theirs")
    juju.tool("source/0", f"secret-set {ids[apps]} foo=bar")
    assert "foo: bar" in juju.tool("source/0", f"secret-get --refresh {apps}")
    juju.tool("source/0", f"secret-revoke {apps} --relation {number}")
    assert "permission denied" in juju.refused("sink/0", f"secret-get {apps}")
    juju.tool("source/0", f"secret-revoke {mine} --app sink")
    assert "permission denied" in juju.refused("sink/0", f"secret-get {mine}")
    for uri in ids:
        juju.tool("source/0", f"secret-remove {uri}")
        assert "not found" in juju.refused("source/0", f"secret-get {uri}")


def test_secrets_iaas_of_users(juju: Juju) -> None:
    """juju.sh: an admin's secret, its revisions, and who may read which."""
    uri = juju("--show-log add-secret mysecret owned-by=box-1 --info", "this is a user secret").strip()
    key = uri.rpartition(":")[2]

    def shown(words: str) -> Any:
        return juju.yaml(f"--show-log show-secret {words}")[key]

    assert shown("mysecret --revisions")["description"] == "this is a user secret"
    juju(f"--show-log update-secret {uri} owned-by=box-1")
    assert shown(uri)["revision"] == 1
    juju(f"--show-log update-secret {uri} --info info owned-by=box-2")
    assert "permission denied" in juju.refused("sink/0", f"secret-get {uri}")
    juju("--show-log grant-secret mysecret sink")
    assert "owned-by: box-2" in juju.tool("sink/0", f"secret-get {key}")
    juju(f"--show-log update-secret {uri} owned-by=box-3")
    found = shown(f"{uri} --revisions")
    assert (found["revision"], found["owner"], found["description"]) == (3, "<model>", "info")
    assert len(found["revisions"]) == 3
    for number in (1, 2, 3):
        assert shown(f"{uri} --reveal --revision {number}")["content"] == {"owned-by": f"box-{number}"}
    juju("--show-log update-secret mysecret --auto-prune=true")
    assert len(shown(f"{uri} --revisions")["revisions"]) == 2
    assert "owned-by: box-3" in juju.tool("sink/0", f"secret-get {key} --peek")
    assert "owned-by: box-3" in juju.tool("sink/0", f"secret-get {key} --refresh")
    assert len(shown(f"{uri} --revisions")["revisions"]) == 1
    juju("--show-log revoke-secret mysecret sink")
    assert "permission denied" in juju.refused("sink/0", f"secret-get {uri}")
    juju("--show-log remove-secret mysecret")
    assert len(juju.yaml("--show-log secrets --format yaml") or {}) == 0
    assert juju.json("show-model suites")["suites"]["model-uuid"] == _uuid(juju)


def test_storage(juju: Juju) -> None:
    """charm_storage.sh, persistent_storage.sh, model_storage_filesystem.sh."""
    for name, kind in (("loopy", "loop"), ("rooty", "rootfs"), ("tempy", "tmpfs")):
        juju(f"create-storage-pool -m suites {name} {kind} size=1G")
        assert juju.json("list-storage-pools -m suites")[name]["provider"] == kind
    pools = juju.json("storage-pools")
    assert [pools[name]["provider"] for name in ("loop", "rootfs", "tmpfs")] == ["loop", "rootfs", "tmpfs"]
    juju(
        "deploy",
        juju.tree,
        "store",
        "--to",
        "0",
        "--storage",
        "data=rootfs,10M",
        "--storage",
        "disks=loop,8M",
    )
    juju("add-storage -m suites store/0 data=tmpfs,8M")
    juju("add-storage -m suites store/0 data=local,16M")
    found = juju.json("storage")
    assert sorted(found["storage"]) == ["data/0", "data/2", "data/3", "disks/1"]
    for name, kind in (("data/0", "filesystem"), ("disks/1", "block"), ("data/2", "filesystem")):
        item = found["storage"][name]
        assert (item["kind"], item["life"], item["status"]["current"]) == (kind, "alive", "attached")
        assert list(item["attachments"]["units"]) == ["store/0"]
        assert item["attachments"]["units"]["store/0"]["life"] == "alive"
    by_pool = {item["pool"]: item for item in found["filesystems"].values()}
    assert by_pool["rootfs"]["size"] >= 10
    assert by_pool["rootfs"]["status"]["current"] == "attached"
    (volume,) = found["volumes"].values()
    assert (volume["storage"], volume["pool"], volume["status"]["current"]) == ("disks/1", "loop", "attached")
    assert [found["storage"][name]["persistent"] for name in ("data/0", "data/3")] == [False, True]
    lines = juju.both("remove-application store")
    assert lines[:2] == ["will remove application store", "- will remove unit store/0"]
    every = ["data/0", "data/2", "data/3", "disks/1"]
    assert sorted(lines[2:6]) == [f"- will detach storage {name}" for name in every]
    found = juju.json("storage")
    assert list(found["storage"]) == every
    assert {item["status"]["current"] for item in found["filesystems"].values()} == {"detached"}
    juju("deploy", juju.tree, "store", "--to", "0", "--attach-storage", "data/3")
    found = juju.json("storage")
    assert list(found["storage"]["data/3"]["attachments"]["units"]) == ["store/1"]
    assert juju.both("remove-application --destroy-storage store")[2] == "- will remove storage data/3"
    juju("remove-storage data/0 data/2 disks/1")
    assert juju.json("status")["storage"] == {}


def test_resources(juju: Juju, tmp_path: Path) -> None:
    """basic.sh, attach.sh, refresh.sh."""
    assert juju.tool("source/0", "cat $(resource-get foo-file)") == "did the resource attach?"
    (tmp_path / "foo.txt").write_text("testing four.")
    juju(f"attach-resource source foo-file={tmp_path / 'foo.txt'}")
    (resource,) = juju.json("resources source")["resources"]
    assert resource["origin"] == "upload"
    assert juju.tool("source/0", "cat $(resource-get foo-file)") == "testing four."


def test_refresh(juju: Juju) -> None:
    """refresh.sh, switch.sh, with a local charm; smoke: nothing is lost."""
    juju.tool("source/0", "state-set three=four")
    lines = juju.both("refresh source --path", juju.tree)
    (told,) = [line for line in lines if "Added local charm" in line]
    revision = int(told.split(",")[1].split()[1])
    found = juju.json("status")["applications"]["source"]
    assert found["charm-rev"] == revision
    assert found["units"]["source/0"]["juju-status"]["current"] == "idle"
    assert juju.tool("source/0", "state-get three") == "four"


def test_deploy(juju: Juju) -> None:
    """deploy_charms.sh, deploy_bundles.sh, resolve.sh: an error is passed over; the model as a bundle."""
    juju("ssh 0 sudo", "sh -c 'mkdir -p /var/lib/probe && touch /var/lib/probe/source.config-changed.fails'")
    juju.client.try_run("config", "source", "word=broken")
    unit = juju.json("status")["applications"]["source"]["units"]["source/0"]
    assert unit["workload-status"]["current"] == "error"
    assert unit["workload-status"]["message"] == 'hook failed: "config-changed"'
    juju("resolve --no-retry source/0")
    unit = juju.json("status")["applications"]["source"]["units"]["source/0"]
    assert unit["juju-status"]["current"] == "idle"
    juju("ssh 0 sudo rm /var/lib/probe/source.config-changed.fails")
    juju("config source --reset word")
    bundle = yaml.safe_load(juju("export-bundle").partition("--- # overlay.yaml")[0])
    assert bundle["applications"]["sink"]["num_units"] == 2
    assert bundle["applications"]["sink"]["to"] == ["0", "0"]
    assert sorted(map(sorted, bundle["relations"])) == [["sink:down", "source:up"]]
    assert list(bundle["machines"]) in (["0"], [0])
    base = juju.json("status")["applications"]["sink"]["base"]
    assert (base["name"], base["channel"]) == ("ubuntu", "24.04")


def test_backup(juju: Juju, tmp_path: Path) -> None:
    """backup.sh: a copy is made of a controller whose model has a machine."""
    copy = tmp_path / "basic_backup.tar.gz"
    machines = juju.json("status")["machines"]
    assert machines["0"]["instance-id"]
    juju("create-backup --filename", copy)
    assert copy.stat().st_size > 0
    with tarfile.open(copy) as archive:
        assert archive.getnames()
    assert len(juju.json("status")["machines"]) == 1


def test_authorized_keys(juju: Juju, tmp_path: Path) -> None:
    """machine.sh and user.sh: a key is let in, told of, and kept out again."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "isgreat", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text().strip()
    juju("add-ssh-key", public)
    assert public in juju("ssh-keys --full")
    assert "isgreat" in juju("ssh-keys")
    assert juju("ssh 0 -i", key, "echo", "in").strip() == "in"
    juju("remove-ssh-key isgreat")
    assert "isgreat" not in juju.both("ssh-keys")


def test_constraints_machine_and_unit(juju: Juju) -> None:
    """constraints.sh, network, machine, unit: a second machine, for another base and with its own size."""
    juju("set-application-base source ubuntu@22.04")
    juju("set-constraints source", "cores=2 mem=1G")
    juju("add-unit source")
    machine = juju.json("status")["machines"]["1"]
    assert (machine["base"]["name"], machine["base"]["channel"]) == ("ubuntu", "22.04")
    hardware = juju.json("machines")["machines"]["1"]["hardware"]
    assert re.search(r"\barch=\S+ cores=2 mem=1024M\b", hardware)
    assert list(juju.json("machines")["machines"]) == ["0", "1"]
    assert juju.json("show-machine 1")["machines"]["1"]["ip-addresses"]
    assert juju("exec --machine 1 hostname").strip()
    text = juju("remove-machine --no-prompt --force 1")
    assert text.splitlines() == ["will remove machine 1", "- will remove unit source/1"]
    juju.client.until(lambda: list(juju.json("status")["machines"]) == ["0"])


def _units(status: Any) -> dict[str, Any]:
    return {
        name: unit for app in status["applications"].values() for name, unit in app.get("units", {}).items()
    }


def _leader(juju: Juju, application: str) -> str:
    return _pick(juju, application, lambda unit: bool(unit.get("leader")))


def _other(juju: Juju, application: str) -> str:
    return _pick(juju, application, lambda unit: not unit.get("leader"))


def _pick(juju: Juju, application: str, wanted: Callable[[Any], bool]) -> str:
    units = juju.json(f"status {application}")["applications"][application]["units"]
    return str(next(name for name, unit in units.items() if wanted(unit)))


def _uuid(juju: Juju) -> str:
    return str(juju.json("show-model")["suites"]["model-uuid"])
