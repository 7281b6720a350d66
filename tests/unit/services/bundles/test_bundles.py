"""Bundles on a store: recorded at once or not at all, again nothing, exported, compared, made equal."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.bundles import export, plan_files, planning
from pushjuju.services.bundles.plan import model_facts
from pushjuju.services.bundles.planning import Prepared, Wishes
from pushjuju.services.bundles.read.load import examine, load
from pushjuju.services.bundles.read.verify import BundleFaulty
from pushjuju.services.entities.application import bindings
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.requests.application import expose
from pushjuju.services.requests.application import settings as settings_of_applications
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.machine import spaces
from pushjuju.services.requests.model import model_config
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.user import users
from tests.charms_tools.hubstore import HubStore
from tests.world.controller import TestController

CHARMS: dict[str, dict[str, Any]] = {
    "web": {
        "requires": {"db": {"interface": "sql"}},
        "peers": {"cluster": {"interface": "web-cluster"}},
        "resources": {"site": {"type": "file", "filename": "site.txt"}},
    },
    "db": {"provides": {"db": {"interface": "sql"}}, "storage": {"data": {"type": "filesystem"}}},
    "log": {
        "subordinate": True,
        "requires": {"host": {"interface": "juju-info", "scope": "container"}},
    },
}
CONFIG = {"options": {"port": {"type": "int", "default": 80}, "title": {"type": "string", "default": "hi"},
                      "ratio": {"type": "float"}}}  # fmt: skip
BUNDLE = """\
default-base: ubuntu@22.04
applications:
  web:
    charm: ./web
    num_units: 3
    to: ["0", db]
    resources: {site: ./site.txt}
    options: {port: 8080, title: "include-file://title.txt"}
    annotations: {gui-x: "10"}
    constraints: mem=1G
    bindings: {"": alpha, db: backend}
  db:
    charm: ./db
    num_units: 2
    to: ["0"]
    storage: {data: 2G}
    expose: true
    trust: true
  log: {charm: ./log}
machines:
  "0": {constraints: mem=2G, annotations: {rack: a1}}
relations:
- [web:db, db:db]
- [log, web]
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with a bundle, its charms and files."""
    folder = tmp_path / "shelf"
    for name, more in CHARMS.items():
        path = folder / name
        (path / "hooks").mkdir(parents=True)
        document = {"name": name, "summary": "s", "description": "d", "series": ["jammy"], **more}
        (path / "metadata.yaml").write_text(yaml.safe_dump(document))
        (path / "hooks" / "install").write_text("#!/bin/sh\n")
        if name != "log":
            (path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    (folder / "bundle.yaml").write_text(BUNDLE)
    (folder / "site.txt").write_text("the site")
    (folder / "title.txt").write_text("a title")
    return folder


@pytest.fixture
def world(runtime: TestController) -> TestController:
    """A controller with a space of its own."""
    spaces.add(runtime.ctx, runtime.model, "backend", [])
    return runtime


def prepare(world: TestController, shelf: Path, *overlays: str, **wishes: Any) -> Prepared:
    """Return the plan for the bundle."""
    names = []
    for number, text in enumerate(overlays):
        path = shelf / f"over{number}.yaml"
        path.write_text(text)
        names.append(str(path))
    return planning.prepare(world.ctx, world.model, load(shelf, names), Wishes(**{"trust": True, **wishes}))


def deploy(world: TestController, shelf: Path, *overlays: str, **wishes: Any) -> list[str]:
    """Deploy the bundle; return the lines of what was done."""
    prepared = prepare(world, shelf, *overlays, **wishes)
    planning.carry_out(world.ctx, world.model, prepared)
    return [line for change in prepared.changes for line in change.lines]


def exported(world: TestController, **request: Any) -> str:
    """Return the model as a bundle."""
    return export.as_text(world.ctx, world.model, export.Request(**request))


def test_deploy_records_all_of_it(world: TestController, shelf: Path) -> None:
    told = deploy(world, shelf)
    assert [line for line in told if line.startswith("add ")] == [
        "add new machine 0",
        "add relation web:db - db:db",
        "add relation log - web",
        "add unit db/0 to new machine 0",
        "add unit db/1 to new machine 1",
        "add unit web/0 to new machine 0",
        "add unit web/1 to new machine 0 to satisfy [db]",
        "add unit web/2 to new machine 1 to satisfy [db]",
    ]
    assert world.applications() == ["db", "log", "web"]
    assert [(name, world.unit(name).machine) for name in world.units()] == [
        ("db/0", "0"), ("db/1", "1"), ("web/0", "0"), ("web/1", "0"), ("web/2", "1"),
    ]  # fmt: skip
    assert (world.machine("0").constraints, world.machine("1").constraints) == ({"mem": 2048}, {})
    web, db = world.application("web"), world.application("db")
    assert (web.constraints, web.trust, db.trust, db.exposed) == ({"mem": 1024}, 0, 1, 1)
    settings = world.read(lambda tx: charms.stored_settings(tx, "web", web.charm_url))
    assert settings == {"port": 8080, "title": "a title"}
    assert world.read(lambda tx: bindings.document(tx, web))["db"] == "backend"
    assert [item.size for item in world.read(lambda tx: storage_instances.directives(tx, "db"))] == [2048]
    noted = world.read(lambda tx: notes.of_model(tx, notes.Kind.MACHINE))
    assert noted == {"0": {"rack": "a1"}}


CONTAINED = """\
default-base: ubuntu@22.04
applications:
  web: {charm: ./web, num_units: 2, constraints: container=lxd mem=1G, resources: {site: ./site.txt}}
  db: {charm: ./db, num_units: 2, to: ["lxd:web", web], constraints: container=lxd}
  log: {charm: ./log}
"""


@pytest.mark.parametrize("of_model", [False, True])
def test_container_as_a_constraint_is_a_container_on_a_new_machine(
    world: TestController, shelf: Path, of_model: bool
) -> None:
    (shelf / "bundle.yaml").write_text(CONTAINED.replace("container=lxd", "") if of_model else CONTAINED)
    if of_model:
        model_config.set_constraints(world.ctx, world.model, {"container": "lxd"})
    told = deploy(world, shelf)
    assert "add unit web/0 to new machine 0" in told  # Juju's words
    assert [(name, world.unit(name).machine) for name in world.units()] == [
        ("db/0", "0/lxd/1"), ("db/1", "1/lxd/0"), ("web/0", "0/lxd/0"), ("web/1", "1/lxd/0"),
    ]  # fmt: skip
    assert world.machine("0").constraints == {"mem": 1024}
    assert prepare(world, shelf).changes == ()


def test_new_machines_get_the_models_constraints(world: TestController, shelf: Path) -> None:
    model_config.set_constraints(world.ctx, world.model, {"cores": 2, "mem": 512})
    prepared = prepare(world, shelf)
    assert [(str(base), wanted) for base, wanted in planning.machine_needs(prepared)] == [
        ("ubuntu@22.04/stable", {"mem": 2048}), ("ubuntu@22.04/stable", {}),
    ]  # fmt: skip
    planning.carry_out(world.ctx, world.model, prepared)
    assert world.machine("0").constraints == {"cores": 2, "mem": 2048}
    assert world.machine("1").constraints == {"cores": 2, "mem": 512}


def test_again_there_is_nothing_to_do(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    before = world.dump()
    assert prepare(world, shelf).changes == ()
    assert world.dump() == before


def test_goes_on_from_what_is_there(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    over = "applications: {web: {num_units: 4, options: {port: 81}, annotations: {gui-y: '2'}}, log: null}"
    assert deploy(world, shelf, over) == [
        "set application options for web",
        "set annotations for web",
        "add unit web/3 to new machine 2",
    ]
    assert world.machine_ids() == ["0", "1", "2"]
    assert deploy(world, shelf, over) == []


def test_refused_step_changes_nothing(world: TestController, shelf: Path) -> None:
    before, blobs = world.dump(), world.blobs()
    for over, message in (
        ("applications: {web: {bindings: {db: nowhere}}}", 'application "web": space "nowhere" not found'),
        ("applications: {db: {storage: {data: 'nopool,1G'}}}", 'application "db": pool "nopool" not found'),
        ("applications: {web: {resources: {site: ./no.txt}}}", 'application "web": file for resource "site"'),
        ("applications: {db: {base: ubuntu@24.04}}", 'cannot add charm ".*db": base "ubuntu@24.04/stable"'),
    ):
        with pytest.raises((NotFound, NotValid), match=f"(?s)cannot deploy bundle: .*{message}") as caught:
            deploy(world, shelf, over)
        assert "Traceback" not in str(caught.value)
        assert (world.dump(), world.blobs()) == (before, blobs)


def test_what_charms_do_not_have_is_told_at_once(world: TestController, shelf: Path) -> None:
    over = """
applications:
  web: {options: {nosuch: 1, port: x}, bindings: {no: alpha}, resources: {other: ./site.txt}, to: [kvm:0]}
  db: {storage: {logs: 1G}}
  log: {num_units: 1, to: [new]}
relations: [[web:none, db:db], [web:db, log:host], [db, log:host]]
"""
    with pytest.raises(BundleFaulty) as caught:
        prepare(world, shelf, over)
    assert [fault.text for fault in caught.value.faults] == [
        'cannot validate application "db": charm "db" has no store called "logs"',
        'application "log" is subordinate but specifies unit placement',
        'application "log" is subordinate but has non-zero num_units',
        'placement "kvm:0" asks for a container that pushjuju cannot make: use lxd',
        'cannot validate application "web": option "port" expected int, got "x"',
        f'cannot validate application "web": configuration option "nosuch" not found in charm "{shelf}/web"',
        'cannot validate application "web": unrecognized resource "other"',
        (
            'application "web" wants to bind endpoint "no" to space "alpha", but the endpoint is not defined '
            "by the charm"
        ),
        f'charm "{shelf}/web" used by application "web" does not define relation "none"',
        'mismatched interface between "web:db" and "log:host" ("sql" vs "juju-info")',
    ]
    assert all(fault.place and fault.place.line > 0 for fault in caught.value.faults)


EVERYTHING = """
bundle: lxd
applications:
  web: {charm: ./web, num_units: 1, to: [x:1], options: {nosuch: 1, title: include-file://no}}
  near: {charm: storee, num_units: 1}
  far: {charm: store, channel: 9/edge, num_units: 1}
  told: {charm: store, num_units: 1, options: {port: many}, bindings: {none: nowhere}}
  odd: {charm: ./odd, num_units: 1}
  old: {charm: ./db, num_units: 1, base: ubuntu@20.04, storage: {data: "nopool,1G"}}
relations:
- [told:none, web:db]
- [told:up, web:db]
"""


def test_everything_that_is_wrong_is_told_at_once(world: TestController, shelf: Path, hub: HubStore) -> None:
    """What the bundle, its charms, the store's charms and the model have to say, each with its line."""
    key = {"model": world.model, "key": "charmhub-url", "value": f'"{hub.url}"'}
    world.write(lambda tx: tx.run("model_config_set", **key))
    (shelf / "odd").mkdir()
    (shelf / "odd" / "metadata.yaml").write_text("name: odd\nsummary: s\ndescription: d\nseries: [none!]\n")
    made = world.charms.make("store", provides={"up": {"interface": "http"}}, config=CONFIG["options"])
    hub.add("store", made.path, revision=1)
    (shelf / "bundle.yaml").write_text(EVERYTHING)
    before, blobs = world.dump(), world.blobs()
    with pytest.raises(BundleFaulty) as caught:
        planning.prepare(world.ctx, world.model, examine(shelf), Wishes())
    expected = Path(__file__).with_name("wrong_bundle.txt").read_text()
    assert caught.value.message.replace(str(shelf), "SHELF") + "\n" == expected
    assert hub.asked("download") == []
    assert (world.dump(), world.blobs()) == (before, blobs)
    hub.fail("refresh", "500")
    with pytest.raises(BundleFaulty) as caught:
        planning.prepare(world.ctx, world.model, examine(shelf), Wishes())
    assert 'invalid placement syntax "x:1"' in caught.value.message


def test_trust_is_asked_for(world: TestController, shelf: Path) -> None:
    with pytest.raises(NotValid) as caught:
        prepare(world, shelf, trust=False)
    assert caught.value.message.endswith("consent to trust the following application(s):\n  - db")
    deploy(world, shelf, trust=False, force=True)
    assert world.application("db").trust is False


# --- export and compare -----------------------------------------------------------------------------------


def test_export_deploys_to_an_equal_model(world: TestController, shelf: Path, tmp_path: Path) -> None:
    deploy(world, shelf)
    expose.expose(
        world.ctx, world.model, ExposeOptions(application="web", endpoints=["db"], cidrs=["10.0.0.0/8"])
    )
    out = tmp_path / "out"
    text = exported(world, beside=out)
    assert text == EXPORTED
    (out / "bundle.yaml").write_text(text)
    other = add_model(world.ctx, AddModelOptions(name="other")).uuid
    spaces.add(world.ctx, other, "backend", [])
    prepared = planning.prepare(world.ctx, other, load(out), Wishes(trust=True))
    planning.carry_out(world.ctx, other, prepared)
    world.model = other
    assert exported(world, beside=tmp_path / "again") == text
    assert (out / "charms" / "web-0.charm").read_bytes() == (
        tmp_path / "again" / "charms" / "web-0.charm"
    ).read_bytes()
    assert planning.prepare(world.ctx, other, load(out), Wishes(trust=True)).changes == ()
    assert "charm: local:web-0\n" in exported(world)


EXPORTED = """\
default-base: ubuntu@22.04/stable
applications:
  db:
    charm: ./charms/db-0.charm
    num_units: 2
    to:
    - "0"
    - "1"
    expose: true
    storage:
      data: rootfs,1,2048M
    bindings:
      "": alpha
    trust: true
  log:
    charm: ./charms/log-0.charm
    bindings:
      "": alpha
  web:
    charm: ./charms/web-0.charm
    resources:
      site: ./resources/web/site.txt
    num_units: 3
    to:
    - "0"
    - "0"
    - "1"
    options:
      port: 8080
      title: a title
    annotations:
      gui-x: "10"
    constraints: mem=1024
    bindings:
      "": alpha
      cluster: alpha
      db: backend
machines:
  "0":
    constraints: mem=2048
    annotations:
      rack: a1
  "1": {}
relations:
- - log:host
  - web:juju-info
- - web:db
  - db:db
--- # overlay.yaml
applications:
  web:
    exposed-endpoints:
      db:
        expose-to-cidrs:
        - 10.0.0.0/8
"""


def test_uploaded_charm_deploys_where_it_is(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    (shelf / "bundle.yaml").write_text(
        "default-base: ubuntu@22.04\napplications: {again: {charm: 'local:web-0', num_units: 1}}"
    )
    assert deploy(world, shelf) == [
        "deploy application again from local on ubuntu@22.04/stable using web",
        "add unit again/0 to new machine 2",
    ]
    assert world.application("again").charm_url == "local:web-0"
    (shelf / "bundle.yaml").write_text("applications: {x: {charm: 'local:none-4'}}")
    with pytest.raises(NotFound, match='charm "local:none-4" not found'):
        prepare(world, shelf)


def test_offers_and_what_is_consumed(world: TestController, shelf: Path) -> None:
    users.add(world.ctx, "bob", "")
    over = """
applications:
  db: {offers: {rows: {endpoints: [db], acl: {bob: consume, admin: admin}}}}
"""
    told = deploy(world, shelf, over)
    assert [line for line in told if " offer " in line and "upload" not in line] == [
        "create offer rows using db:db",
        "grant user admin admin access to offer rows",
        "grant user bob consume access to offer rows",
    ]
    assert deploy(world, shelf, over) == []
    seller, text = world.model, exported(world)
    assert text.endswith(
        "--- # overlay.yaml\napplications:\n  db:\n    offers:\n"
        "      rows:\n        endpoints:\n        - db\n"
        "        acl:\n          admin: admin\n          bob: consume\n"
    )
    world.model = add_model(world.ctx, AddModelOptions(name="buyer")).uuid
    (shelf / "bundle.yaml").write_text(
        "default-base: ubuntu@22.04\napplications: {web: {charm: ./web, num_units: 1}}\n"
        "saas: {far: {url: admin/shop.rows}}\nrelations: [[web:db, far:db]]\n"
    )
    assert [line for line in deploy(world, shelf) if "far" in line] == [
        "consume offer far at admin/shop.rows",
        "add relation web:db - far:db",
    ]
    assert deploy(world, shelf) == []
    assert applied(world, shelf) == []
    with pytest.raises(
        BundleFaulty, match=r'saas "far" is home:admin/shop\.rows, not admin/shop\.none: remove-saas'
    ):
        prepare(world, shelf, "saas: {far: {url: admin/shop.none}}", equal=True)
    text = exported(world)
    assert "saas:\n  far:\n    url: home:admin/shop.rows\n" in text
    assert text.endswith("relations:\n- - web:db\n  - far:db\n")
    world.model, buyer = seller, world.model
    assert "remote-" not in exported(world)  # the relation is the other model's
    world.model = buyer
    (shelf / "bundle.yaml").write_text(
        "default-base: ubuntu@22.04\napplications: {web: {charm: ./web, num_units: 1}}"
    )
    pruned, _ = planning.with_removals(prepare(world, shelf), prune=True)
    assert [line for change in pruned.changes for line in change.lines] == ["remove saas far"]
    planning.carry_out(world.ctx, world.model, pruned)
    assert "saas" not in exported(world)


@pytest.mark.parametrize(
    ("over", "text"),
    [
        ("applications: {db: {offers: {o: {endpoints: [none]}}}}", 'application "db" has no "none" relation'),
        ("applications: {db: {offers: {o: {endpoints: [db], acl: {x: read}}}}}", 'user "x" not found'),
        ("applications: {db: {offers: {o: {endpoints: [db], acl: {admin: all}}}}}", '"all" offer access'),
        ("saas: {s: {url: admin/none.o}}", 'model "admin/none" not found'),
        ("saas: {s: {url: 'admin/shop.o:db'}}", "shouldn't include endpoint"),
    ],
)
def test_offers_that_are_refused(world: TestController, shelf: Path, over: str, text: str) -> None:
    before = world.dump()
    with pytest.raises((NotFound, NotValid)) as caught:
        deploy(world, shelf, over)
    assert text in caught.value.message
    assert world.dump() == before


# --- apply ------------------------------------------------------------------------------------------------

LESS = "applications: {web: {num_units: 1, to: ['0']}, log: null}\nrelations: []"


def test_apply_removes_only_what_it_may(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    settings_of_applications.set_config(
        world.ctx, world.model, ConfigOptions(application="web", values={"ratio": "0.5"})
    )
    (shelf / "bundle.yaml").write_text(BUNDLE.replace("- [web:db, db:db]\n", ""))
    made = prepare(world, shelf, LESS)
    same, left = planning.with_removals(made, prune=False)
    assert same.changes == ()
    assert left == [
        "- reset application options ratio of web",
        "- remove unit web/2",
        "- remove unit web/1",
        "- remove relation web:db - db:db",
        "- remove application log",
    ]
    pruned, left = planning.with_removals(made, prune=True)
    assert left == []
    planning.carry_out(world.ctx, world.model, pruned)
    assert world.applications() == ["db", "web"]
    assert world.units() == ["db/0", "db/1", "web/0"]
    facts = world.read(model_facts.read)
    assert facts.relations == []
    assert "ratio" not in facts.applications["web"].settings
    assert planning.with_removals(prepare(world, shelf, LESS), prune=True)[0].changes == ()


def applied(world: TestController, shelf: Path, over: str = "{}", *, prune: bool = False) -> list[str]:
    """Make the model equal to the bundle; return the lines of what was done."""
    prepared = prepare(world, shelf, over, equal=True)
    prepared, _ = planning.with_removals(prepared, prune=prune)
    planning.carry_out(world.ctx, world.model, prepared)
    return [line for change in prepared.changes for line in change.lines]


def test_apply_changes_resources_storage_and_bindings(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    assert applied(world, shelf) == []
    old = world.read(lambda tx: storage_instances.of_unit(tx, "db/0"))
    (shelf / "site.txt").write_text("another site")
    over = """
applications:
  web: {num_units: 4, bindings: {db: alpha, cluster: alpha}}
  db: {num_units: 3, storage: {data: "tmpfs,3G"}}
"""
    assert applied(world, shelf, "{}") == ["attach ./site.txt as resource site of web"]
    assert applied(world, shelf, over) == [
        "set storage of db to data=tmpfs,1,3072M for units to come",
        "bind web to alpha cluster=alpha db=alpha",
        "add unit db/2 to new machine 2",
        "add unit web/3 to new machine 2 to satisfy [db]",
    ]
    assert applied(world, shelf, over) == []
    assert deploy(world, shelf, over) == []
    facts = world.read(model_facts.read).applications
    assert facts["web"].uploads["site"] == hashlib.sha384(b"another site").hexdigest()
    assert set(facts["web"].endpoints_bound.values()) == {"alpha"}
    assert world.read(lambda tx: storage_instances.of_unit(tx, "db/0")) == old
    sizes = {
        unit: [
            world.read(
                lambda tx, item=item: storage_instances.backings(tx, storage_instances.get(tx, item.storage))
            )[0]
            for item in world.read(lambda tx, unit=unit: storage_instances.of_unit(tx, unit))
        ]
        for unit in ("db/0", "db/2")
    }
    assert {unit: [(item.pool, item.size) for item in found] for unit, found in sizes.items()} == {
        "db/0": [("rootfs", 2048)], "db/2": [("tmpfs", 3072)],
    }  # fmt: skip


def test_deploy_leaves_resources_storage_and_bindings(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    (shelf / "site.txt").write_text("another site")
    over = "applications: {web: {bindings: {db: alpha}}, db: {storage: {data: 'tmpfs,3G'}}}"
    before = world.dump()
    assert deploy(world, shelf, over) == []
    assert world.dump() == before


def test_apply_prunes_bindings_that_the_bundle_does_not_name(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    (shelf / "bundle.yaml").write_text(BUNDLE.replace("db: backend}", "cluster: alpha}"))
    assert applied(world, shelf) == []
    assert applied(world, shelf, prune=True) == ["bind web to db=alpha"]
    assert applied(world, shelf, prune=True) == []


def test_apply_forbids_a_space_and_leaves_it(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    over = "applications: {web: {constraints: 'spaces=^backend', bindings: {db: backend}}}"
    with pytest.raises(BundleFaulty, match='space "backend" is required but it\'s forbidden by constraint'):
        prepare(world, shelf, over.replace("db: backend", "'': backend"), equal=True)
    assert applied(world, shelf, over.replace("db: backend", "db: alpha")) == [
        'set constraints for web to "spaces=^backend"',
        "bind web to alpha db=alpha",
    ]
    assert applied(world, shelf, over.replace("db: backend", "db: alpha")) == []


def test_apply_names_all_that_it_can_never_do(world: TestController, shelf: Path) -> None:
    deploy(world, shelf)
    (shelf / "site.bin").write_text("x")
    over = """
applications:
  web:
    resources: {site: ./site.bin, none: 3}
    bindings: {"": backend, gone: alpha}
    options: {port: 8081}
  db:
    storage: {data: "nopool,1G", logs: 1G}
    resources: {site: 3}
"""
    before = world.dump()
    with pytest.raises(BundleFaulty) as caught:
        prepare(world, shelf, over, equal=True)
    found = [fault.text for fault in caught.value.faults]
    assert sorted(found) == sorted(APPLY_FAULTS), "\n".join(found)
    assert all(fault.place for fault in caught.value.faults)
    assert world.dump() == before
    with pytest.raises(BundleFaulty, match=r"file for resource .*no such file"):
        prepare(world, shelf, "applications: {web: {resources: {site: ./none.txt}}}", equal=True)
    with pytest.raises(BundleFaulty, match='resource "site" revision not found, provide via --resource'):
        prepare(world, shelf, "applications: {web: {resources: {site: 4}}}", equal=True)
    with pytest.raises(BundleFaulty, match="cannot use --constraints with subordinate application"):
        prepare(world, shelf, "applications: {log: {constraints: mem=1G}}", equal=True)


APPLY_FAULTS = [
    (
        'application "web" wants to bind endpoint "gone" to space "alpha", but the endpoint is not '
        "defined by the charm"
    ),
    'cannot validate application "db": charm "db" has no store called "logs"',
    'cannot validate application "db": pool "nopool" not found',
    'cannot validate application "db": unrecognized resource "site"',
    (
        'cannot validate application "web": changing default space to "backend" is not feasible: one or more '
        "deployed machines lack an address in this space"
    ),
    (
        'cannot validate application "web": resource "site": incorrect extension on resource upload '
        '"./site.bin", expected ".txt"'
    ),
    'cannot validate application "web": unrecognized resource "none"',
]


def test_plan_in_a_file(world: TestController, shelf: Path, tmp_path: Path) -> None:
    path, prepared = tmp_path / "plan.json", prepare(world, shelf)
    plan_files.write(path, world.model, prepared)
    plan = plan_files.read(path)
    plan_files.require_same(plan, world.model, prepare(world, shelf))
    with pytest.raises(NotValid, match="bundle or the flags are not those"):
        plan_files.require_same(plan, world.model, prepare(world, shelf, "applications: {log: null}"))
    with pytest.raises(NotValid, match="is for another model"):
        plan_files.require_same(plan, "other", prepared)
    world.deploy("other")
    with pytest.raises(NotValid, match="the model changed since the plan was made"):
        plan_files.require_same(plan, world.model, prepare(world, shelf))
    before = world.dump()
    with pytest.raises(NotValid, match="the model changed since the plan was made"):
        planning.carry_out(world.ctx, world.model, prepared, planning.same_model(prepared.facts.digest()))
    assert world.dump() == before


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "changes": []}', "[" * 100_000])
def test_files_that_are_no_plan(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(NotValid, match="is not a plan"):
        plan_files.read(path)
    path.write_text(json.dumps({"format": 1, "model-uuid": "x", "fingerprint": "y", "changes": [1]}))
    assert plan_files.read(path).changes == [1]


def test_model_that_changed_while_it_was_planned(world: TestController, shelf: Path) -> None:
    prepared = prepare(world, shelf)
    world.deploy("first")
    before = world.dump()
    with pytest.raises(NotValid, match="the model changed: machine 1 would be made, not 0"):
        planning.carry_out(world.ctx, world.model, prepared)
    assert world.dump() == before


def test_twenty_applications_are_quick(world: TestController, shelf: Path) -> None:
    apps = "".join(
        f"  a{number}: {{charm: ./{'web' if number % 2 else 'db'}, num_units: 3}}\n" for number in range(20)
    )
    relations = "".join(f"- [a{number}:db, a{number - 1}:db]\n" for number in range(1, 20, 2))
    (shelf / "bundle.yaml").write_text(
        f"default-base: ubuntu@22.04\napplications:\n{apps}relations:\n{relations}"
    )
    begin = time.perf_counter()
    prepared = prepare(world, shelf)
    planned = time.perf_counter()
    planning.carry_out(world.ctx, world.model, prepared)
    recorded = time.perf_counter()
    assert prepare(world, shelf).changes == ()
    again = time.perf_counter()
    assert len(world.units()) == 60
    assert (planned - begin, recorded - planned, again - recorded) < (1.5, 5.0, 5.0)  # far above the goal
