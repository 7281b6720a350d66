"""integrate, remove-relation, suspend-relation, resume-relation: what they take, say and refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.controller import TestController

AMBIGUOUS = (
    'ambiguous relation: "wordpress mysql" could refer to '
    '"wordpress:backup mysql:server"; "wordpress:db mysql:server"'
)


pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture
def lab(run: Run, built: Path, tmp_path: Path) -> Run:
    """Return `run` with the applications wordpress, mysql and riak (a peer relation, id 0)."""
    shutil.copytree(built, tmp_path / "data")
    return run


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """A data directory with these applications, to be copied."""
    world = TestController.build(tmp_path_factory.mktemp("lab"), packs)
    uses = {"db": {"interface": "mysql"}, "backup": {"interface": "mysql"}}
    gives = {"server": {"interface": "mysql"}}
    made = [
        packs.make("riak", config=None, peers={"ring": {"interface": "riak"}}),
        packs.make("wordpress", config=None, peers=None, requires=uses),
        packs.make("mysql", config=None, peers=None, provides=gives),
    ]
    for packed in made:
        world.deploy(packed.charm.name, packed=packed)
    return world.keep()


def relations(run: Run) -> list[str]:
    """Return the rows of the relations in `status --relations`, words only."""
    table = run("status", "--relations").out
    _, _, rows = table.partition("Integration provider")
    return [" ".join(row.split()) for row in rows.splitlines()[1:]]


def test_integrate_and_remove(lab: Run, settled: list[Any]) -> None:
    ended = lab("integrate", "wordpress:db", "mysql")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert settled == [["wordpress", "mysql"]]
    assert relations(lab) == [
        "mysql:server wordpress:db mysql regular joining",
        "riak:ring riak:ring riak peer joining",
    ]
    assert lab("remove-relation", "mysql", "wordpress").err == ""
    assert sorted(settled.pop()) == ["mysql", "wordpress"]
    assert relations(lab) == ["riak:ring riak:ring riak peer joining"]


def test_relate_is_integrate(lab: Run, settled: list[Any]) -> None:
    assert lab("relate", "mysql", "wordpress:db", "--no-wait").status == 0
    assert settled == ["no-wait"]


def test_twice_is_told_in_three_parts(lab: Run, settled: list[Any]) -> None:
    lab("integrate", "wordpress:db", "mysql")
    settled.clear()
    ended = lab("integrate", "mysql:server", "wordpress:db")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        'ERROR cannot add relation "wordpress:db mysql:server"\n'
        "relation wordpress:db mysql:server (already exists):\n"
        "\n"
        "Use 'pushjuju status --relations' to view the current relations.\n"
    )
    assert settled == []


def test_suspend_and_resume(lab: Run, settled: list[Any]) -> None:
    lab("integrate", "wordpress:db", "mysql")
    lab("integrate", "wordpress:backup", "mysql")
    ended = lab("suspend-relation", "1, 2", "--message", "maintenance window")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert settled.pop() == ["mysql", "wordpress"]
    assert relations(lab)[:2] == [
        "mysql:server wordpress:backup mysql regular suspending maintenance window",
        "mysql:server wordpress:db mysql regular suspending maintenance window",
    ]
    assert lab("resume-relation", "1", "2", "--no-wait").err == ""
    assert settled.pop() == "no-wait"
    assert relations(lab)[0] == "mysql:server wordpress:backup mysql regular joining"


def test_a_relation_goes_by_its_id(lab: Run, settled: list[Any]) -> None:
    lab("integrate", "wordpress:db", "mysql")
    assert lab("remove-relation", "1", "--force", "--no-wait").status == 0
    assert len(relations(lab)) == 1
    assert lab("remove-relation", "1").err == "ERROR relation 1 not found\n"


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["integrate"], 2, "an integration must involve two applications"),
        (["integrate", "a"], 2, "an integration must involve two applications"),
        (["integrate", "a", "b", "c"], 2, "an integration must involve two applications"),
        (["integrate", "wordpress:", "mysql"], 2, 'endpoint "wordpress:" not valid'),
        (["integrate", "wordpress", "My:server"], 2, 'application name "My" not valid'),
        (["integrate", "wordpress", "mysql", "--via", "0.0.0.0/0"], 2, 'CIDR "0.0.0.0/0" not allowed'),
        (["integrate", "wordpress", "mysql", "--via", "10.0.0.0/8,x"], 2, "invalid CIDR address: x"),
        (
            ["integrate", "wordpress:db", "mysql", "--via", "10.0.0.0/8"],
            1,
            "integration via subnets for non cross model relations not supported",
        ),
        (["integrate", "wordpress", "oracle"], 1, 'application "oracle" not found'),
        (["integrate", "wordpress:cache", "mysql"], 1, 'application "wordpress" has no "cache" relation'),
        (["integrate", "riak", "mysql"], 1, "no relations found"),
        (
            ["integrate", "wordpress", "mysql"],
            1,
            AMBIGUOUS,
        ),
        (["remove-relation"], 2, "a relation must involve two applications"),
        (["remove-relation", "a", "b", "c"], 2, "a relation must involve two applications"),
        (["remove-relation", "mysql"], 2, 'relation ID "mysql" not valid'),
        (["remove-relation", "-1"], 2, "option provided but not defined: -1"),
        (["remove-relation", "٣"], 2, 'relation ID "٣" not valid'),
        (["remove-relation", str(2**63)], 2, f'relation ID "{2**63}" not valid'),
        (["remove-relation", "wordpress", "My"], 2, 'application name "My" not valid'),
        (["remove-relation", "0", "--no-wait"], 2, "--no-wait without --force not valid"),
        (["remove-relation", "7"], 1, "relation 7 not found"),
        (["remove-relation", "wordpress", "mysql"], 1, 'relation matching "wordpress mysql" not found'),
        (["remove-relation", "0"], 1, 'cannot destroy relation "riak:ring": is a peer relation'),
        (["suspend-relation"], 2, "no relation ids specified"),
        (["suspend-relation", "0,x"], 2, 'relation ID "x" not valid'),
        (["suspend-relation", "0,"], 2, 'relation ID "" not valid'),
        (["suspend-relation", "7"], 1, "relation 7 not found"),
        (["suspend-relation", "0"], 1, 'cannot suspend relation "riak:ring": is a peer relation'),
        (["resume-relation"], 2, "no relation ids specified"),
        (["resume-relation", "7"], 1, "relation 7 not found"),
    ],
)
def test_refusals(lab: Run, settled: list[Any], words: list[str], status: int, text: str) -> None:
    before = relations(lab)
    ended = lab(*words)
    assert (ended.status, ended.out, ended.err) == (status, "", f"ERROR {text}\n")
    assert relations(lab) == before
    assert settled == []


def test_an_ambiguous_removal_names_the_relations(lab: Run) -> None:
    lab("integrate", "wordpress:db", "mysql")
    lab("integrate", "wordpress:backup", "mysql")
    assert lab("remove-relation", "wordpress", "mysql").err == f"ERROR {AMBIGUOUS}\n"


def test_status_document_names_relations(lab: Run) -> None:
    lab("integrate", "wordpress:db", "mysql")
    document = json.loads(lab("status", "--format", "json").out)["applications"]
    assert document["wordpress"]["relations"] == {
        "db": [{"related-application": "mysql", "interface": "mysql", "scope": "global"}]
    }
    assert document["mysql"]["relations"]["server"][0]["related-application"] == "wordpress"
