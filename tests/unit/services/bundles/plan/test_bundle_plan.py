"""Plans: Juju's steps, order, numbers and words, from a bundle and a model as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.storage import Directive
from pushjuju.services.bundles.plan import machines
from pushjuju.services.bundles.plan.as_bundle import Options, export
from pushjuju.services.bundles.plan.changes import Change, Draft, Method
from pushjuju.services.bundles.plan.diff import diff
from pushjuju.services.bundles.plan.equal import fixed
from pushjuju.services.bundles.plan.facts import (
    ApplicationFacts,
    MachineFacts,
    ModelFacts,
    OfferFacts,
    UnitFacts,
)
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.plan.plan import ResolvedCharm, Wanted, plan
from pushjuju.services.bundles.plan.prune import kept, removals
from pushjuju.services.bundles.read.values import Bundle, Exposed
from tests.unit.services.bundles.read.test_load import made

JAMMY = "ubuntu@22.04/stable"


def bundle(text: str, *overlays: str) -> Bundle:
    """Return a bundle of a text."""
    return made(text, *overlays).bundle


def steps(text: str | Bundle, model: ModelFacts | None = None, **more: Any) -> tuple[Change, ...]:
    """Return the plan for a bundle whose charms are all found."""
    found = text if isinstance(text, Bundle) else bundle(text)
    charms = {
        name: ResolvedCharm(
            name=app.charm_name.rpartition("/")[2].removeprefix("local:"),
            base=JAMMY,
            channel="" if app.is_local else app.channel or "latest/stable",
            revision=-1 if app.is_local else 7,
        )
        for name, app in found.applications.items()
    }
    wanted = {"bundle": found, "charms": charms, **more}
    return plan(Wanted(**wanted), model or ModelFacts())


def lines(text: str | Bundle, model: ModelFacts | None = None, **more: Any) -> list[str]:
    """Return what people read of a plan."""
    return [line for change in steps(text, model, **more) for line in change.lines]


def app(name: str, *units: str, **more: Any) -> ApplicationFacts:
    """Return an application that is there; units as `NUMBER@MACHINE`."""
    plain = {
        "charm": "mysql",
        "origin": "charm-hub",
        "channel": "latest/stable",
        "revision": 7,
        "base": JAMMY,
    }
    placed = [
        UnitFacts(name=f"{name}/{unit.partition('@')[0]}", machine=unit.partition("@")[2]) for unit in units
    ]
    return ApplicationFacts(name=name, units=placed, **{**plain, **more})


def model(*apps: ApplicationFacts, **more: Any) -> ModelFacts:
    """Return a model with the machines of its units, numbered as they would be."""
    used = {unit.machine.partition("/")[0] for item in apps for unit in item.units}
    known = {name: MachineFacts(id=name, base=JAMMY) for name in {*used, *more.pop("hosts", ())}}
    numbers: Mapping[str, int] = {
        "machine": max([int(name) + 1 for name in known] or [0]),
        **{
            f"application-{item.name}": max(
                [int(unit.name.partition("/")[2]) + 1 for unit in item.units] or [0]
            )
            for item in apps
        },
    }
    return ModelFacts(
        applications={item.name: item for item in apps}, machines=known, sequences=numbers, **more
    )


def test_sample_of_juju() -> None:
    text = """
applications:
  db: {charm: postgresql, channel: 14/stable, revision: 468, num_units: 2, to: ["0"], expose: true}
  pgbouncer: {charm: pgbouncer, channel: 1/stable}
machines: {"0": null}
relations: [[pgbouncer:backend-database, db:database]]
"""
    assert lines(text) == [
        (
            "upload charm postgresql from charm-hub for base ubuntu@22.04/stable with revision 468 "
            "with architecture=amd64"
        ),
        "deploy application db from charm-hub on ubuntu@22.04/stable with 14/stable using postgresql",
        "expose all endpoints of db and allow access from CIDRs 0.0.0.0/0 and ::/0",
        (
            "upload charm pgbouncer from charm-hub for base ubuntu@22.04/stable from channel 1/stable "
            "with architecture=amd64"
        ),
        "deploy application pgbouncer from charm-hub on ubuntu@22.04/stable with 1/stable",
        "add new machine 0",
        "add relation pgbouncer:backend-database - db:database",
        "add unit db/0 to new machine 0",
        "add unit db/1 to new machine 1",
    ]


def test_steps_are_data() -> None:
    text = "applications: {a: {charm: /x/mysql, num_units: 1, options: {x: 1, trust: true}, to: ['4']}}\n"
    text += "machines: {4: {constraints: mem=1G, annotations: {k: v}}}"
    found = steps(bundle_without_path(text))
    assert [change.to_wire() for change in found] == [
        {
            "id": "addCharm-0", "method": "addCharm", "requires": [],
            "args": {"charm": "local:mysql-1", "base": JAMMY, "architecture": "amd64"},
            "description": ["upload charm mysql-1 for base ubuntu@22.04/stable with architecture=amd64"],
        },
        {
            "id": "deploy-1", "method": "deploy", "requires": ["addCharm-0"],
            "args": {
                "application": "a", "charm": "$addCharm-0", "base": JAMMY, "options": {"x": 1}, "trust": True,
            },
            "description": ["deploy application a from local on ubuntu@22.04/stable using mysql-1"],
        },
        {
            "id": "addMachines-2", "method": "addMachines", "requires": [],
            "args": {"machine": "0", "constraints": "mem=1G"},
            "description": ["add new machine 0 (bundle machine 4)"],
        },
        {
            "id": "setAnnotations-3", "method": "setAnnotations", "requires": ["addMachines-2"],
            "args": {"entity-type": "machine", "id": "0", "annotations": {"k": "v"}},
            "description": ["set annotations for new machine 0"],
        },
        {
            "id": "addUnit-4", "method": "addUnit", "requires": ["deploy-1", "addMachines-2"],
            "args": {"application": "a", "unit": "a/0", "machine": "0", "to": "$addMachines-2"},
            "description": ["add unit a/0 to new machine 0"],
        },
    ]  # fmt: skip


def bundle_without_path(text: str) -> Bundle:
    """Return a bundle whose charm is one that was uploaded."""
    return bundle(text.replace("/x/mysql", "local:mysql-1"))


@pytest.mark.parametrize(
    ("to", "units", "told"),
    [
        ("[]", 2, ["new machine 2", "new machine 3"]),
        ("[new]", 2, ["new machine 2", "new machine 3"]),
        ("['0']", 2, ["new machine 0", "new machine 2"]),
        ("[b]", 3, ["new machine 0 to satisfy [b]", "new machine 1 to satisfy [b]", "new machine 2"]),
        ("[b/1, b/0]", 2, ["new machine 1 to satisfy [b/1]", "new machine 0 to satisfy [b/0]"]),
        ("[lxd:0, lxd:b]", 2, ["0/lxd/0", "0/lxd/1 to satisfy [lxd:b]"]),
        ("[lxd:b/1, lxd:new]", 2, ["1/lxd/0 to satisfy [lxd:b/1]", "2/lxd/0"]),
    ],
)
def test_placements(to: str, units: int, told: list[str]) -> None:
    text = f"""
applications:
  a: {{charm: mysql, num_units: {units}, to: {to}}}
  b: {{charm: mysql, num_units: 2, to: ["0", "1"]}}
machines: {{"0": null, "1": null}}
"""
    found = [line for line in lines(text) if line.startswith("add unit a/")]
    assert found == [f"add unit a/{number} to {text}" for number, text in enumerate(told)]


def test_placements_in_a_circle() -> None:
    text = "applications: {a: {charm: x, num_units: 1, to: [b]}, b: {charm: x, num_units: 1, to: [a]}}"
    with pytest.raises(NotValid, match="cycle in placement directives for: a, b"):
        steps(text)


def test_spaces_of_bindings_bind_new_machines() -> None:
    text = """
applications:
  a: {charm: x, num_units: 1, to: [new], constraints: "mem=1G spaces=b10,^c", bindings: {"": b2, db: a}}
"""
    added = next(change for change in steps(text) if change.method is Method.ADD_MACHINES)
    assert added.args["constraints"] == "spaces=a,b2,b10,^c mem=1024M"
    with pytest.raises(NotValid, match='space "a" is required but it\'s forbidden by constraint'):
        steps(text.replace("^c", "^a"))


# --- onto what is there -----------------------------------------------------------------------------------

ONE = "applications: {a: {charm: mysql, num_units: 2, to: ['3', '4']}}\nmachines: {3: null, 4: null}"


def test_nothing_to_do() -> None:
    text = ONE + "\nrelations: [[a, b:db]]"
    text = text.replace("}}\nm", "}, b: {charm: ch:mysql}}\nm")
    there = model(app("a", "0@0", "5@1"), app("b"), relations=[("b:db", "a:db")])
    assert steps(text, there) == ()


def test_units_and_machines_that_are_missing() -> None:
    assert lines(ONE, model(app("a", "1@0"))) == [
        "add new machine 1 (bundle machine 4)",
        "add unit a/2 to new machine 1",
    ]
    assert lines(ONE, model(app("a", "1@3"))) == ["add new machine 4", "add unit a/2 to new machine 4"]
    assert lines(ONE, model(app("a", "0@0", "1@1", "2@2"))) == []


def test_machines_are_mapped() -> None:
    there = model(hosts=("0", "3", "4"))
    text = lines(ONE, there, mapping=machines.parse("existing,4=0"))
    assert text[-2:] == ["add unit a/0 to existing machine 3", "add unit a/1 to existing machine 0"]
    assert machines.parse("3=5,4=0").pairs == {"3": "5", "4": "0"}
    with pytest.raises(NotValid, match='expected "existing" or "<bundle-id>=<machine-id>", got "x"'):
        machines.parse("x")
    with pytest.raises(NotValid, match='machine-id "0/lxd/1" is not a top level machine id'):
        machines.parse("1=0/lxd/1")


def test_machine_that_nothing_uses() -> None:
    text = ONE.replace("num_units: 2", "num_units: 2").replace("'4'", "'3'")
    text = "applications: {a: {charm: mysql, num_units: 1, to: ['7']}}\nmachines: {7: null}"
    with pytest.raises(NotValid) as caught:
        steps(text, model(app("a", "0@0"), hosts=("0",)), mapping=machines.parse("3=0"))
    assert caught.value.message == (
        'bundle and machine mapping are inconsistent: need an explicit entry mapping bundle machine "7", '
        'perhaps to unreferenced model machine "0" - the target should host [a]'
    )


def test_changes_of_what_is_there() -> None:
    text = """
applications:
  a:
    charm: mysql
    options: {x: 1, y: new, z: 2.0, same: text}
    constraints: mem=1G
    expose: true
    annotations: {k: v, old: same}
"""
    there = app(
        "a", settings={"x": 1}, effective={"x": 1, "y": "old", "z": 2, "same": "text"},
        constraints={"mem": 512}, annotations={"old": "same"},
    )  # fmt: skip
    found = steps(text, model(there))
    assert [line for change in found for line in change.lines] == [
        "set application options for a",
        'set constraints for a to "mem=1G"',
        "expose all endpoints of a and allow access from CIDRs 0.0.0.0/0 and ::/0",
        "set annotations for a",
    ]
    assert found[0].args["options"] == {"y": "new"}
    assert found[3].args["annotations"] == {"k": "v"}


def test_exposures_of_endpoints() -> None:
    over = """
applications:
  a:
    exposed-endpoints:
      "": {expose-to-cidrs: [0.0.0.0/0]}
      www: {expose-to-cidrs: [10.1.0.0/16, 10.0.0.0/16]}
      admin: {expose-to-cidrs: [10.0.0.0/16, 10.1.0.0/16]}
      dmz: {expose-to-spaces: [lan], expose-to-cidrs: [10.0.0.0/8]}
"""
    text = "applications: {a: {charm: mysql}}"
    there = model(app("a", exposed=True, exposures={"": Exposed(cidrs=("0.0.0.0/0", "::/0"))}))
    assert lines(bundle(text, over), there) == [
        "expose all endpoints of a and allow access from CIDR 0.0.0.0/0",
        (
            "override expose settings for endpoints admin,www of a and allow access from CIDRs "
            "10.0.0.0/16,10.1.0.0/16"
        ),
        "override expose settings for endpoint dmz of a and allow access from space lan and CIDR 10.0.0.0/8",
    ]


@pytest.mark.parametrize(
    ("charm", "known", "outcome"),
    [
        ("charm: mysql", {}, ""),
        ("charm: mysql", {"revision": 6}, "upgrade"),
        ("charm: mysql", {"revision": 8}, "downgrades are not currently supported: deployed revision 8"),
        ("charm: mysql, channel: edge", {}, r'\(existing: "latest/stable", requested: "edge"\); use --force'),
        (
            "charm: mysql",
            {"channel": "edge"},
            r'\(existing: "edge", resolved: "latest/stable"\); use --force',
        ),
        ("charm: mysql, channel: edge", {"channel": ""}, 'when the channel for "a" is unknown'),
        ("charm: other", {}, "upgrade"),
        ("charm: mysql", {"revision": -1}, ""),
        ("charm: local:mysql-3", {"charm": "local:mysql-1"}, ""),
    ],
)
def test_upgrades(charm: str, known: Mapping[str, Any], outcome: str) -> None:
    text, there = f"applications: {{a: {{{charm}}}}}", model(app("a", **known))
    if outcome in ("", "upgrade"):
        found = [change for change in steps(text, there) if change.method is Method.UPGRADE_CHARM]
        assert bool(found) == bool(outcome)
        return
    with pytest.raises(NotValid, match=outcome):
        steps(text, there)
    assert steps(text, there, force=True) is not None if "downgrade" not in outcome else True


def test_saas_and_offers() -> None:
    text = """
applications: {a: {charm: mysql}, b: {charm: mysql}}
saas: {far: {url: admin/other.far}, near: {url: admin/other.near}}
relations: [[far:db, a:db], [near:db, b:db]]
"""
    over = """
applications:
  a: {offers: {o: {endpoints: [db], acl: {bob: read, al: admin}}, p: {endpoints: [db]}}}
"""
    there = model(
        app("a", offers={"o": OfferFacts(endpoints=("x",), acl={"al": "admin"})}),
        saas={"near": "admin/other.near"},
    )
    found = [line for line in lines(bundle(text, over), there) if "upload" not in line]
    assert found == [
        "deploy application b from charm-hub on ubuntu@22.04/stable using mysql",
        "consume offer far at admin/other.far",
        "update offer o using a:db",
        "grant user bob read access to offer o",
        "create offer p using a:db",
        "add relation far:db - a:db",
        "add relation near:db - b:db",
    ]


def test_steps_that_need_each_other() -> None:
    draft = Draft()
    draft.add(Method.EXPOSE, {}, "x", requires=["expose-1"])
    draft.add(Method.EXPOSE, {}, "y", requires=["expose-0"])
    with pytest.raises(NotValid, match="sort failed"):
        draft.sorted()


# --- export, diff, removals -------------------------------------------------------------------------------


def test_export_has_what_deploys_again() -> None:
    """Storage that no unit gets is left out: its directive would mean one instance."""
    there = model(
        app("a", "0@0", "1@1/lxd/0", constraints={"mem": 1024, "cores": 2, "arch": "amd64"}, exposed=True,
            exposures={"": Exposed(cidrs=("0.0.0.0/0", "::/0"))}, settings={"x": 1},
            effective={"x": 1, "y": None}, declared=("x", "y"), trust=True,
            storage={"data": ("rootfs", 2048, 1), "logs": ("ebs", 1024, 3), "spare": ("ebs", 1024, 0)},
            resources={"r": 4, "u": -1},
            endpoints_bound={"": "alpha", "db": "dmz"}, annotations={"k": "v"}),
        app("sub", charm="local:sub-3", subordinate=True, base="ubuntu@24.04/stable", exposed=True,
            exposures={"web": Exposed(spaces=("dmz",))},
            offers={"o": OfferFacts(endpoints=("b", "a"), acl={"x": "read"})}),
        relations=[("a:z", "sub:z"), ("a:juju-info", "sub:host")], saas={"s": "admin/m.s"},
    )  # fmt: skip
    document, overlay = export(there, Options())
    assert list(document) == ["default-base", "saas", "applications", "machines", "relations"]
    assert document["applications"]["a"] == {
        "charm": "mysql", "channel": "latest/stable", "revision": 7, "base": JAMMY, "resources": {"r": 4},
        "num_units": 2, "to": ["0", "lxd:1"], "expose": True, "options": {"x": 1}, "annotations": {"k": "v"},
        "constraints": "arch=amd64 cpu-cores=2 mem=1024",
        "storage": {"data": "rootfs,1,2048M", "logs": "ebs,3,1024M"},
        "bindings": {"": "alpha", "db": "dmz"}, "trust": True,
    }  # fmt: skip
    assert document["applications"]["sub"] == {"charm": "local:sub-3", "bindings": {"": "alpha"}}
    assert document["machines"]["0"] == {"base": JAMMY}
    assert document["relations"] == [["a:juju-info", "sub:host"], ["a:z", "sub:z"]]
    assert overlay == {
        "applications": {
            "sub": {
                "exposed-endpoints": {"web": {"expose-to-spaces": ["dmz"]}},
                "offers": {"o": {"endpoints": ["a", "b"], "acl": {"x": "read"}}},
            }
        }
    }
    full, _ = export(there, Options(defaults=True, series=True))
    assert full["applications"]["a"]["options"] == {"x": 1, "y": None}
    assert (full["series"], full["applications"]["a"]["series"]) == ("noble", "jammy")
    with pytest.raises(NotValid, match="nothing to export as there are no applications"):
        export(ModelFacts(), Options())


def test_diff_as_juju_shows_it() -> None:
    text = """
applications:
  db: {charm: mysql, channel: latest/stable, revision: 7, num_units: 3, to: [], options: {profile: testing},
       constraints: cores=4, annotations: {k: v}}
  monitor: {charm: mysql, expose: true}
machines: {}
relations: [[db:juju-info, monitor:host]]
"""
    there = model(
        app("db", "0@4", "1@5", constraints={"cores": 2}, effective={"profile": "production", "none": None}),
        app("cache"),
        relations=[("db:x", "cache:x")],
    )
    found = diff(bundle(text), there, mapping=MachineMap())
    assert found == {
        "applications": {
            "cache": {"missing": "bundle"},
            "db": {
                "num_units": {"bundle": 3, "model": 2},
                "options": {"profile": {"bundle": "testing", "model": "production"}},
                "constraints": {"bundle": "cores=4", "model": "cores=2"},
            },
            "monitor": {"missing": "model"},
        },
        "relations": {
            "bundle-additions": [["db:juju-info", "monitor:host"]],
            "model-additions": [["cache:x", "db:x"]],
        },
    }
    placed = text.replace("to: []", "to: ['1', '2', '3']").replace(
        "machines: {}", "machines: {1: , 2: , 3: }"
    )
    more = model(app("db", "0@4"), app("cache", "0@5"), hosts=("6",))
    machines = diff(bundle(placed), more, mapping=MachineMap())["machines"]
    assert {name: side for name, side in machines.items() if side == {"missing": "bundle"}}.keys() == {
        "4",
        "5",
        "6",
    }
    with_notes = diff(bundle(text), there, mapping=MachineMap(), annotations=True)
    assert with_notes["applications"]["db"]["annotations"] == {"k": {"bundle": "v", "model": ""}}
    same = "applications: {a: {charm: mysql, channel: latest/stable, revision: 7}}"
    defaults = model(app("a", effective={"profile": "production"}))
    assert diff(bundle(same), defaults, mapping=MachineMap()) == {}
    chosen = model(app("a", effective={"profile": "own"}, settings={"profile": "own"}))
    options = {"profile": {"bundle": None, "model": "own"}}
    assert diff(bundle(same), chosen, mapping=MachineMap()) == {"applications": {"a": {"options": options}}}
    assert diff(bundle(same), model(app("a")), mapping=MachineMap()) == {}


def test_removals() -> None:
    text = (
        "applications: {a: {charm: mysql, num_units: 1, to: ['0']}, b: {charm: mysql}}\nmachines: {0: null}"
    )
    there = model(
        app("a", "0@0", "2@1", "10@2", settings={"x": 1}, annotations={"k": "v"}, exposed=True,
            exposures={"": Exposed()}, offers={"o": OfferFacts()}, trust=True),
        app("b"), app("gone", "0@3"),
        relations=[("a:x", "b:x"), ("gone:x", "b:y")], hosts=("9",), saas={"s": "u"},
    )  # fmt: skip
    found = removals(bundle(text), there, mapping=MachineMap(), destroy_storage=True, start=5)
    assert [line for change in found for line in change.lines] == [
        "reset application options x of a",
        "remove annotations k of a",
        "unexpose a",
        "remove the trust in a",
        "remove offer o",
        "remove unit a/10",
        "remove unit a/2",
        "remove relation a:x - b:x",
        "remove saas s",
        "remove application gone",
        "  with unit gone/0",
        "remove machine 9",
    ]
    assert found[0].id == "resetOptions-5"
    assert all(item.args["destroy-storage"] for item in found if item.method is Method.REMOVE_UNIT)


def test_machines_stay_for_the_storage_on_them() -> None:
    """What a unit left behind keeps its machine, and only that; containers go before their machine."""
    text = bundle("applications: {a: {charm: mysql, num_units: 1}}")
    machines_ = {
        "1": MachineFacts(id="1", storage=("data/1",)),
        "2": MachineFacts(id="2", containers=("2/lxd/0", "2/lxd/1")),
    }
    there = replace(model(app("a", "0@0")), machines={"0": MachineFacts(id="0"), **machines_})
    lines = ["remove machine 2/lxd/1", "remove machine 2/lxd/0", "remove machine 2"]
    found = removals(text, there, mapping=MachineMap())
    assert [line for change in found for line in change.lines] == lines
    assert kept(text, there, mapping=MachineMap()) == ["remove machine 1", "  with storage data/1"]
    found = removals(text, there, mapping=MachineMap(), destroy_storage=True)
    listed = ["remove machine 1", "  with storage data/1", *lines]
    assert [line for change in found for line in change.lines] == listed
    assert found[0].args == {"machine": "1", "destroy-storage": True}


# --- what apply compares besides --------------------------------------------------------------------------

EQUAL = """
applications:
  a:
    charm: mysql
    resources: {blob: 2, site: ./site.txt}
    storage: {data: "ebs,2G", logs: 1G}
    bindings: {"": lan, db: alpha}
"""
SAME = {
    "resources": {"blob": 2, "site": -1},
    "uploads": {"site": "abc"},
    "storage": {"data": ("ebs", 2048, 1), "logs": ("rootfs", 1024, 1)},
    "endpoints_bound": {"": "lan", "db": "alpha", "www": "lan"},
}
FILES = {"a": {"site": "abc"}}


def test_equal_applications_are_left_alone() -> None:
    there = model(app("a", **SAME))
    assert steps(EQUAL, there, equal=True, files=FILES) == ()
    assert diff(bundle(EQUAL), there, mapping=MachineMap(), files=FILES) == {}
    plain = "applications: {a: {charm: mysql}}"  # says nothing of them
    assert steps(plain, there, equal=True) == ()


@pytest.mark.parametrize(
    ("known", "told", "args"),
    [
        (
            {"resources": {"blob": 1, "site": -1}},
            ["set resource blob of a to revision 2"],
            {"resources": {"blob": 2}},
        ),
        (
            {"resources": {"blob": -1, "site": 3}, "uploads": {"blob": "x"}},
            ["set resource blob of a to revision 2", "attach ./site.txt as resource site of a"],
            {"resources": {"blob": 2, "site": "./site.txt"}},
        ),
        (
            {"uploads": {"site": "abd"}},
            ["attach ./site.txt as resource site of a"],
            {"resources": {"site": "./site.txt"}},
        ),
        (
            {"storage": {"data": ("loop", 2048, 1), "logs": ("rootfs", 1024, 2)}},
            ["set storage of a to data=ebs,1,2048M logs=rootfs,1,1024M for units to come"],
            {"storage": {"data": "ebs,1,2048M", "logs": "rootfs,1,1024M"}},
        ),
        (
            {"endpoints_bound": {"": "alpha", "db": "alpha", "www": "alpha"}},
            ["bind a to lan db=alpha"],
            {"endpoint-bindings": {"": "lan", "db": "alpha"}},
        ),
        ({"endpoints_bound": {}}, ["bind a to lan db=alpha"], {}),
    ],
)
def test_unequal_applications_are_changed(
    known: Mapping[str, Any], told: list[str], args: Mapping[str, Any]
) -> None:
    there = model(app("a", **{**SAME, **known}))
    (found,) = steps(EQUAL, there, equal=True, files=FILES)
    assert list(found.lines) == told
    assert {"application": "a", **args}.items() <= found.args.items()
    assert steps(EQUAL, there, files=FILES) == ()  # deploy is Juju's


def test_directives_that_are_given_besides_win() -> None:
    given = {"a": {"logs": Directive.parse("ebs,3")}}
    told = lines(EQUAL, model(app("a", **SAME)), equal=True, files=FILES, storage=given)
    assert told == ["set storage of a to logs=ebs,3,1024M for units to come"]


def test_a_newer_charm_brings_its_resources_along() -> None:
    there = model(app("a", **{**SAME, "revision": 6, "resources": {}, "endpoints_bound": {}}))
    found = steps(EQUAL, there, equal=True, files=FILES)
    assert [change.method for change in found] == [Method.ADD_CHARM, Method.UPGRADE_CHARM, Method.BIND]
    assert found[1].args["resources"] == {"blob": 2, "site": "./site.txt"}
    assert found[2].requires == (found[1].id,)


def test_diff_of_what_juju_does_not_compare() -> None:
    known = {"resources": {"blob": -1}, "uploads": {"blob": "x"}, "endpoints_bound": {}, "trust": True}
    there = model(app("a", **{**SAME, **known, "storage": {"data": ("ebs", 1024, 2)}}))
    found = diff(bundle(EQUAL), there, mapping=MachineMap())["applications"]["a"]
    assert {key: found[key] for key in ("resources", "storage", "bindings", "trust")} == {
        "resources": {
            "blob": {"bundle": 2, "model": "uploaded"},
            "site": {"bundle": "./site.txt", "model": ""},
        },
        "storage": {
            "data": {"bundle": "ebs,2G", "model": "ebs,2,1024M"},
            "logs": {"bundle": "1G", "model": ""},
        },
        "bindings": {"": {"bundle": "lan", "model": "alpha"}},
        "trust": {"bundle": False, "model": True},
    }


def test_exposures_that_a_bundle_does_not_name_are_no_step() -> None:
    """Exposing adds to what is there, so it would come again each time; taking away is for --prune."""
    text = bundle("applications: {a: {charm: mysql, expose: true}}")
    everywhere = Exposed(cidrs=("0.0.0.0/0", "::/0"))
    there = model(app("a", exposed=True, exposures={"": everywhere, "db": Exposed(spaces=("lan",))}))
    assert lines(text, there) == []
    found = removals(text, there, mapping=MachineMap())
    assert [line for change in found for line in change.lines] == ["unexpose endpoints db of a"]


def test_removals_of_what_a_bundle_says_less_of() -> None:
    over = "applications: {a: {offers: {o: {endpoints: [db], acl: {bob: read}}}}}"
    text = (
        "applications: {a: {charm: mysql, num_units: 1, to: ['0'], bindings: {db: lan}}}\nmachines: {0: {}}"
    )
    acl = {"admin": "admin", "bob": "admin", "eve": "consume"}
    there = model(
        app("a", "0@0", annotations={"bundleURL": "x"}, offers={"o": OfferFacts(endpoints=("db",), acl=acl)},
            endpoints_bound={"": "alpha", "db": "lan", "www": "lan", "x": "alpha"}),
    )  # fmt: skip
    there = replace(there, machines={"0": MachineFacts(id="0", annotations={"rack": "a"})})
    found = removals(bundle(text, over), there, mapping=MachineMap(), store_bundle="ch:bundle/b-1")
    assert [line for change in found for line in change.lines] == [
        "bind a to www=alpha",
        "revoke consume access to offer o from user bob",
        "revoke read access to offer o from user eve",
        "remove annotations rack of machine 0",
    ]
    assert [line for line in lines(bundle(text, over), there) if "grant" in line] == []


def test_what_nothing_can_change_is_told() -> None:
    text = bundle("""
default-base: ubuntu@24.04
applications:
  a: {charm: mysql, num_units: 1, to: ["0"]}
  b: {charm: mysql}
  c: {charm: mysql}
  d: {charm: mysql, base: ubuntu@24.04}
machines: {"0": {constraints: mem=4G cores=2}}
""")
    paths = {name: replace(text.applications[name], charm=f"/x/{name}") for name in "bcd"}
    text = replace(text, applications={**text.applications, **paths})
    there = model(app("a", "0@0"), app("b"), app("c", charm="local:c-0"), app("d", charm="local:d-0"))
    there = replace(there, machines={"0": MachineFacts(id="0", base=JAMMY, constraints={"cores": 2})})
    noble = "ubuntu@24.04/stable"
    assert fixed(text, there, MachineMap()) == [
        f"the base of application a is {JAMMY}, not {noble}",
        "the charm of application b is mysql, not /x/b (pushjuju refresh b --path PATH)",
        f"the base of application d is {JAMMY}, not {noble}",
        f"the base of machine 0 is {JAMMY}, not {noble}",
        'the constraints of machine 0 are "cores=2", not "mem=4G cores=2"',
    ]
