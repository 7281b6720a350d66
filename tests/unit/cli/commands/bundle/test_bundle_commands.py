"""deploy, diff-bundle, export-bundle and apply on the command line, with charms of files and of a store."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.charms_tools.hubstore import JAMMY, HubStore
from tests.world.charms import Charms
from tests.world.commandline import Run, ok

RESOURCE = {"blob": {"type": "file", "filename": "blob.txt"}}
STORE = """\
default-base: ubuntu@22.04
applications:
  front: {charm: web, channel: stable, num_units: 2, resources: {blob: 1}, options: {port: 81}}
  back: {charm: ch:web, num_units: 1, to: [front/1], resources: {blob: ./blob.txt}}
  other: {charm: other, channel: latest/stable, revision: 3}
relations: [[front:db, other:db]]
"""


pytestmark = pytest.mark.usefixtures("unworked")


@pytest.fixture
def shelf(hub: HubStore, packs: Charms, tmp_path: Path) -> HubStore:
    """A store with `web` in two revisions and `other`; a bundle of them."""
    db = {"db": {"interface": "sql"}}
    web = packs.make("web", resources=RESOURCE, requires=db).path
    hub.add("web", web, revision=11, bases=[JAMMY], resources={"blob": 1})
    for number in (1, 2):
        hub.add_resource("web", "blob", number, f"text {number}".encode(), "blob.txt")
    hub.add("other", packs.make("other", provides=db).path, revision=3, bases=[JAMMY])
    (tmp_path / "bundle.yaml").write_text(STORE)
    (tmp_path / "blob.txt").write_text("mine")
    return hub


@pytest.fixture
def lab(cached: Run, shelf: HubStore) -> Run:
    """A command line with a model whose store is the stand-in."""
    ok(cached("bootstrap", "local", "home"))
    ok(cached("add-model", "shop", "--config", f"charmhub-url={shelf.url}"))
    return cached


def test_charms_of_a_store(lab: Run, shelf: HubStore) -> None:
    dry = lab("deploy", "./bundle.yaml", "--dry-run")
    assert dry.out.splitlines()[0] == "Changes to deploy bundle:"
    assert shelf.asked("download") == []
    done = lab("deploy", "./bundle.yaml")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "Executing changes:",
        "- upload charm web from charm-hub for base ubuntu@22.04/stable with architecture=amd64",
        "- deploy application back from charm-hub on ubuntu@22.04/stable using web",
        "- deploy application front from charm-hub on ubuntu@22.04/stable with stable using web",
        (
            "- upload charm other from charm-hub for base ubuntu@22.04/stable with revision 3 "
            "with architecture=amd64"
        ),
        "- deploy application other from charm-hub on ubuntu@22.04/stable with latest/stable",
        "- add relation front:db - other:db",
        "- add unit front/0 to new machine 0",
        "- add unit front/1 to new machine 1",
        "- add unit back/0 to new machine 1 to satisfy [front/1]",
    ]
    assert 'Located charm "web" in charm-hub, channel stable\n' in done.err
    assert 'Located charm "web" in charm-hub\n' in done.err
    assert done.err.endswith("Deploy of bundle completed.\n")
    apps = json.loads(ok(lab("status", "--format", "json")))["applications"]
    assert (apps["front"]["charm-rev"], apps["front"]["charm-channel"]) == (11, "latest/stable")
    assert json.loads(ok(lab("resources", "front", "--format", "json")))["resources"][0]["revision"] == "1"
    assert lab("deploy", "./bundle.yaml").err.endswith("No changes to apply.\n")
    assert yaml.safe_load(ok(lab("diff-bundle", "./bundle.yaml"))) in ({}, None)  # it was just deployed
    named = (
        Path("bundle.yaml")
        .read_text()
        .replace("channel: stable", "channel: edge")
        .replace("revision: 3", "revision: 2")
    )
    Path("other.yaml").write_text(named)
    compared = yaml.safe_load(ok(lab("diff-bundle", "./other.yaml")))["applications"]
    assert compared["front"]["channel"] == {"bundle": "edge", "model": "latest/stable"}
    assert compared["other"]["revision"] == {"bundle": 2, "model": 3}


def test_newer_revision_is_an_upgrade(lab: Run, shelf: HubStore, packs: Charms) -> None:
    ok(lab("deploy", "./bundle.yaml"))
    newer = packs.make("web", resources=RESOURCE, requires={"db": {"interface": "sql"}}, files={"src/x": "2"})
    shelf.add("web", newer.path, revision=12, bases=[JAMMY], resources={"blob": 2})
    done = lab("deploy", "./bundle.yaml")
    assert done.status == 0, done.err
    assert done.out.splitlines()[1:] == [
        "- upload charm web from charm-hub for base ubuntu@22.04/stable with architecture=amd64",
        "- upgrade back from charm-hub using charm web for base ubuntu@22.04/stable",
        "- upgrade front from charm-hub using charm web for base ubuntu@22.04/stable from channel stable",
    ]
    apps = json.loads(ok(lab("status", "--format", "json")))["applications"]
    assert {apps[name]["charm-rev"] for name in ("front", "back")} == {12}
    assert json.loads(ok(lab("resources", "front", "--format", "json")))["resources"][0]["revision"] == "1"


def test_export_names_revisions_and_deploys_again_without_the_store(lab: Run, shelf: HubStore) -> None:
    Path("bundle.yaml").write_text(STORE.replace(", resources: {blob: ./blob.txt}", ""))
    ok(lab("deploy", "./bundle.yaml"))
    assert ok(lab("export-bundle", "--filename", "out.yaml")) == "Bundle successfully exported to out.yaml\n"
    text = Path("out.yaml").read_text()
    assert (
        "    charm: web\n    channel: latest/stable\n    revision: 11\n    resources:\n      blob: 1\n"
        in text
    )
    asked = len(shelf.asked("refresh"))
    assert lab("deploy", "./out.yaml").err.endswith("No changes to apply.\n")
    assert len(shelf.asked("refresh")) == asked
    ok(lab("add-model", "second", "--config", f"charmhub-url={shelf.url}"))
    ok(lab("deploy", "./out.yaml"))
    assert ok(lab("export-bundle")) == text
    assert oct(Path("out.yaml").stat().st_mode)[-3:] == "600"


def test_a_download_that_fails_says_that_nothing_was_done(lab: Run, shelf: HubStore) -> None:
    """The steps are on the screen by then; the same command does them when the store is well."""
    Path("bundle.yaml").write_text("applications: {c: {charm: web, num_units: 1}}")
    shelf.fail("download", "404")
    ended = lab("deploy", "./bundle.yaml")
    lines = ended.err.splitlines()
    assert lines[-3].startswith('ERROR cannot deploy bundle: cannot add charm "web": cannot retrieve "http')
    assert lines[-2:] == ["nothing was changed", "the same command tries it again"]
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}
    shelf.well()
    Path("bundle.yaml").write_text("applications: {c: {charm: web, num_units: 1, resources: {blob: 77}}}")
    assert lab("deploy", "./bundle.yaml").status == 1
    Path("bundle.yaml").write_text("applications: {c: {charm: web, num_units: 1}}")
    ok(lab("deploy", "./bundle.yaml"))


def test_names_that_a_store_does_not_have(lab: Run, shelf: HubStore) -> None:
    Path("bundle.yaml").write_text(
        "applications: {a: {charm: nosuch}, b: {charm: web, channel: 99/stable}, c: {charm: web}}"
    )
    ended = lab("deploy", "./bundle.yaml")
    assert ended.status == 1
    assert ended.err.startswith("ERROR cannot deploy bundle: the provided bundle has the following errors:\n")
    assert '\ncannot resolve charm or bundle "nosuch": ' in ended.err
    assert "(applications.a.charm, bundle.yaml:1)\n" in ended.err
    assert '\ncannot resolve charm or bundle "web": ' in ended.err
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}


def test_what_store_charms_do_not_have_stops_it_before_anything_is_changed(lab: Run) -> None:
    Path("bundle.yaml").write_text(STORE.replace("port: 81", "nosuch: 81"))
    ended = lab("deploy", "./bundle.yaml")
    assert ended.status == 1
    assert 'configuration option "nosuch" not found in charm "web"' in ended.err
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("--config", "x=1"), 2, "options provided but not supported when deploying a bundle: --config"),
        (("-n", "2", "--to", "0"), 2, "supported when deploying a bundle: --num-units, --to"),
        (("--channel", "edge", "--revision", "3"), 2, "revision and channel are mutually exclusive"),
        (("--storage", "data=1G"), 2, 'expected "application:name=constraints" for a bundle, got "data=1G"'),
        (("--map-machines", "x=y"), 1, 'bundle-id "x" is not a top level machine id'),
        (("--overlay", "none.yaml"), 1, '"none.yaml" not found'),
    ],
)
def test_flags_that_bundles_do_not_take(lab: Run, words: tuple[str, ...], status: int, text: str) -> None:
    ended = lab("deploy", "./bundle.yaml", *words)
    assert (ended.status, ended.out) == (status, "")
    assert text in ended.err


def test_charms_take_no_overlays(lab: Run) -> None:
    ended = lab("deploy", "web", "--overlay", "x.yaml")
    assert (ended.status, "--overlay" in ended.err) == (2, True)


@pytest.fixture
def pair(shelf: HubStore) -> HubStore:
    """A bundle of the store, `pair`, in two revisions of the channel."""
    for number, units in ((3, 1), (4, 2)):
        text = f"applications: {{other: {{charm: other, channel: stable, revision: 3, num_units: {units}}}}}"
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("bundle.yaml", text)
        shelf.add("pair", held.getvalue(), revision=number, kind="bundle")
    return shelf


@pytest.mark.usefixtures("pair")
def test_a_bundle_of_the_store_by_revision(lab: Run) -> None:
    done = lab("deploy", "pair", "--revision", "3")
    assert (done.status, 'Located bundle "pair" in charm-hub, revision 3\n' in done.err) == (0, True), (
        done.err
    )
    assert len(json.loads(ok(lab("status", "--format", "json")))["applications"]["other"]["units"]) == 1
    both = lab("deploy", "pair", "--revision", "3", "--channel", "stable")
    assert (both.status, "revision and channel are mutually exclusive" in both.err) == (2, True)


@pytest.mark.usefixtures("pair")
def test_a_revision_of_a_charm_needs_a_channel(lab: Run) -> None:
    ended = lab("deploy", "web", "--revision", "11")
    assert (ended.status, ended.out) == (1, "")
    assert "specifying a revision requires a channel for future upgrades. Please use --channel" in ended.err


@pytest.mark.usefixtures("pair")
def test_bundles_of_the_store_are_compared_and_applied(lab: Run) -> None:
    ok(lab("deploy", "pair", "--revision", "3"))
    compared = yaml.safe_load(ok(lab("diff-bundle", "pair", "--channel", "stable", "--base", "ubuntu@24.04")))
    assert compared["applications"]["other"]["num_units"] == {"bundle": 2, "model": 1}
    assert yaml.safe_load(ok(lab("diff-bundle", "pair", "--arch", "all"))) == compared
    ok(lab("apply", "ch:pair", "--no-prompt"))
    assert "num_units" not in ok(lab("diff-bundle", "pair"))
    again = lab("apply", "pair", "--revision", "4")
    assert again.err.endswith("No changes to apply.\n")


@pytest.mark.usefixtures("pair")
@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("apply", "pair", "--revision", "3", "--channel", "edge"), 2, "mutually exclusive"),
        (
            ("apply", "./bundle.yaml", "--revision", "3"),
            2,
            "--revision is for bundles of a store; this bundle is a",
        ),
        (("apply", "web"), 1, 'expected bundle, got charm "web"'),
        (
            ("diff-bundle", "./bundle.yaml", "--channel", "edge"),
            2,
            "--channel is for bundles of a store; this",
        ),
        (("diff-bundle", "pair", "--channel", "99/stable"), 1, "charm or bundle not found for channel"),
        (("diff-bundle", "nosuch"), 1, 'charm or bundle name not found: "nosuch"'),
        (("diff-bundle", "pair", "--series", "nosuch"), 1, 'unknown series "nosuch"'),
    ],
)
def test_bundles_that_a_store_does_not_have(lab: Run, words: tuple[str, ...], status: int, text: str) -> None:
    ended = lab(*words)
    assert (ended.status, ended.out, text in ended.err) == (status, "", True), ended.err


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ((), 2, "no bundle specified"),
        (("none.yaml",), 1, '"none.yaml" not found'),
        (("blob.txt",), 1, 'couldn\'t interpret "blob.txt" as a local bundle'),
        (("bundle.yaml", "--series", "jammy", "--base", "ubuntu@22.04"), 2, "cannot be specified together"),
        (
            ("bundle.yaml", "--arch", "vax"),
            2,
            'unexpected architecture flag value "vax", expected <all|',
        ),
        (("bundle.yaml", "--map-machines", "1=2=3"), 1, "error in --map-machines: expected"),
    ],
)
def test_diff_bundle_refuses(lab: Run, words: tuple[str, ...], status: int, text: str) -> None:
    ended = lab("diff-bundle", *words)
    assert (ended.status, text in ended.err) == (status, True), ended.err


def test_apply_shows_asks_and_prunes(lab: Run) -> None:
    ok(lab("apply", "./bundle.yaml", "--no-prompt"))
    Path("bundle.yaml").write_text("applications: {other: {charm: other, channel: stable, revision: 3}}")
    kept = lab("apply", "./bundle.yaml")
    assert (kept.status, kept.out) == (0, "")
    assert kept.err == (
        "Left alone without --prune:\n- remove application back\n-   with unit back/0\n"
        "- remove application front\n-   with unit front/0\n-   with unit front/1\nNo changes to apply.\n"
    )
    asked = lab("apply", "./bundle.yaml", "--prune", stdin="n\n")
    assert (asked.status, "aborted" in asked.err) == (1, True)
    assert ok(lab("apply", "./bundle.yaml", "--prune", "--save-plan", "plan.json")).startswith(
        "Changes to apply:"
    )
    ok(lab("deploy", "other", "third"))
    stale = lab("apply", "./bundle.yaml", "--prune", "--plan", "plan.json", "--no-prompt")
    assert (stale.status, "the model changed since the plan was made" in stale.err) == (1, True)
    ok(lab("apply", "./bundle.yaml", "--prune", "--save-plan", "plan.json"))
    ok(lab("apply", "./bundle.yaml", "--prune", "--plan", "plan.json", "--no-prompt"))
    assert list(json.loads(ok(lab("status", "--format", "json")))["applications"]) == ["other"]
    assert lab("apply", "./bundle.yaml", "--destroy-storage").status == 2


def test_apply_changes_resources(lab: Run, shelf: HubStore) -> None:
    ok(lab("deploy", "./bundle.yaml"))
    assert lab("apply", "./bundle.yaml").err.endswith("No changes to apply.\n")
    assert lab("plan", "--", "apply", "./bundle.yaml").status == 0
    Path("blob.txt").write_text("mine, but newer")
    Path("bundle.yaml").write_text(STORE.replace("blob: 1", "blob: 2"))
    dry = ok(lab("apply", "./bundle.yaml", "--dry-run")).splitlines()
    assert dry == [
        "Changes to apply:",
        "- attach ./blob.txt as resource blob of back",
        "- set resource blob of front to revision 2",
    ]
    compared = yaml.safe_load(ok(lab("diff-bundle", "./bundle.yaml")))["applications"]
    assert compared["front"]["resources"] == {"blob": {"bundle": 2, "model": 1}}
    assert compared["back"]["resources"] == {"blob": {"bundle": "./blob.txt", "model": "uploaded"}}
    planned = lab("plan", "--", "apply", "./bundle.yaml")
    assert (planned.status, "blob" in planned.out) == (2, True), planned.err
    ok(lab("apply", "./bundle.yaml", "--save-plan", "plan.json"))
    ok(lab("apply", "./bundle.yaml", "--plan", "plan.json", "--no-prompt"))
    (found,) = json.loads(ok(lab("resources", "front", "--format", "json")))["resources"]
    assert (found["revision"], found["origin"]) == ("2", "store")
    asked = len(shelf.asked("resources"))
    assert lab("apply", "./bundle.yaml").err.endswith("No changes to apply.\n")
    assert lab("plan", "--", "apply", "./bundle.yaml").status == 0
    assert "resources" not in ok(lab("diff-bundle", "./bundle.yaml"))
    assert len(shelf.asked("resources")) == asked
    Path("blob.txt").write_text("newer still")
    ok(lab("apply", "./bundle.yaml", "--save-plan", "plan.json"))
    Path("blob.txt").write_text("but not this")
    stale = lab("apply", "./bundle.yaml", "--plan", "plan.json", "--no-prompt")
    assert (stale.status, "the bundle or the flags are not those" in stale.err) == (1, True)


def test_apply_changes_resources_of_the_very_charm_that_is_there(lab: Run, shelf: HubStore) -> None:
    """Nothing is asked of the store but the resource."""
    ok(lab("deploy", "./bundle.yaml"))
    ok(lab("export-bundle", "--filename", "out.yaml"))
    assert lab("apply", "./out.yaml").err.endswith("No changes to apply.\n")
    text = Path("out.yaml").read_text()
    Path("out.yaml").write_text(text.replace("blob: 1", "blob: 2"))
    asked = len(shelf.asked("refresh"))
    assert ok(lab("apply", "./out.yaml", "--no-prompt")).splitlines()[1:] == [
        "- set resource blob of front to revision 2"
    ]
    assert len(shelf.asked("refresh")) == asked
    assert lab("apply", "./out.yaml").err.endswith("No changes to apply.\n")


def test_apply_refuses_a_revision_that_is_not_there(lab: Run) -> None:
    ok(lab("deploy", "./bundle.yaml"))
    Path("bundle.yaml").write_text(STORE.replace("blob: 1", "blob: 9"))
    ended = lab("apply", "./bundle.yaml", "--no-prompt")
    assert (ended.status, ended.out) == (1, "")
    assert 'charm resource "blob" at revision 9 not found' in ended.err, ended.err


def test_apply_says_what_nothing_can_change(lab: Run) -> None:
    Path("bundle.yaml").write_text(
        "default-base: ubuntu@22.04\napplications: {other: {charm: other, channel: stable, revision: 3}}"
    )
    ok(lab("deploy", "./bundle.yaml"))
    Path("bundle.yaml").write_text(
        "default-base: ubuntu@24.04\n"
        "applications: {other: {charm: other, channel: stable, revision: 3, constraints: arch=arm64}}"
    )
    ended = lab("apply", "./bundle.yaml", "--no-prompt")
    assert (ended.status, ended.out) == (1, "")
    assert 'unexpected "other" application architecture (arm64), charm already exists with' in ended.err
    Path("bundle.yaml").write_text(Path("bundle.yaml").read_text().replace(", constraints: arch=arm64", ""))
    ended = lab("apply", "./bundle.yaml", "--no-prompt")
    assert ended.status == 0, ended.err
    assert ended.err == (
        "Not changed, because no command can change it:\n"
        "- the base of application other is ubuntu@22.04/stable, not ubuntu@24.04/stable\n"
        "No changes to apply.\n"
    )


def test_ignored_fields_are_told_on_a_dry_run(lab: Run) -> None:
    Path("bundle.yaml").write_text("applications:\n  a: {charm: web, foo: 1}\n")
    told = lab("deploy", "./bundle.yaml", "--dry-run")
    assert told.status == 0, told.err
    assert told.err.startswith(
        "WARNING These fields\n unmarshal document 0: yaml: unmarshal errors:\n"
        "   line 2: field foo not found in applications\nwill be ignored during deployment\n"
    )


def test_bundle_of_a_store(lab: Run, shelf: HubStore, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "shop.zip", "w") as archive:
        archive.writestr("bundle.yaml", STORE.replace("blob: ./blob.txt", "blob: 1"))
        archive.writestr("README.md", "A shop.")
    shelf.add("shop", tmp_path / "shop.zip", revision=7, bases=[JAMMY], kind="bundle")
    refused = lab("deploy", "shop", "-n", "2")
    assert (refused.status, "--num-units" in refused.err) == (2, True)
    done = lab("deploy", "shop")
    assert done.status == 0, done.err
    assert done.err.startswith('Located bundle "shop" in charm-hub, revision 7\n')
    assert "- set annotations for front\n" in done.out
    assert "bundleURL: ch:bundle/shop-7" in ok(lab("export-bundle"))
    again = lab("deploy", "shop")
    assert (again.out, again.err.endswith("No changes to apply.\n")) == ("", True)
