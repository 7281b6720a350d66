"""plan: what a command would do, without a trace."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.commands import registry
from pushjuju.cli.commands.plan.plannable import NOT_PLANNED, PLANNED
from pushjuju.cli.work import blocking, drive
from pushjuju.core.clock import SystemClock
from pushjuju.core.storage import Directive
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.controller import notify
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from tests.unit.plugins.notifiers.receivers import web
from tests.world.charms import SETUP, Charms
from tests.world.commandline import Run
from tests.world.controller import TestController
from tests.world.machine import failed

WEB: dict[str, Any] = {"requires": {"db": {"interface": "sql"}}}
DB: dict[str, Any] = {"provides": {"server": {"interface": "sql"}}}


@pytest.fixture
def runtime(runtime: TestController, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> TestController:
    """A model with a website and a database, at rest, not related."""
    runtime.active("web", packed=packs.make("web", **WEB))
    runtime.active("db", packed=packs.make("db", **DB))
    runtime.focus()
    monkeypatch.setattr(SystemClock, "now", lambda _clock: runtime.clock.now())
    return runtime


def prints(folder: Path) -> dict[str, str]:
    """Return the checksum of every file of a data directory."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def planned(run: Run, *words: str, status: int = 2) -> dict[str, Any]:
    ended = run("plan", "--format", "json", "--", *words)
    assert ended.status == status, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


def hooks(plan: dict[str, Any], unit: str) -> list[str]:
    return [step["hook"] for step in plan["hooks"] if step["unit"] == unit and not step["anyway"]]


def changes(plan: dict[str, Any]) -> list[str]:
    return [f"{one['action']} {one['kind']} {one['name']}" for one in plan["changes"]]


def test_a_plan_leaves_no_trace(
    runtime: TestController, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    runtime.ctx.close()
    before = prints(tmp_path / "data")
    for words in (
        ["integrate", "web", "db"],
        ["remove-application", "db"],
        ["deploy", charm(runtime, tmp_path), "third"],
        ["config", "web", "title=x"],
        ["add-unit", "web", "-n", "3"],
    ):
        planned(run, *words)
        assert prints(tmp_path / "data") == before
    assert not list((tmp_path / "tmp").iterdir())
    assert runtime.hooks()  # of the set-up; none was added: no machine was asked


def charm(runtime: TestController, tmp_path: Path) -> str:
    """Return the directory of a charm."""
    packed = runtime.charms.make("third", peers=None, config=None)
    folder = tmp_path / "third"
    if not folder.exists():
        shutil.copytree(runtime.charms.root / packed.path.stem, folder)
    return str(folder)


def test_what_is_planned_is_what_then_happens(runtime: TestController, run: Run) -> None:
    plan = planned(run, "integrate", "web", "db")
    assert changes(plan) == ["add relation 2"]
    runtime.clear()
    runtime.integrate("web", "db")
    for unit in ("web/0", "db/0"):
        assert hooks(plan, unit) == runtime.of(unit)
        assert runtime.of(unit)
    assert any("in relation 2" in line for line in plan["unknown"])


def test_deploy(runtime: TestController, run: Run, tmp_path: Path) -> None:
    plan = planned(run, "deploy", charm(runtime, tmp_path), "third", "-n", "2")
    assert changes(plan) == [
        "add application third",
        "add machine 2",
        "add machine 3",
        "add unit third/0",
        "add unit third/1",
    ]
    assert hooks(plan, "third/0") == [
        "charm local:third-0",
        "install",
        "leader-elected",
        "config-changed",
        "start",
    ]
    assert "the addresses of machine 2, which has to be made or added first" in plan["unknown"]
    table = run("plan", "--", "deploy", charm(runtime, tmp_path), "third").out
    assert "+  application third" in table
    assert table.splitlines()[-1] == "Plan: 3 to add, 0 to change, 0 to remove; 5 hooks on 1 unit."


def test_removals_end_what_hangs_on_them(runtime: TestController, run: Run) -> None:
    runtime.integrate("web", "db")
    plan = planned(run, "remove-application", "db")
    assert changes(plan) == [  # in the order in which they go
        "remove relation 2",
        "remove unit db/0",
        "remove relation 1",
        "remove application db",
        "remove machine 1",
    ]
    assert hooks(plan, "db/0") == ["server-relation-departed", "server-relation-broken", "stop", "remove"]
    assert hooks(plan, "web/0") == ["db-relation-departed", "db-relation-broken"]
    assert planned(run, "remove-unit", "web/0")["changed"]
    assert changes(planned(run, "remove-machine", "1", "--force"))[-1] == "remove machine 1"


def test_changes_of_settings(runtime: TestController, run: Run) -> None:
    plan = planned(run, "config", "web", "title=x")
    title = {"kind": "setting", "name": "web title", "model": "shop"}
    both = {"value": {"from": '"hello"', "to": '"x"'}}
    assert plan["changes"] == [{"action": "change", **title, "fields": both}]
    assert hooks(plan, "web/0") == ["config-changed"]
    assert '~  setting web title  value "hello" -> "x"' in run("plan", "config", "web", "title=x").out
    without = planned(run, "config", "web", "note=x")  # an option without a default
    assert [change["action"] for change in without["changes"]] == ["add"]
    limited = planned(run, "set-constraints", "web", "mem=2G", "cores=2")
    assert limited["changes"][0]["fields"] == {"constraints": {"from": "", "to": "cores=2 mem=2048M"}}
    everywhere = planned(run, "set-model-constraints", "mem=2G")
    assert everywhere["changes"][0]["fields"] == {"value": "mem=2048M"}
    trusted = planned(run, "trust", "web")
    assert trusted["changes"][0]["fields"] == {"trust": {"from": 0, "to": 1}}
    assert changes(planned(run, "expose", "db"))[0] == "change application db"
    assert changes(planned(run, "model-config", "update-status-hook-interval=10m")) == [
        "add model config update-status-hook-interval"
    ]


def test_nothing_to_do(runtime: TestController, run: Run) -> None:
    ended = run("plan", "config", "web")
    assert (ended.status, ended.out) == (0, "Nothing would change.\n")
    assert planned(run, "unexpose", "web", status=0)["changed"] is False


def test_refresh_and_resolved(
    runtime: TestController, run: Run, packs: Charms, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = packs.make("web", files={"x": "y"}, **WEB)
    path = str(packs.root / newer.path.stem)
    plan = planned(run, "refresh", "web", "--path", path)
    assert plan["changes"][0]["fields"]["charm"] == {"from": "local:web-0", "to": "local:web-1"}
    assert hooks(plan, "web/0") == ["charm local:web-1", "upgrade-charm", "config-changed"]
    runtime.played("0").script["config-changed"] = [failed(1)]
    monkeypatch.setattr(drive, "settle", lambda *_words, **_more: None)
    assert run("config", "web", "title=y").status == 0
    runtime.settle()
    assert runtime.agent()[0] == "error"
    assert hooks(planned(run, "resolved", "web/0"), "web/0") == ["config-changed"]


def test_what_is_due_anyway_is_told_apart(runtime: TestController, run: Run, packs: Charms) -> None:
    runtime.deploy("late", packed=packs.make("late", peers=None, config=None))
    plan = planned(run, "add-unit", "web")
    anyway = [step["hook"] for step in plan["hooks"] if step["anyway"]]
    assert "install" in anyway
    assert {step["unit"] for step in plan["hooks"] if step["anyway"]} == {"late/0"}
    assert set(hooks(plan, "web/1")) >= {*SETUP} - {"leader-elected"}
    assert changes(plan) == ["add machine 3", "add unit web/1"]


def test_subordinates_and_storage(runtime: TestController, run: Run, packs: Charms, tmp_path: Path) -> None:
    stored = packs.make(
        "disk", peers=None, config=None, storage={"data": {"type": "filesystem", "location": "/srv"}}
    )
    plan = planned(run, "deploy", str(packs.root / stored.path.stem), "disk", "--storage", "data=rootfs,1G")
    assert hooks(plan, "disk/0")[:3] == ["charm local:disk-0", "data-storage-attached", "install"]
    assert "add storage data/0" in changes(plan)
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    runtime.deploy(
        "log", packed=packs.make("log", peers=None, config=None, subordinate=True, requires=host), count=0
    )
    plan = planned(run, "integrate", "web:juju-info", "log:host")
    assert "add unit log/0" in changes(plan)
    assert "install" in hooks(plan, "log/0")


def test_a_first_deploy_needs_no_controller(run: Run, packs: Charms, tmp_path: Path) -> None:
    packed = packs.make("third", peers=None, config=None)
    plan = planned(run, "deploy", str(packs.root / packed.path.stem), "third")
    assert changes(plan)[-3:] == ["add application third", "add machine 0", "add unit third/0"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["status"], "status cannot be planned: it changes nothing that a plan could show"),
        (
            ["ssh", "0"],
            "ssh cannot be planned: what the user does there is unknown, and it changes no model",
        ),
        (["migrate", "shop", "other"], "migrate cannot be planned: pushjuju does not do it"),
        (["destroy-model", "nope"], "model home:admin/nope not found"),
        (["plan", "--", "status"], "plan cannot be planned: a plan changes nothing"),
        (["dance"], '"dance" is not a command that can be planned: there is none of that name'),
        (
            ["add-machine", "ssh:root@host"],
            "add-machine ssh: cannot be planned: the host itself must be asked",
        ),
        (["config", "nope", "a=b"], 'application "nope" not found'),
        (["deploy"], "no charm or bundle specified"),
        (["config", "--nope"], "option provided but not defined: --nope"),
        (["deploy", "--help"], "help cannot be planned"),
    ],
)
def test_what_cannot_be_planned(runtime: TestController, run: Run, words: list[str], text: str) -> None:
    ended = run("plan", "--", *words)
    assert (ended.status, ended.err.splitlines()[0]) == (1, f"ERROR {text}")
    assert ended.out == ""


def test_every_command_is_planned_or_says_why_not() -> None:
    assert PLANNED.isdisjoint(NOT_PLANNED)
    assert PLANNED | NOT_PLANNED.keys() == registry.known()


def test_what_can_change_a_model_is_planned() -> None:
    """What `disable-command all` covers changes a model; upgrade-model never has anything to upgrade."""
    covered = blocking.DESTROYS | blocking.REMOVES | blocking.CHANGES | blocking.MIXED
    assert covered - PLANNED == {"upgrade-model"}


# --- run and exec -----------------------------------------------------------------------------------------

GREET = {"actions.yaml": "greet:\n  description: hi\nsolo:\n  parallel: false\n"}


def tasks(plan: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(step["machine"], step["unit"], step["kind"], step["hook"]) for step in plan["hooks"]]


def test_run(runtime: TestController, run: Run) -> None:
    runtime.active("greeter", 2, packed=runtime.charms.make("greeter", peers=None, config=None, files=GREET))
    plan = planned(run, "run", "greeter/0", "greeter/1", "greet", "name=Kim")
    assert tasks(plan) == [("2", "greeter/0", "action", "greet"), ("3", "greeter/1", "action", "greet")]
    assert "what the action greet does: only its charm defines that" in plan["unknown"]
    assert changes(plan) == ["add task 2", "add task 3"]
    assert plan["changes"][0]["fields"] == {"action": "greet", "receiver": "greeter/0"}
    assert planned(run, "run", "greeter/leader", "solo")["hooks"][0]["unit"] == "greeter/0"
    text = run("plan", "--", "run", "greeter/0", "greet").out
    assert "2        greeter/0  action greet" in text
    assert not runtime.played_machines["2"].frame_of("start").get("action")


def test_run_of_what_cannot_be_run(runtime: TestController, run: Run) -> None:
    ended = run("plan", "--", "run", "web/0", "nope")
    assert (ended.status, ended.out) == (0, "Nothing would change.\n")
    assert 'WARNING action "nope" not defined on unit "web/0"' in ended.err
    assert run("plan", "--", "run", "web/0").err == "ERROR no action specified\n"


def test_exec(runtime: TestController, run: Run) -> None:
    plan = planned(run, "exec", "--application", "web", "--machine", "1", "uptime")
    assert tasks(plan) == [("0", "web/0", "commands", "juju-exec"), ("1", "", "commands", "juju-exec")]
    assert [step.get("parallel") for step in plan["hooks"]] == [True, True]
    assert "what the commands do" in plan["unknown"]
    alone = planned(run, "exec", "--unit", "web/0", "--parallel=false", "uptime")
    assert "parallel" not in alone["hooks"][0]
    assert "commands juju-exec  (beside the others)" in run("plan", "--", "exec", "--unit", "web/0", "ls").out


def test_cancel_task(runtime: TestController, run: Run) -> None:
    asked = operations.CommandRequest(command="ls", timeout_s=9.0, units=["web/0"])
    operations.enqueue_commands(runtime.ctx, runtime.model, asked)
    plan = planned(run, "cancel-task", "2")
    assert plan["changes"][0]["fields"] == {"status": {"from": "completed", "to": "cancelled"}}


# --- the end of models and controllers --------------------------------------------------------------------


def test_destroy_model(runtime: TestController, run: Run) -> None:
    runtime.integrate("web", "db")
    plan = planned(run, "destroy-model", "shop")
    went = changes(plan)
    assert set(went) == {
        "remove model shop",
        *(f"remove {kind}" for kind in ("application web", "application db", "unit web/0", "unit db/0")),
        *(f"remove {kind}" for kind in ("machine 0", "machine 1", "relation 0", "relation 1", "relation 2")),
    }
    at = {name.removeprefix("remove "): number for number, name in enumerate(went)}
    assert at["relation 2"] < at["application db"] < at["machine 1"] < at["model shop"] == len(went) - 1
    assert at["unit web/0"] < at["application web"]
    assert hooks(plan, "db/0") == ["server-relation-departed", "server-relation-broken", "stop", "remove"]
    assert "blocked" not in plan
    machine = plan["changes"][at["machine 1"]]["fields"]
    assert machine["instance"] == "ended"
    add_model(runtime.ctx, AddModelOptions(name="empty"))
    assert changes(planned(run, "destroy-model", "empty")) == ["remove model empty"]


def test_destroy_model_that_is_stuck(runtime: TestController, run: Run) -> None:
    runtime.played("0").fail("config-changed", times=50)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    runtime.settle()
    assert runtime.agent()[0] == "error"
    plan = planned(run, "destroy-model", "shop")
    assert "remove model shop" not in changes(plan)
    assert "remove application db" in changes(plan)
    assert "model shop: machine 0 waits for web/0" in plan["blocked"]
    assert any(line.startswith("what web/0 does next") for line in plan["unknown"])
    assert (
        "\nIn the way:\n  model shop: machine 0 waits for web/0\n"
        in run("plan", "--", "destroy-model", "shop").out
    )
    forced = planned(run, "destroy-model", "shop", "--force")
    assert changes(forced)[-1] == "remove model shop"
    assert not any(line.startswith("whether web/0 goes by itself") for line in forced["unknown"])
    assert run("disable-command", "destroy-model").status == 0
    ended = run("plan", "--", "destroy-model", "shop")
    assert (ended.status, ended.out) == (1, "")
    assert "destroy-model operation has been disabled" in ended.err


def test_what_becomes_of_storage(runtime: TestController, run: Run, packs: Charms) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = packs.make("disk", peers=None, config=None, storage=store)
    runtime.active("disk", packed=packed, storage={"data": Directive(pool="local", size=1024, count=1)})
    ended = run("plan", "--", "destroy-model", "shop")
    assert (ended.status, "The model has persistent storage remaining" in ended.err) == (1, True)
    for flag, word in (("--destroy-storage", "destroyed"), ("--release-storage", "released")):
        plan = planned(run, "destroy-model", "shop", flag)
        gone = next(one for one in plan["changes"] if one["kind"] == "storage")
        assert (gone["action"], gone["fields"]["data"]) == ("remove", word)


def test_destroy_and_kill_controller(runtime: TestController, run: Run) -> None:
    add_model(runtime.ctx, AddModelOptions(name="other"))
    ended = run("plan", "--", "destroy-controller", "home")
    assert (ended.status, "The controller has live models" in ended.err) == (1, True)
    plan = planned(run, "destroy-controller", "home", "--destroy-all-models")
    assert changes(plan)[-1] == "remove controller home"
    assert {"remove model shop", "remove model other", "remove unit web/0"} <= set(changes(plan))
    runtime.played("0").fail("stop", times=50)
    killed = planned(run, "kill-controller", "home", "--timeout", "90s")
    assert "which hooks web/0 still runs: it is forced away at once" in killed["unknown"]
    assert killed["changes"][-1]["fields"] == {"when": "after 90 s at the latest"}
    assert run("models").status == 0  # nothing has happened


def test_bootstrap(run: Run, tmp_path: Path) -> None:
    plan = planned(run, "bootstrap", "local", "home", "--add-model", "shop")
    assert changes(plan)[:3] == ["add controller home", "add model controller", "add model shop"]
    assert not (tmp_path / "data").exists()


# --- the rest of what a controller knows ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (["add-secret", "key", "word=b"], "add secret key"),
        (["add-space", "dmz"], "add space dmz"),
        (["create-storage-pool", "fast", "rootfs"], "add storage pool fast"),
        (["disable-command", "all"], "add disabled commands all"),
        (["add-user", "kim"], "add access kim to the controller"),
        (["grant-cloud", "admin", "add-model", "local"], ""),
        (
            ["model-defaults", "update-status-hook-interval=9m"],
            "add model default update-status-hook-interval",
        ),
        (["controller-config", "audit-log-max-backups=3"], "add controller config audit-log-max-backups"),
        (["update-status"], ""),
        (["add-ssh-key", "KEY"], "add ssh key"),
    ],
)
def test_other_words(runtime: TestController, run: Run, words: list[str], change: str) -> None:
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMJjmGvRkMKcQgUPVJMqKqBBWAPHQGNYJLZOcVJmYdnR kim@lab"
    ended = run("plan", "--format", "json", "--", *(key if word == "KEY" else word for word in words))
    if not change:
        assert ended.status in (0, 1, 2)
        return
    assert ended.status == 2, ended.err
    assert any(one.startswith(change) for one in changes(json.loads(ended.out)))
    assert "sealed" not in ended.out


def test_update_status(runtime: TestController, run: Run) -> None:
    plan = planned(run, "update-status", "web/0")
    assert (hooks(plan, "web/0"), plan["changes"]) == (["update-status"], [])


def test_secrets_are_never_told(runtime: TestController, run: Run) -> None:
    assert run("add-secret", "key", "word=very-secret").status == 0
    plan = planned(run, "update-secret", "key", "word=more-secret")
    assert plan["changes"][0]["name"] == "key"
    assert plan["changes"][0]["fields"]["revision"] == {"from": 1, "to": 2}
    assert "secret" not in json.dumps(plan["changes"][0]["fields"])
    assert changes(planned(run, "grant-secret", "key", "web")) == ["add secret grant key to web"]
    assert changes(planned(run, "remove-secret", "key")) == ["remove secret key"]


def test_a_plan_writes_no_file(runtime: TestController, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    assert run("plan", "--", "config", "web", "-o", str(out)).status == 0
    assert not out.exists()


def test_offers_and_what_is_consumed(runtime: TestController, run: Run) -> None:
    assert changes(planned(run, "offer", "db:server")) == ["add offer db"]
    assert run("offer", "db:server").status == 0
    add_model(runtime.ctx, AddModelOptions(name="other"))
    plan = planned(run, "consume", "-m", "other", "admin/shop.db")
    assert [(one["kind"], one["model"]) for one in plan["changes"]] == [("saas", "other")]
    assert changes(planned(run, "remove-offer", "admin/shop.db", "-y")) == ["remove offer db"]


def test_a_bundle(runtime: TestController, run: Run, packs: Charms, tmp_path: Path) -> None:
    packed = packs.make("third", peers=None, config=None)
    charm = {"charm": str(packs.root / packed.path.stem), "num_units": 1}
    (tmp_path / "bundle.yaml").write_text(json.dumps({"applications": {"third": charm}}))
    plan = planned(run, "deploy", str(tmp_path / "bundle.yaml"))
    assert changes(plan) == ["add application third", "add machine 2", "add unit third/0"]
    assert hooks(plan, "third/0")[:2] == ["charm local:third-0", "install"]
    assert plan["not-in-bundle"] == [
        "remove application db",
        "  with unit db/0",
        "remove application web",
        "  with unit web/0",
    ]
    text = run("plan", "--", "deploy", str(tmp_path / "bundle.yaml")).out
    assert "Not in the bundle, and left alone (`apply --prune` does this):\n  remove application db\n" in text


def test_the_model_that_is_meant(runtime: TestController, run: Run) -> None:
    add_model(runtime.ctx, AddModelOptions(name="other"))
    assert run("plan", "-m", "other", "--", "config", "web", "a=b").err.startswith("ERROR application")
    assert run("plan", "-m", "shop", "--", "config", "web", "title=x").status == 2
    assert run("plan", "--", "config", "-m", "shop", "web", "title=x").status == 2
    assert run("plan", "-m", "nope", "--", "config", "web").status == 1


def test_a_plan_says_why_the_command_fails(runtime: TestController, run: Run) -> None:
    ended = run("plan", "--", "detach-storage", "data/7")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("ERROR failed to detach data/7: ")


def test_a_plan_of_nothing(run: Run) -> None:
    assert run("plan").status == 2
    assert run("plan", "--").status == 2


def test_a_mistyped_command_brings_the_nearest(run: Run) -> None:
    assert run("plan", "--", "deply", "x").err.endswith("Did you mean:\n\tdeploy\n")


def test_a_plan_sends_no_event(runtime: TestController, run: Run) -> None:
    with web() as posted:
        options = notify.TargetOptions(name="t", address=f"http://127.0.0.1:{posted.port}/")
        notify.add(runtime.ctx, PluginHost(environ={}), options)
        machine = runtime.unit("web/0").machine or ""
        runtime.write(lambda tx: tx.run("machine_set_unreachable", id=machine, now=runtime.clock.now()))
        assert changes(planned(run, "remove-unit", "--no-prompt", "web/0"))
    assert posted.requests == []
