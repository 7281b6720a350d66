"""deploy and config on a model of another computer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse


@pytest.fixture
def charm(packs: Charms) -> str:
    """The path of a charm archive with a resource."""
    made = packs.make("web", resources={"page": {"type": "file", "filename": "page.txt"}})
    return str(made.path)


def test_a_charm_of_this_computer_is_sent_and_deployed(
    kim: Home, house: TestController, charm: str, tmp_path: Path
) -> None:
    page = tmp_path / "index.txt"
    page.write_text("hello")
    words = ("--config", "port=8080", "--resource", f"page={page}", "-n", "2", "--constraints", "mem=2G")
    ended = kim("deploy", charm, "front", *words)
    assert ended.status == 0, ended.err
    assert 'Deploying "front" from local charm "web", revision 0 on ubuntu@22.04/stable' in ended.err
    assert house.units() == ["front/0", "front/1"]
    house.settle()
    assert ok(kim("config", "front", "port")) == "8080\n"


def test_a_second_deploy_gets_the_next_revision(kim: Home, charm: str) -> None:
    ok(kim("deploy", charm))
    ended = kim("deploy", charm, "again", "--to", "0", "--base", "ubuntu@22.04", "--trust")
    assert 'Deploying "again" from local charm "web", revision 1 on ubuntu@22.04/stable' in ended.err
    assert ok(kim("config", "again", "trust")) == "true\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--config", "nothing=1"), 'unknown option "nothing"'),
        (
            ("--resource", "page=/nowhere"),
            'file for resource "page": open /nowhere: no such file or directory',
        ),
        (("--resource", "nothing=/nowhere"), 'charm "web" has no resource "nothing"'),
        (("--to", "ssh:10.0.0.9"), "a machine is taken into a model only on the host of the controller"),
        (("--base", "ubuntu@18.04"), "ubuntu@18.04"),
        (("--dry-run",), "--dry-run of a local charm works only on the host of the controller"),
    ],
)
def test_a_deploy_that_is_refused_says_why(
    kim: Home, house: TestController, charm: str, words: tuple[str, ...], text: str
) -> None:
    ended = kim("deploy", charm, *words)
    assert ended.status != 0
    assert text in ended.err
    assert house.applications() == []


def test_a_bundle_is_for_the_host(kim: Home, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.yaml"
    bundle.write_text("applications: {}\n")
    assert f"there: pushjuju deploy {bundle}" in kim("deploy", str(bundle)).err


def test_config_is_what_config_shows_on_the_host(
    kim: Home, house: TestController, served: ServedHouse
) -> None:
    house.active("web")
    for form in ("yaml", "json"):
        assert ok(kim("config", "web", "--format", form)) == ok(
            served.host("config", "web", "--format", form)
        )


def test_config_sets_resets_and_reads_a_file(kim: Home, house: TestController, tmp_path: Path) -> None:
    house.active("web")
    file = tmp_path / "web.yaml"
    file.write_text("web: {title: from a file}\n")
    ok(kim("config", "web", "port=81", "debug=true"))
    ok(kim("config", "web", "--file", str(file)))
    ok(kim("config", "web", "--reset", "port"))
    shown = json.loads(ok(kim("config", "web", "--format", "json")))["settings"]
    assert {name: shown[name].get("value") for name in ("port", "debug", "title")} == {
        "port": 80, "debug": True, "title": "from a file",
    }  # fmt: skip
    assert house.of("web/0")[-1] != "config-changed"
    house.settle()
    assert house.of("web/0")[-1] == "config-changed"


def test_a_user_who_may_only_read_changes_nothing(
    kim: Home, house: TestController, served: ServedHouse, charm: str
) -> None:
    house.active("web")
    ok(served.host("revoke", "kim", "write", "shop"))
    ended = kim("config", "web", "port=81")
    assert ended.status == 1
    assert "ERROR permission denied\nask an administrator" in ended.err
    assert "ERROR permission denied" in kim("deploy", charm, "other").err
    ok(kim("config", "web"))
