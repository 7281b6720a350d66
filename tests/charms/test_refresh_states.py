"""`refresh` in every state that a unit can be in, on a real machine (lifecycle reference 9)."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charms import prober
from tests.charms.client import Client, Done
from tests.charms.prober import faults, runs

pytestmark = pytest.mark.machine
BOX = "/var/lib/juju/agents/unit-{}/charm"
both = pytest.mark.parametrize("force", [(), ("--force-units",)], ids=["unforced", "forced"])


@dataclass(kw_only=True)
class Probe:
    """A model with a machine, and what charms that do as they are told ran there.

    Attributes:
        looked: Unit -> the number of its runs that were looked at.
    """

    client: Client
    work: Path
    looked: dict[str, int] = field(default_factory=dict)
    made: int = 0

    def charm(self, **metadata: Any) -> Path:
        """Write a charm that differs from all before."""
        self.made += 1
        folder = self.work / f"charm{self.made}"
        folder.mkdir()
        tree = prober.charm(folder, **{"peers": None, "provides": None, "requires": None, **metadata})
        (tree / "number").write_text(f"{self.made}\n")
        return tree

    def deploy(self, name: str, *words: str, units: int = 1, **metadata: Any) -> None:
        """Deploy an application on the machine; all its hooks run well."""
        to = ("-n", str(units), "--to", ",".join("0" * units))
        self.client.run("deploy", self.charm(**metadata), name, *to, *words)
        self.news(f"{name}/0")

    def refresh(self, name: str, *words: str, tree: Path | None = None, **metadata: Any) -> Done:
        """Refresh an application to another charm and wait."""
        return self.client.try_run("refresh", name, "--path", tree or self.charm(**metadata), *words)

    def news(self, unit: str) -> list[tuple[str, int]]:
        """Return what a unit ran since the last look: the hook, and the revision that lay there."""
        every = runs(self.client, "0").get(unit, [])
        found = every[self.looked.get(unit, 0) :]
        self.looked[unit] = len(every)
        return [(run.name, int(run.charm.rpartition("-")[2])) for run in found]

    def on_disk(self, unit: str) -> int:
        """Return the revision that lies on the machine."""
        return int(self.client.on("0", f"cat {BOX.format(unit.replace('/', '-'))}/revision"))

    def faults(self, command: str) -> None:
        """Change what hooks do."""
        faults(self.client, "0", command)

    def begun(self, unit: str, hook: str) -> None:
        """Wait until a hook of a unit runs."""
        known = self.looked.get(unit, 0)
        self.client.until(lambda: hook in [run.name for run in runs(self.client, "0").get(unit, [])[known:]])

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Start a command."""
        return self.client.start(*words)


def well(process: subprocess.Popen[str]) -> None:
    """Wait for a command that must succeed."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err


@pytest.fixture(scope="module")
def controller(shared_client: Client) -> Client:
    """A controller."""
    shared_client.run("bootstrap", "local", "here", "--model-default", "mode=")
    return shared_client


@pytest.fixture
def probe(controller: Client, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Probe]:
    """A model of its own, with a machine; hooks that failed are never tried again by themselves."""
    name = f"town{abs(hash(request.node.name))}"
    controller.run("add-model", name, "--config", "automatically-retry-hooks=false")
    controller.run("add-machine")
    controller.on("0", "mkdir -p /var/lib/probe")
    yield Probe(client=controller, work=tmp_path)
    controller.run("destroy-model", name, "--no-prompt", "--force", "--no-wait")


# --- from a steady state ----------------------------------------------------------------------------------


@both
def test_idle(probe: Probe, force: tuple[str, ...]) -> None:
    probe.deploy("calm", units=2)
    probe.news("calm/1")
    done = probe.refresh("calm", *force, peers={"ring": {"interface": "ring"}})
    assert done.rc == 0, str(done)
    status = probe.client.status()["applications"]["calm"]["units"]
    for unit, shown in status.items():
        news = probe.news(unit)
        told = [] if shown.get("leader") else ["leader-settings-changed"]
        wanted = ["upgrade-charm", "config-changed", "ring-relation-created", *told]
        assert sorted(name for name, _ in news[: len(wanted)]) == sorted(wanted), "the new peer relation too"
        assert [name for name, _ in news[:2]] == wanted[:2]
        assert [name for name, _ in news[len(wanted) :]] == ["ring-relation-joined", "ring-relation-changed"]
        assert {revision for _, revision in news} == {probe.client.revision("calm")}
    assert "calm:ring" in probe.client.run("status", "--relations").partition("Integration provider")[2]


def test_same_charm_again(probe: Probe) -> None:
    """Each upload is a revision of its own, as in Juju."""
    tree = probe.charm()
    probe.client.run("deploy", tree, "calm", "--to", "0")
    probe.news("calm/0")
    before = probe.client.revision("calm")
    assert probe.refresh("calm", tree=tree).rc == 0
    assert probe.client.revision("calm") == before + 1
    assert [name for name, _ in probe.news("calm/0")] == ["upgrade-charm", "config-changed"]


# --- while something runs ---------------------------------------------------------------------------------


@both
def test_a_hook_runs(probe: Probe, force: tuple[str, ...]) -> None:
    """It ends with the charm that it began with."""
    probe.deploy("busy")
    old = probe.client.revision("busy")
    probe.faults("echo 2 > busy.config-changed.sleeps")
    config = probe.start("config", "busy", "word=new")
    probe.begun("busy/0", "config-changed")
    assert probe.refresh("busy", *force).rc == 0
    well(config)
    new = probe.client.revision("busy")
    assert probe.news("busy/0") == [("config-changed", old), ("upgrade-charm", new), ("config-changed", new)]


@both
def test_install_runs(probe: Probe, force: tuple[str, ...]) -> None:
    """The unit is installed with the old charm first."""
    probe.faults("echo 2 > young.install.sleeps")
    deploy = probe.start("deploy", probe.charm(), "young", "--to", "0")
    probe.begun("young/0", "install")
    assert probe.refresh("young", *force).rc == 0
    well(deploy)
    new, news = probe.client.revision("young"), probe.news("young/0")
    assert news[0] == ("install", new - 1)
    names = [name for name, _ in news]
    assert names.count("upgrade-charm") == names.count("start") == 1
    assert names[1] == "leader-elected"
    assert {revision for name, revision in news if name == "upgrade-charm"} == {new}
    assert probe.client.workload("young/0")[0] == "active"


def test_an_upgrade_runs(probe: Probe) -> None:
    """What comes while upgrade-charm runs is taken after it."""
    probe.deploy("busy")
    probe.faults("echo 2 > busy.upgrade-charm.sleeps")
    first = probe.start("refresh", "busy", "--path", probe.charm())
    probe.begun("busy/0", "upgrade-charm")
    assert probe.refresh("busy").rc == 0
    well(first)
    new = probe.client.revision("busy")
    assert [item for item in probe.news("busy/0") if item[0] == "upgrade-charm"] == [
        ("upgrade-charm", new - 1),
        ("upgrade-charm", new),
    ]


# --- in error ---------------------------------------------------------------------------------------------


def _named(done: Done, unit: str, hook: str) -> None:
    """Fail the test unless a command failed and named the unit and the hook."""
    assert done.rc == 1, str(done)
    assert done.error.startswith(f"ERROR unit {unit}: "), str(done)
    assert f'hook failed: "{hook}"' in done.error


@pytest.mark.parametrize("hook", ["install", "start"])
def test_a_hook_failed_before_the_unit_was_started(probe: Probe, hook: str) -> None:
    """Ignored until resolved; then the next hooks, then the new charm."""
    probe.faults(f"touch ill.{hook}.fails")
    probe.client.fail("deploy", probe.charm(), "ill", "--to", "0")
    probe.news("ill/0")
    old = probe.on_disk("ill/0")
    _named(probe.refresh("ill"), "ill/0", hook)
    assert (probe.on_disk("ill/0"), probe.news("ill/0")) == (old, [])
    assert probe.client.revision("ill") == old + 1, "the application is on it; the unit trails"
    probe.faults("rm ill.*")
    probe.client.run("resolved", "ill/0")
    news = probe.news("ill/0")
    assert news[0] == (hook, old)
    assert ("upgrade-charm", old + 1) in news
    assert news[-1][1] == old + 1
    assert probe.client.workload("ill/0")[0] == "active"


@pytest.mark.parametrize("hook", ["install", "start", "config-changed", "upgrade-charm"])
def test_a_hook_failed_and_the_charm_is_forced(probe: Probe, hook: str) -> None:
    """The new charm comes at once; the error stays until resolved; no upgrade-charm runs for it."""
    if hook in ("install", "start"):
        probe.faults(f"touch ill.{hook}.fails")
        probe.client.fail("deploy", probe.charm(), "ill", "--to", "0")
    else:
        probe.deploy("ill")
        probe.faults(f"touch ill.{hook}.fails")
        if hook == "config-changed":
            probe.client.fail("config", "ill", "word=new")
        else:
            _named(probe.refresh("ill"), "ill/0", hook)
    probe.news("ill/0")
    old = probe.on_disk("ill/0")
    _named(probe.refresh("ill", "--force-units"), "ill/0", hook)
    assert (probe.on_disk("ill/0"), probe.news("ill/0")) == (old + 1, [])
    assert probe.client.workload("ill/0") == ("error", f'hook failed: "{hook}"')
    probe.faults("rm ill.*")
    probe.client.run("resolved", "ill/0")
    news = probe.news("ill/0")
    assert news[0] == (hook, old + 1), "the new charm's hook runs"
    assert [name for name, _ in news].count("upgrade-charm") == (hook == "upgrade-charm")
    if hook != "config-changed":
        assert ("config-changed", old + 1) in news
    assert probe.client.workload("ill/0")[0] == "active"


@pytest.mark.parametrize("hook", ["config-changed", "upgrade-charm"])
def test_a_hook_failed_on_a_started_unit(probe: Probe, hook: str) -> None:
    """Ignored until resolved, also when resolved runs the hook in vain."""
    probe.deploy("ill")
    probe.faults(f"touch ill.{hook}.fails")
    if hook == "config-changed":
        probe.client.fail("config", "ill", "word=new")
    else:
        _named(probe.refresh("ill"), "ill/0", hook)
    probe.news("ill/0")
    old = probe.on_disk("ill/0")
    _named(probe.refresh("ill"), "ill/0", hook)
    assert (probe.on_disk("ill/0"), probe.news("ill/0")) == (old, [])
    probe.client.fail("resolved", "ill/0")
    assert (probe.on_disk("ill/0"), probe.news("ill/0")) == (old, [(hook, old)])
    probe.faults("rm ill.*")
    probe.client.run("resolved", "ill/0")
    news = probe.news("ill/0")
    assert (news[0], news[-1]) == ((hook, old), ("config-changed", old + 1))
    assert ("upgrade-charm", old + 1) in news


def test_one_unit_of_two_cannot_take_it(probe: Probe) -> None:
    """It is named; the other has it."""
    probe.deploy("pair", units=2)
    script = "[ $JUJU_UNIT_NAME != pair/1 ]"
    _named(probe.client.try_run("config", "pair", f"config-changed={script}"), "pair/1", "config-changed")
    old = probe.on_disk("pair/1")
    done = probe.refresh("pair")
    _named(done, "pair/1", "config-changed")
    assert "pair/0" not in done.error
    assert (probe.on_disk("pair/0"), probe.on_disk("pair/1")) == (old + 1, old)
    probe.client.run("config", "pair", "--reset", "config-changed", "--no-wait")
    probe.client.run("resolved", "pair/1", "--no-retry")
    assert probe.on_disk("pair/1") == old + 1


# --- on the way out ---------------------------------------------------------------------------------------


@both
def test_a_unit_that_leaves(probe: Probe, force: tuple[str, ...]) -> None:
    """It goes with the charm that it has."""
    probe.deploy("gone", units=2)
    probe.news("gone/1")
    old = probe.on_disk("gone/1")
    probe.faults("echo 2 > gone.stop.sleeps")
    removal = probe.start("remove-unit", "gone/1")
    probe.begun("gone/1", "stop")
    assert probe.refresh("gone", *force).rc == 0
    well(removal)
    assert probe.news("gone/1") == [("stop", old), ("remove", old)]
    assert list(probe.client.units("gone")) == ["gone/0"]
    assert probe.on_disk("gone/0") == old + 1


def test_a_unit_that_failed_to_leave(probe: Probe) -> None:
    """Its charm is changed only by force; the error stays, and resolved lets it go."""
    probe.deploy("stuck")
    probe.faults("touch stuck.stop.fails")
    probe.client.try_run("remove-unit", "stuck/0")
    assert probe.client.workload("stuck/0") == ("error", 'hook failed: "stop"')
    old = probe.on_disk("stuck/0")
    probe.news("stuck/0")
    _named(probe.refresh("stuck"), "stuck/0", "stop")
    assert probe.on_disk("stuck/0") == old
    _named(probe.refresh("stuck", "--force-units"), "stuck/0", "stop")
    assert (probe.on_disk("stuck/0"), probe.news("stuck/0")) == (old + 2, [])
    probe.faults("rm stuck.*")
    probe.client.run("resolved", "stuck/0")
    assert probe.client.hooks()["stuck/0"][-2:] == ["stop", "remove"]
    assert probe.client.units("stuck") == {}


def test_a_charm_that_cannot_be_unpacked(probe: Probe) -> None:
    """The unit is in error until somebody makes way and says `resolved`; its neighbours go on."""
    probe.deploy("full")
    old, box = probe.on_disk("full/0"), BOX.format("full-0")
    probe.client.on("0", f"mkdir {box}/data && mount -t tmpfs tmpfs {box}/data")
    tree = probe.charm()
    (tree / "data").write_text("a file where the charm has a directory of its own")
    try:
        done = probe.refresh("full", tree=tree)
        assert done.rc == 1, str(done)
        assert "full/0" in done.error
        assert "busy" in done.error
        assert probe.client.workload("full/0") == ("error", "upgrade failed")
        probe.deploy("zfull")  # sorts after it
        again = probe.client.try_run("resolved", "full/0")
        assert (again.rc, probe.client.workload("full/0")) == (1, ("error", "upgrade failed")), str(again)
        assert probe.news("full/0") == []
    finally:
        probe.client.on("0", f"umount {box}/data")
    probe.client.run("resolved", "full/0")
    assert probe.news("full/0") == [("upgrade-charm", old + 1), ("config-changed", old + 1)]
    assert (probe.on_disk("full/0"), probe.client.workload("full/0")[0]) == (old + 1, "active")


def test_a_unit_that_cannot_be_installed_leaves_its_neighbours_their_turns(probe: Probe) -> None:
    """Its place is read-only; units that sort after it are installed and removed meanwhile."""
    place = "/var/lib/juju/agents/unit-aaa-0"
    probe.client.on("0", f"mkdir -p {place} && mount -t tmpfs -o ro tmpfs {place}")
    try:
        done = probe.client.try_run("deploy", probe.charm(), "aaa", "--to", "0")
        assert done.rc == 1, str(done)
        assert "Read-only file system" in done.error
        shown = probe.client.units("aaa")["aaa/0"]["juju-status"]
        assert (shown["current"], "Read-only" in shown["message"]) == ("failed", True)
        done = probe.client.try_run("deploy", probe.charm(), "bbb", "--to", "0")
        assert probe.news("bbb/0")[0][0] == "install"
        assert probe.client.workload("bbb/0")[0] == "active", str(done)
        probe.client.try_run("remove-application", "bbb", "--no-prompt")
        assert "bbb" not in probe.client.status()["applications"]
    finally:
        probe.client.on("0", f"umount {place}")
    probe.client.run("update-status", "aaa/0")
    assert probe.news("aaa/0")[0][0] == "install"
    assert probe.client.workload("aaa/0")[0] == "active"


def test_a_charm_that_was_deleted_on_its_machine(probe: Probe) -> None:
    """The next contact brings it back; no hook fails for that."""
    probe.deploy("lost")
    old = probe.on_disk("lost/0")
    probe.client.on("0", f"rm -rf {BOX.format('lost-0')}")
    probe.client.run("update-status", "lost/0")
    assert probe.news("lost/0")[:2] == [("upgrade-charm", old), ("config-changed", old)]
    assert (probe.on_disk("lost/0"), probe.client.workload("lost/0")[0]) == (old, "active")


# --- what does not fit, before any unit is touched --------------------------------------------------------


def everything(client: Client) -> list[Any]:
    """Return every row of the store, but for the results of commands in the audit log."""
    (path,) = client.data.glob("controllers/*/state.db")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = [(name, sorted(map(repr, connection.execute(f"SELECT * FROM {name}")))) for (name,) in names]
    finally:
        connection.close()
    blobs = sorted(path.name for path in client.data.glob("controllers/*/blobs/**/*") if path.is_file())
    told = [(name, [row for row in found if '"answers":' not in row]) for name, found in sorted(rows)]
    return [*told, blobs]


def refused(probe: Probe, name: str, *words: str, tree: Path | None = None, **metadata: Any) -> str:
    """Refresh to what does not fit: nothing may change; return the error."""
    # The process that removes the model of the test before has ended.
    probe.client.until(lambda: not probe.client.processes())
    before = everything(probe.client)
    done = probe.refresh(name, *words, tree=tree, **metadata)
    assert done.rc == 1, str(done)
    assert everything(probe.client) == before
    prefix = f'ERROR cannot upgrade application "{name}" to charm "local:probe": '
    assert done.error.startswith(prefix), done.error
    return done.error.removeprefix(prefix).splitlines()[0]


UP = {"up": {"interface": "probe"}}
DOWN = {"down": {"interface": "probe"}}


def test_relations_in_use(probe: Probe) -> None:
    """An endpoint in use must stay what it is; a limit must hold; --force lowers it all the same."""
    probe.deploy("server", provides=UP)
    probe.deploy("one", requires=DOWN)
    probe.deploy("two", requires=DOWN)
    for name in ("one", "two"):
        probe.client.run("integrate", f"{name}:down", "server:up")
    probe.news("server/0")
    broken = 'would break relation "one:down server:up"'
    assert refused(probe, "server") == broken
    assert refused(probe, "server", "--force", "--force-units") == broken
    assert refused(probe, "server", provides={"up": {"interface": "other"}}) == broken
    assert refused(probe, "server", requires=UP) == broken
    assert refused(probe, "one", requires={"low": {"interface": "probe"}}) == broken
    limit = (
        "new charm version imposes a maximum relation limit of 1 for server:up "
        "which cannot be satisfied by the number of already established relations (2)"
    )
    narrow = {"up": {"interface": "probe", "limit": 1}}
    assert refused(probe, "server", provides=narrow) == limit
    done = probe.refresh("server", "--force", provides=narrow)
    assert done.rc == 0, str(done)
    assert f"WARNING {limit}; allowing upgrade to proceed as the operator specified --force" in done.stderr
    assert [name for name, _ in probe.news("server/0")] == ["upgrade-charm", "config-changed"]
    done = probe.refresh("server", provides={**UP, "more": {"interface": "more"}})
    assert done.rc == 0, str(done)
    assert [name for name, _ in probe.news("server/0")] == ["upgrade-charm", "config-changed"], (
        "relations that stay are not heard of again"
    )


def test_storage(probe: Probe) -> None:
    """What is there must stay usable; more may come."""
    data = {"type": "filesystem", "location": "/srv/data", "multiple": {"range": "0-3"}}
    disk = {"type": "block", "multiple": {"range": "0-"}}
    probe.deploy("keeper", storage={"data": data, "disk": disk})
    for changed, said in (
        ({"disk": {**disk, "type": "filesystem"}}, 'type changed from "block" to "filesystem"'),
        ({"data": {**data, "location": "/srv"}}, 'location changed from "/srv/data" to "/srv"'),
        ({"data": {**data, "multiple": {"range": "0-2"}}}, "range contracted: max decreased from 3 to 2"),
        (
            {"disk": {**disk, "multiple": {"range": "0-1"}}},
            "range contracted: max decreased from <unbounded> to 1",
        ),
        ({"data": {**data, "read-only": True}}, "read-only changed from false to true"),
    ):
        (name,) = changed
        storage = {"data": data, "disk": disk, **changed}
        assert refused(probe, "keeper", storage=storage) == f'existing storage "{name}" {said}'
    more = {"type": "filesystem", "multiple": {"range": "0-1"}}
    done = probe.refresh("keeper", storage={"data": data, "more": more})
    assert done.rc == 0, str(done)
    assert [name for name, _ in probe.news("keeper/0")] == ["upgrade-charm", "config-changed"]


def test_what_else_does_not_fit(probe: Probe) -> None:
    """Subordinacy, settings, profile, features, base, the name."""
    probe.deploy("calm")
    inside = {"host": {"interface": "juju-info", "scope": "container"}}
    said = refused(probe, "calm", subordinate=True, requires=inside)
    assert said == "cannot change an application's subordinacy"
    said = refused(probe, "calm", "--config", "whole=many")
    assert said.startswith('validating config settings: option "whole" expected int, got "many"')
    unmet = "Charm feature requirements cannot be met:"
    assert refused(probe, "calm", assumes=["juju >= 9.0"]) == unmet
    tree = probe.charm()
    (tree / "lxd-profile.yaml").write_text("devices: {eth9: {type: nic}}\n")
    said = refused(probe, "calm", tree=tree)
    assert said == 'validating lxd profile: invalid lxd-profile.yaml: contains device type "nic"'
    (tree / "lxd-profile.yaml").unlink()
    old = {"bases": [{"name": "ubuntu", "channel": "20.04", "architectures": ["amd64"]}]}
    (tree / "manifest.yaml").write_text(yaml.safe_dump(old))
    assert refused(probe, "calm", tree=tree).startswith("cannot upgrade from single base ")
    before = everything(probe.client)
    other = prober.charm(probe.work, "other")
    done = probe.client.fail("refresh", "calm", "--path", other)
    assert done.error == 'ERROR cannot refresh "probe" to "other"\n'
    assert everything(probe.client) == before
    assert probe.news("calm/0") == []
    assert probe.refresh("calm", "--force-base", tree=tree).rc == 0
    assert [name for name, _ in probe.news("calm/0")] == ["upgrade-charm", "config-changed"]
