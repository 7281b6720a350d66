"""plan: what a command would do, without a trace."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli import drive
from pushjuju.core.clock import SystemClock
from pushjuju.services import integrate, models
from tests.unit.services.world import SETUP, Charms, World, failed

Run = Callable[..., Any]
WEB: dict[str, Any] = {"requires": {"db": {"interface": "sql"}}}
DB: dict[str, Any] = {"provides": {"server": {"interface": "sql"}}}


@pytest.fixture
def shop(tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> World:
    """A model with a website and a database, at rest, not related."""
    world = World.build(tmp_path, packs)
    world.active("web", packed=packs.make("web", **WEB))
    world.active("db", packed=packs.make("db", **DB))
    world.ctx.controller.set("current-model", "admin/shop")
    world.ctx.datadir.set_current_controller("home")
    monkeypatch.setattr(SystemClock, "now", lambda _clock: world.clock.now())
    return world


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
    shop: World, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    shop.ctx.close()
    before = prints(tmp_path / "data")
    for words in (
        ["integrate", "web", "db"],
        ["remove-application", "db"],
        ["deploy", charm(shop, tmp_path), "third"],
        ["config", "web", "title=x"],
        ["add-unit", "web", "-n", "3"],
    ):
        planned(run, *words)
        assert prints(tmp_path / "data") == before
    assert not list((tmp_path / "tmp").iterdir())
    assert shop.hooks()  # of the set-up; none was added: no machine was asked


def charm(shop: World, tmp_path: Path) -> str:
    """Return the directory of a charm."""
    packed = shop.charms.make("third", peers=None, config=None)
    folder = tmp_path / "third"
    if not folder.exists():
        shutil.copytree(shop.charms.root / packed.path.stem, folder)
    return str(folder)


def test_what_is_planned_is_what_then_happens(shop: World, run: Run) -> None:
    plan = planned(run, "integrate", "web", "db")
    assert changes(plan) == ["add relation 2"]
    shop.clear()
    integrate.integrate(shop.ctx, shop.model, "web", "db")
    shop.settle()
    for unit in ("web/0", "db/0"):
        assert hooks(plan, unit) == shop.of(unit)
        assert shop.of(unit)
    assert any("in relation 2" in line for line in plan["unknown"])


def test_deploy(shop: World, run: Run, tmp_path: Path) -> None:
    plan = planned(run, "deploy", charm(shop, tmp_path), "third", "-n", "2")
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
    assert "the addresses of machine 2, which is to be made or taken in first" in plan["unknown"]
    table = run("plan", "--", "deploy", charm(shop, tmp_path), "third").out
    assert "+  application third" in table
    assert table.splitlines()[-1] == "Plan: 3 to add, 0 to change, 0 to remove; 5 hooks on 1 unit."


def test_removals_end_what_hangs_on_them(shop: World, run: Run) -> None:
    integrate.integrate(shop.ctx, shop.model, "web", "db")
    shop.settle()
    plan = planned(run, "remove-application", "db")
    assert changes(plan) == [
        "remove application db",
        "remove machine 1",
        "remove unit db/0",
        "remove relation 1",
        "remove relation 2",
    ]
    assert hooks(plan, "db/0") == ["server-relation-departed", "server-relation-broken", "stop", "remove"]
    assert hooks(plan, "web/0") == ["db-relation-departed", "db-relation-broken"]
    assert planned(run, "remove-unit", "web/0")["changed"]
    assert changes(planned(run, "remove-machine", "1", "--force"))[0] == "remove machine 1"


def test_changes_of_settings(shop: World, run: Run) -> None:
    plan = planned(run, "config", "web", "title=x")
    assert plan["changes"] == [
        {"action": "add", "kind": "setting", "name": "web title", "model": "shop", "fields": {"value": '"x"'}}
    ]
    assert hooks(plan, "web/0") == ["config-changed"]
    trusted = planned(run, "trust", "web")
    assert trusted["changes"][0]["fields"] == {"trust": {"from": 0, "to": 1}}
    assert changes(planned(run, "expose", "db"))[0] == "change application db"
    assert changes(planned(run, "model-config", "update-status-hook-interval=10m")) == [
        "add model config update-status-hook-interval"
    ]


def test_nothing_to_do(shop: World, run: Run) -> None:
    ended = run("plan", "config", "web")
    assert (ended.status, ended.out) == (0, "Nothing would change.\n")
    assert planned(run, "unexpose", "web", status=0)["changed"] is False


def test_refresh_and_resolved(shop: World, run: Run, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = packs.make("web", files={"x": "y"}, **WEB)
    path = str(packs.root / newer.path.stem)
    plan = planned(run, "refresh", "web", "--path", path)
    assert plan["changes"][0]["fields"]["charm"] == {"from": "local:web-0", "to": "local:web-1"}
    assert hooks(plan, "web/0") == ["charm local:web-1", "upgrade-charm", "config-changed"]
    shop.box("0").script["config-changed"] = [failed(1)]
    monkeypatch.setattr(drive, "settle", lambda *_words, **_more: None)
    assert run("config", "web", "title=y").status == 0
    shop.settle()
    assert shop.agent()[0] == "error"
    assert hooks(planned(run, "resolved", "web/0"), "web/0") == ["config-changed"]


def test_what_is_due_anyway_is_told_apart(shop: World, run: Run, packs: Charms) -> None:
    shop.deploy("late", packed=packs.make("late", peers=None, config=None))
    plan = planned(run, "add-unit", "web")
    anyway = [step["hook"] for step in plan["hooks"] if step["anyway"]]
    assert "install" in anyway
    assert {step["unit"] for step in plan["hooks"] if step["anyway"]} == {"late/0"}
    assert set(hooks(plan, "web/1")) >= {*SETUP} - {"leader-elected"}
    assert changes(plan) == ["add machine 3", "add unit web/1"]


def test_subordinates_and_storage(shop: World, run: Run, packs: Charms, tmp_path: Path) -> None:
    stored = packs.make(
        "disk", peers=None, config=None, storage={"data": {"type": "filesystem", "location": "/srv"}}
    )
    plan = planned(run, "deploy", str(packs.root / stored.path.stem), "disk", "--storage", "data=rootfs,1G")
    assert hooks(plan, "disk/0")[:3] == ["charm local:disk-0", "data-storage-attached", "install"]
    assert "add storage data/0" in changes(plan)
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    shop.deploy(
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
        (["status"], "status cannot be planned: it changes nothing that a plan could tell of"),
        (["run", "web/0", "greet"], "run cannot be planned: what an action does, its charm alone knows"),
        (["destroy-model", "shop"], "destroy-model cannot be planned: it ends everything in the model"),
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
def test_what_cannot_be_planned(shop: World, run: Run, words: list[str], text: str) -> None:
    ended = run("plan", "--", *words)
    assert (ended.status, ended.err.splitlines()[0]) == (1, f"ERROR {text}")
    assert ended.out == ""


def test_offers_and_what_is_consumed(shop: World, run: Run) -> None:
    assert changes(planned(run, "offer", "db:server")) == ["add offer db"]
    assert run("offer", "db:server").status == 0
    models.add_model(shop.ctx, "other")
    plan = planned(run, "consume", "-m", "other", "admin/shop.db")
    assert [(one["kind"], one["model"]) for one in plan["changes"]] == [("saas", "other")]
    assert changes(planned(run, "remove-offer", "admin/shop.db", "-y")) == ["remove offer db"]


def test_a_bundle(shop: World, run: Run, packs: Charms, tmp_path: Path) -> None:
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


def test_the_model_that_is_meant(shop: World, run: Run) -> None:
    models.add_model(shop.ctx, "other")
    assert run("plan", "-m", "other", "--", "config", "web", "a=b").err.startswith("ERROR application")
    assert run("plan", "-m", "shop", "--", "config", "web", "title=x").status == 2
    assert run("plan", "--", "config", "-m", "shop", "web", "title=x").status == 2
    assert run("plan", "-m", "nope", "--", "config", "web").status == 1


def test_a_plan_of_nothing(run: Run) -> None:
    assert run("plan").status == 2
    assert run("plan", "--").status == 2
