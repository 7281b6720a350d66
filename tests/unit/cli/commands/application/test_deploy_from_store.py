"""deploy, refresh and resources with charms of a store: a stand-in, as the real one is out of reach here."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.services.entities.model import model_config
from tests.charms_tools.hubstore import FOCAL, JAMMY, NOBLE, HubStore
from tests.world.charms import Charms
from tests.world.commandline import Ended, Run, ok

pytestmark = pytest.mark.usefixtures("unworked")


RESOURCE = {"blob": {"type": "file", "filename": "blob.txt", "description": "Some text."}}


@pytest.fixture
def shelf(hub: HubStore, packs: Charms) -> HubStore:
    """`web` with a resource, in two tracks; `other` for switches."""
    web = packs.make("web", resources=RESOURCE, series=["jammy", "noble"]).path
    newer = packs.make("web", resources=RESOURCE, series=["jammy", "noble"], files={"src/x": "2"}).path
    hub.add("web", web, revision=11, channels=["14/stable"], bases=[JAMMY], resources={"blob": 1})
    hub.add("web", web, revision=12, channels=["14/stable"], bases=[NOBLE], resources={"blob": 1})
    hub.add("web", newer, revision=15, channels=["14/edge"], bases=[NOBLE, JAMMY], resources={"blob": 2})
    hub.entries["web"].default_track = "14"
    hub.add_resource("web", "blob", 1, b"one", "blob.txt")
    hub.add_resource("web", "blob", 2, b"two", "blob.txt")
    hub.add("other", packs.make("other", series=["noble"]).path, revision=3)
    return hub


@pytest.fixture
def lab(cached: Run, shelf: HubStore) -> Run:
    """A command line with a model whose store is the stand-in, and nobody who works it."""
    ok(cached("bootstrap", "local", "home"))
    ok(cached("add-model", "shop", "--config", f"charmhub-url={shelf.url}"))
    return cached


def application(lab: Run, name: str = "web") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ok(lab("status", "--format", "json")))["applications"][name]
    return found


def deploy(lab: Run, *words: str) -> Ended:
    return lab("deploy", *words, "-n", "1", "--no-wait")


def test_deploy_by_name(lab: Run, shelf: HubStore) -> None:
    ended = deploy(lab, "web")
    assert ended.err == (
        'Deployed "web" from charm-hub charm "web", revision 12 in channel 14/stable on ubuntu@24.04/stable\n'
    )
    shown = application(lab)
    keys = ("charm", "charm-origin", "charm-name", "charm-rev", "charm-channel")
    assert [shown[key] for key in keys] == ["web", "charmhub", "web", 12, "14/stable"]
    assert shown["base"] == {"name": "ubuntu", "channel": "24.04"}
    document = json.loads(ok(lab("show-application", "web", "--format", "json")))
    assert document["web"]["channel"] == "14/stable"
    assert "14/stable" in ok(lab("status"))


def test_a_store_may_call_a_charm_otherwise_than_its_metadata(
    lab: Run, shelf: HubStore, packs: Charms
) -> None:
    for revision, files in ((4, {}), (5, {"src/x": "2"})):
        packed = packs.make("web", resources=RESOURCE, series=["noble"], files=files)
        shelf.add("kims-web", packed.path, revision=revision, resources={"blob": 1})
        if revision == 4:
            shelf.add_resource("kims-web", "blob", 1, b"kim's", "blob.txt")
            done = deploy(lab, "kims-web")
            assert 'Deployed "web" from charm-hub charm "kims-web", revision 4' in done.err
    assert lab("refresh", "web", "--no-wait").status == 0
    found = application(lab)
    assert (found["charm"], found["charm-name"], found["charm-rev"]) == ("kims-web", "kims-web", 5)
    assert json.loads(ok(lab("show-application", "web", "--format", "json")))["web"]["charm"] == "kims-web"
    assert "charm: kims-web" in ok(lab("export-bundle"))
    deploy(lab, "kims-web", "other-web")
    assert len(shelf.asked("download")) == 2  # the model has revision 5 already


def test_a_revision_comes_with_the_resources_of_its_channel(lab: Run, shelf: HubStore) -> None:
    shelf.add_resource("web", "blob", 3, b"three", "blob.txt")  # no channel has this one yet
    ok(deploy(lab, "web", "--revision", "12", "--channel", "14/edge", "--base", "ubuntu@24.04"))
    assert json.loads(ok(lab("resources", "web", "--format", "json")))["resources"][0]["revision"] == "2"
    ok(deploy(lab, "web", "old", "--revision", "15", "--channel", "14/stable", "--base", "ubuntu@24.04"))
    assert json.loads(ok(lab("resources", "old", "--format", "json")))["resources"][0]["revision"] == "1"
    shelf.entries["web"].channels.clear()
    ok(deploy(lab, "web", "last", "--revision", "15", "--channel", "14/stable", "--base", "ubuntu@24.04"))
    assert json.loads(ok(lab("resources", "last", "--format", "json")))["resources"][0]["revision"] == "3"


def test_the_same_charm_twice_is_downloaded_once(lab: Run, shelf: HubStore) -> None:
    ok(deploy(lab, "web"))
    ok(deploy(lab, "ch:web", "front"))
    assert len(shelf.asked("download")) == 1
    assert application(lab, "front")["charm-rev"] == 12


def test_what_the_model_has_is_not_downloaded_again_without_the_cache(
    lab: Run, shelf: HubStore, tmp_path: Path
) -> None:
    ok(deploy(lab, "web"))
    shutil.rmtree(tmp_path / "cache")
    ended = lab("refresh", "web")
    assert (ended.status, ended.err) == (0, 'charm "web": already up-to-date\n')
    ok(deploy(lab, "web", "front", "--channel", "14/stable"))
    (tmp_path / "again.yaml").write_text("applications: {third: {charm: web, channel: 14/stable}}")
    ok(lab("deploy", str(tmp_path / "again.yaml"), "--no-wait"))
    assert application(lab, "third")["charm-rev"] == 12
    assert len(shelf.asked("download")) == 1
    ok(lab("add-model", "other", "--config", f"charmhub-url={shelf.url}"))
    ok(deploy(lab, "web"))  # a model takes nothing from another one
    assert len(shelf.asked("download")) == 2


def test_base_channel_and_revision(lab: Run) -> None:
    assert (
        "revision 11 in channel 14/stable on ubuntu@22.04"
        in deploy(lab, "web", "a", "--base", "ubuntu@22.04").err
    )
    assert "revision 15 in channel 14/edge" in deploy(lab, "web", "b", "--channel", "edge").err
    assert (
        "revision 11 in channel 14/edge on ubuntu@22.04"
        in deploy(lab, "web", "c", "--channel", "14/edge", "--revision", "11").err
    )


def test_dry_run(lab: Run) -> None:
    ended = lab("deploy", "web", "--dry-run")
    assert ended.err == (
        '"web" from charm-hub charm "web", revision 12 in channel 14/stable on ubuntu@24.04/stable '
        "would be deployed\n"
    )
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nothing"], 'resolving error: charm or bundle name not found: "nothing"'),
        (["web-3"], "cannot specify revision in a charm or bundle name. Please use --revision."),
        (["web", "--channel", "16"], 'selecting releases: charm or bundle not found for channel "16/stable"'),
        (["web", "--base", "ubuntu@20.04"], "selecting releases: charm or bundle not found in the charm's"),
        (
            ["web", "--base", "ubuntu@16.04"],
            "web is not available on the following base: ubuntu@16.04/stable",
        ),
        (["web", "--channel", "a/b"], 'risk in channel "a/b" not valid'),
        (["web", "--revision", "99", "--channel", "edge"], 'resolving error: No such revision: "web"'),
        (["web", "--resource", "none=1"], 'unrecognized resource "none"'),
        (["web", "--resource", "blob=7"], 'charm resource "blob" at revision 7 not found'),
        (["web", "--resource", "blob=./no.txt"], 'file for resource "blob": stat ./no.txt: no such file'),
    ],
)
def test_a_refused_deploy_changes_nothing(lab: Run, words: list[str], text: str) -> None:
    ended = lab("deploy", *words, "--no-wait")
    assert ended.status == 1
    assert ended.err.startswith(f"ERROR {text}")
    assert json.loads(ok(lab("status", "--format", "json")))["applications"] == {}


def test_the_releases_that_there_are_are_listed(lab: Run) -> None:
    ended = lab("deploy", "web", "--channel", "16/stable", "--base", "ubuntu@22.04")
    assert ended.err.splitlines()[1:] == [
        "available releases are:",
        '  channel "14/stable": available bases are: ubuntu@24.04, ubuntu@22.04',
        '  channel "14/edge": available bases are: ubuntu@24.04, ubuntu@22.04',
    ]


@pytest.mark.parametrize(
    ("kind", "how", "text"),
    [
        ("refresh", "html", 'unexpected content-type from server "text/html"'),
        ("refresh", "500", "server error"),
        ("download", "wrong", 'verifying downloaded charm "web": detected SHA256 hash mismatch'),
        ("download", "404", "cannot retrieve"),
    ],
)
def test_a_store_that_fails(lab: Run, shelf: HubStore, kind: str, how: str, text: str) -> None:
    shelf.fail(kind, how)
    ended = lab("deploy", "web", "--no-wait")
    assert ended.status == 1
    assert ended.err.startswith(f"ERROR {text}")
    shelf.well()
    ok(deploy(lab, "web"))


def test_resources_of_the_store(lab: Run, tmp_path: Path) -> None:
    ok(deploy(lab, "web", "--resource", "blob=2"))
    assert ok(lab("resources", "web")) == "Resource  Supplied by  Revision\nblob      store        2\n"
    (tmp_path / "own.txt").write_text("own")
    ok(deploy(lab, "web", "mine", "--resource", f"blob={tmp_path}/own.txt"))
    assert "admin" in ok(lab("resources", "mine"))


# --- refresh ----------------------------------------------------------------------------------------------


def refresh(lab: Run, *words: str) -> Ended:
    return lab("refresh", *words, "--no-wait")


def test_nothing_newer(lab: Run) -> None:
    ok(deploy(lab, "web"))
    ended = refresh(lab, "web")
    assert (ended.status, ended.err) == (0, 'charm "web": already up-to-date\n')
    ended = lab("refresh", "web", "--bind", "x=alpha")
    assert "WARNING --bind comes with another charm only: see `pushjuju bind`\n" in ended.err
    ended = refresh(lab, "web", "--revision", "12")
    assert ended.err == 'charm "web", revision 12: already up-to-date\n'


def test_another_risk_keeps_the_track(lab: Run) -> None:
    ok(deploy(lab, "web"))
    ended = refresh(lab, "web", "--channel", "edge")
    assert (ended.status, ended.err) == (
        0,
        'Added charm-hub charm "web", revision 15 in channel 14/edge, to the model\n',
    )
    shown = application(lab)
    assert (shown["charm-rev"], shown["charm-channel"]) == (15, "14/edge")
    assert ok(lab("resources", "web")).splitlines()[1].split() == ["blob", "store", "2"]


def test_a_newer_revision_of_the_same_channel(lab: Run, shelf: HubStore, packs: Charms) -> None:
    ok(deploy(lab, "web"))
    data = packs.make("web", resources=RESOURCE, series=["noble"], files={"src/x": "3"}).path
    shelf.add("web", data, revision=20, channels=["14/stable"], resources={"blob": 1})
    assert "revision 20 in channel 14/stable" in refresh(lab, "web").err
    context = shelf.asked("refresh")[-1]["context"][0]
    assert (context["revision"], context["tracking-channel"]) == (12, "14/stable")


def test_back_to_an_older_revision(lab: Run) -> None:
    ok(deploy(lab, "web", "--channel", "edge"))
    assert "revision 12 in channel 14/edge" in refresh(lab, "web", "--revision", "12").err
    assert application(lab)["charm-rev"] == 12


def test_the_same_revision_can_be_forced_on_units_in_error(lab: Run, tmp_path: Path) -> None:
    """They were in error when the revision came, and so did not take it."""
    ok(deploy(lab, "web"))
    (store,) = tmp_path.glob("data/controllers/*/state.db")
    for words, forced in (((), 0), (("--force-units",), 1)):
        ended = refresh(lab, "web", *words)
        assert (ended.status, ended.err) == (0, 'charm "web": already up-to-date\n')
        with closing(sqlite3.connect(store)) as found:
            assert found.execute("SELECT force_charm FROM application").fetchall() == [(forced,)]


def test_another_channel_with_the_same_revision(lab: Run, shelf: HubStore) -> None:
    ok(deploy(lab, "web"))
    shelf.entries["web"].channels["14", "beta", ""] = [12]
    ended = refresh(lab, "web", "--channel", "beta")
    assert ended.err == (
        'charm "web": already up-to-date\nNote: all future refreshes will now use channel "14/beta"\n'
    )
    assert application(lab)["charm-channel"] == "14/beta"


def test_newer_resources_of_the_same_charm(lab: Run, shelf: HubStore) -> None:
    ok(deploy(lab, "web"))
    shelf.entries["web"].revisions[12].resources = {"blob": 2}
    ended = refresh(lab, "web")
    assert ended.err == 'charm "web": already up-to-date\nresources to be upgraded: blob\n'
    assert "2" in ok(lab("resources", "web"))


def test_a_persons_file_stays(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("own")
    ok(deploy(lab, "web", "--resource", f"blob={tmp_path}/own.txt"))
    ok(refresh(lab, "web", "--channel", "edge"))
    assert "admin" in ok(lab("resources", "web"))
    ok(refresh(lab, "web", "--resource", "blob=1"))
    assert ok(lab("resources", "web")).splitlines()[1].split() == ["blob", "store", "1"]


def test_switch_to_another_charm(lab: Run) -> None:
    ok(deploy(lab, "web"))
    ended = refresh(lab, "web", "--switch", "other")
    assert ended.err == 'Added charm-hub charm "other", revision 3 in channel latest/stable, to the model\n'
    assert application(lab)["charm-name"] == "other"


def test_from_the_store_to_a_local_charm_and_back(lab: Run, packs: Charms) -> None:
    ok(deploy(lab, "web"))
    path = packs.make("web", resources=RESOURCE, series=["jammy", "noble"], files={"src/x": "local"}).path
    assert refresh(lab, "web", "--path", str(path)).err == (
        'Added local charm "web", revision 0, to the model\n'
    )
    assert application(lab)["charm-origin"] == "local"
    ended = refresh(lab, "web")
    assert ended.err.startswith("ERROR refreshing a local charm requires either --path or --switch\n")
    assert "revision 12" in refresh(lab, "web", "--switch", "ch:web").err


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["--switch", "other", "--revision", "3"], 2, "--switch and --revision are mutually exclusive"),
        (["--path", "./x", "--revision", "3"], 2, "--path and --revision are mutually exclusive"),
        (["--path", "./x", "--switch", "y"], 2, "--switch and --path are mutually exclusive"),
        (["--path", "./none"], 1, 'no charm was found at "./none"'),
        (["--channel", "16/stable"], 1, 'selecting releases: charm or bundle not found for channel "16'),
        (["--revision", "77"], 1, 'resolving error: No such revision: "web"'),
        (["--switch", "nothing"], 1, 'resolving error: charm or bundle name not found: "nothing"'),
        (["--revision", "11"], 1, 'cannot upgrade application "web" to charm "ch:amd64/noble/web-11":'),
    ],
)
def test_a_refused_refresh_changes_nothing(
    lab: Run, shelf: HubStore, packs: Charms, words: list[str], status: int, text: str
) -> None:
    old = packs.make("web", resources=RESOURCE, series=["jammy"], files={"src/x": "11"}).path
    shelf.add("web", old, revision=11, channels=[], bases=[JAMMY], resources={"blob": 1})
    ok(deploy(lab, "web"))
    ended = refresh(lab, "web", *words)
    assert ended.status == status
    assert ended.err.startswith(f"ERROR {text}")
    assert application(lab)["charm-rev"] == 12


def test_forced_base(lab: Run, shelf: HubStore, packs: Charms) -> None:
    ok(deploy(lab, "web"))
    old = packs.make("web", resources=RESOURCE, series=["focal"], files={"src/x": "30"}).path
    shelf.add("web", old, revision=30, channels=["14/candidate"], bases=[FOCAL], resources={"blob": 1})
    ended = refresh(lab, "web", "--revision", "30")
    assert 'cannot upgrade from single base "ubuntu@24.04" charm to a charm supporting' in ended.err
    ok(refresh(lab, "web", "--revision", "30", "--force-base"))


@pytest.mark.parametrize(("typed", "meant"), [("wep", "web"), ("owther", "other"), ("oter", "other")])
def test_a_typing_error_in_a_short_name(lab: Run, typed: str, meant: str) -> None:
    assert f"did you mean: {meant}" in deploy(lab, typed).err


def test_another_base_is_for_future_units(lab: Run, shelf: HubStore, packs: Charms) -> None:
    ok(deploy(lab, "web", "--channel", "14/edge"))
    ended = refresh(lab, "web", "--base", "ubuntu@20.04")
    assert ended.status == 1, ended.err
    assert application(lab)["base"]["channel"] == "24.04"
    ok(refresh(lab, "web", "--base", "ubuntu@22.04"))
    shown = application(lab)
    assert (shown["base"]["channel"], shown["charm-rev"]) == ("22.04", 15)
    local = packs.make("web", resources=RESOURCE, series=["jammy", "noble"], files={"src/x": "l"}).path
    ok(refresh(lab, "web", "--path", str(local), "--base", "ubuntu@24.04"))
    assert application(lab)["base"]["channel"] == "24.04"
    ended = refresh(lab, "web", "--path", str(local), "--base", "ubuntu@20.04")
    assert 'cannot upgrade from single base "ubuntu@20.04" charm to a charm supporting' in ended.err


def test_refresh_tells_what_came_of_each_unit(lab: Run, shelf: HubStore) -> None:
    ok(lab("deploy", "web", "-n", "2", "--no-wait"))
    assert lab("refresh", "web", "--channel", "14/edge").err == (
        'Added charm-hub charm "web", revision 15 in channel 14/edge, to the model\n'
        "unit web/0 has no charm yet, waiting: waiting for machine\n"
        "unit web/1 has no charm yet, waiting: waiting for machine\n"
    )


def test_an_uploaded_charm_is_deployed_again(lab: Run, packs: Charms) -> None:
    path = packs.make("site", series=["noble"]).path
    ok(lab("deploy", str(path), "--no-wait"))
    ended = lab("deploy", "local:site-0", "other", "--no-wait")
    assert ended.err.splitlines()[-1] == (
        'Deploying "other" from local charm "site", revision 0 on ubuntu@24.04/stable'
    )
    assert application(lab, "other")["charm-rev"] == 0
    text = "cannot interpret as a redeployment of a local charm from the controller"
    ended = lab("deploy", "local:site-7", "third", "--no-wait")
    assert ended.err.startswith(f'ERROR {text}: charm "local:site-7" not found\n')


def test_a_store_that_fails_leaves_no_first_controller(
    run: Run, shelf: HubStore, packs: Charms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attribute = replace(model_config.ATTRIBUTES["charmhub-url"], default=shelf.url)
    monkeypatch.setitem(model_config.ATTRIBUTES, "charmhub-url", attribute)
    env = {"PUSHJUJU_CACHE": str(tmp_path / "cache")}
    ended = run("deploy", "nothing", "--no-wait", env=env)
    assert 'Controller "local" was removed again: nothing was deployed\n' in ended.err
    assert 'resolving error: charm or bundle name not found: "nothing"' in ended.err
    shelf.fail("download", "wrong")
    assert run("deploy", "web", "--no-wait", env=env).status == 1
    assert not list((tmp_path / "data" / "controllers").glob("[!.]*"))
    shelf.faults.clear()
    ok(run("deploy", "web", "--dry-run", env=env))
    assert not list((tmp_path / "data" / "controllers").glob("[!.]*"))
    ok(run("deploy", "web", "--no-wait", env=env))
    assert "web" in ok(run("status"))


def test_model_config_knows_the_store(lab: Run, shelf: HubStore) -> None:
    assert ok(lab("model-config", "charmhub-url")).strip() == shelf.url
    ended = lab("model-config", "charmhub-url=https://other")
    assert ended.err.startswith(f'ERROR cannot change charmhub-url from "{shelf.url}" to "https://other"')
    ended = lab("add-model", "x", "--config", "charmhub-url=nonsense")
    assert ended.err.startswith('ERROR charmhub-url url "nonsense" not valid')


# --- find, info, download ---------------------------------------------------------------------------------


@pytest.fixture
def client(run: Run, shelf: HubStore, tmp_path: Path) -> Run:
    """A command line without any controller, whose store is the stand-in."""

    def call(*argv: str, **more: Any) -> Ended:
        env = {"PUSHJUJU_CACHE": str(tmp_path / "cache"), "CHARMHUB_URL": shelf.url, "LANG": "C.UTF-8"}
        return run(*argv, env={**env, **more.pop("env", {})}, **more)

    return call


def test_find(client: Run) -> None:
    assert ok(client("find", "we")) == (
        "Name  Bundle  Version  Publisher    Summary\n"
        "web   -                Example Ltd  A charm of the tests.\n\n"
    )
    ended = client("find")
    assert ended.out.startswith(
        "No search term specified. Here are some interesting charms:\n\nName   Bundle"
    )
    assert ended.out.endswith("Provide a search term for more specific results.\n")
    assert ok(client("find", "we", "--columns", "naS")) == (
        "Name  Architectures  Supports\nweb   amd64          ubuntu@22.04\n\n"
    )
    (entry,) = json.loads(ok(client("find", "we", "--format", "json")))
    assert list(entry) == [
        "type", "id", "name", "publisher", "summary", "version", "architectures", "os", "supports",
        "store-url",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["zzz"], 0, "No matching charms or bundles\n"),
        (["zzz", "--type", "charm"], 0, "No matching charms\n"),
        (["zzz", "--type", "bundle"], 0, "No matching bundles\n"),
        (["x", "--type", "snap"], 2, "ERROR expected type to be charm or bundle\n"),
        (["x", "--columns", "nq"], 1, 'ERROR unexpected column type "q"\n'),
        (["x", "--columns", ""], 1, "ERROR expected at least one column\n"),
    ],
)
def test_find_nothing(client: Run, words: list[str], status: int, text: str) -> None:
    ended = client("find", *words)
    assert (ended.status, ended.err) == (status, text)


INFO = """\
name: web
publisher: Example Ltd
summary: A charm of the tests.
description: |-
  Serves the tests.
  Of no other use.
store-url: https://charmhub.io/web
charm-id: id-web-0123456789
supports: ubuntu@22.04
tags: databases
subordinate: false
channels: |
  14/stable:     2024-03-11  (12)  SIZE  amd64  ubuntu@24.04
                 2024-03-11  (11)  SIZE  amd64  ubuntu@22.04
  14/candidate:  ↑
  14/beta:       ↑
  14/edge:       2024-03-11  (15)  SIZE  amd64  ubuntu@24.04, ubuntu@22.04
"""


def plain(text: str) -> str:
    """Return the text of `info` with sizes and runs of blanks made alike."""
    lines = [re.sub(r"\d+(kB|B)\b", "SIZE", line) for line in text.splitlines()]
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line) for line in lines)


def test_info(client: Run) -> None:
    assert plain(ok(client("info", "web"))).split() == INFO.split()
    assert "14/candidate:  ^" in ok(client("info", "web", "--unicode", "never"))
    text = ok(client("info", "web", "--base", "ubuntu@24.04", "--arch", "amd64"))
    assert "ubuntu@24.04" not in text.partition("channels")[2]
    assert "(11)" not in text
    text = ok(client("info", "web", "--config"))
    assert "config:\n  settings:\n    debug:\n      default: false\n" in text


def test_info_documents(client: Run) -> None:
    document = json.loads(ok(client("info", "web", "--format", "json")))
    assert document["channels"]["14"]["stable"][0]["revision"] == 11
    assert document["charm"]["config"]["Options"]["port"] == {"Type": "int", "Description": "", "Default": 80}
    assert document["charm"]["subordinate"] is False
    document = json.loads(ok(client("info", "web", "--revision", "15", "--format", "json")))
    assert list(document["channels"]["14"]) == ["edge"]


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "expected a charm or bundle name"),
        (["nothing"], 1, 'No information found for charm or bundle with the name "nothing"'),
        (["no!thing"], 1, 'charm or bundle name, "no!thing", is not valid'),
        (["local:web-1"], 1, '"local:web-1" is not a Charm Hub charm'),
        (["web", "--revision", "1", "--arch", "amd64"], 2, "--revision and --track cannot be"),
        (["web", "--unicode", "x"], 2, 'unexpected unicode flag value "x", expected <auto|never|always>'),
        (["web", "--charmhub-url", "ftp://x"], 1, 'no plugin reads charms from "ftp://x"'),
    ],
)
def test_info_refused(client: Run, words: list[str], status: int, text: str) -> None:
    ended = client("info", *words)
    assert ended.status == status
    assert ended.err.startswith(f"ERROR {text}")


def test_download(client: Run, shelf: HubStore, tmp_path: Path) -> None:
    ended = client("download", "web", "--channel", "14/stable")
    assert ended.err == (
        'Fetching charm "web" revision 12 using "14/stable" channel and base "amd64/ubuntu/24.04"\n'
        'Install the "web" charm with:\n    pushjuju deploy ./web_r12.charm\n'
    )
    assert (tmp_path / "web_r12.charm").read_bytes() == shelf.entries["web"].revisions[12].data
    ended = client("download", "web", "--revision", "12", "--filepath", "again.charm")
    assert ended.err.splitlines()[0] == 'Fetching charm "web" revision 12'
    assert (tmp_path / "again.charm").exists()
    assert len(shelf.asked("download")) == 1


def test_download_with_resources(client: Run, tmp_path: Path) -> None:
    ended = client("download", "web", "--channel", "14/stable", "--resources")
    assert ended.err.splitlines()[-1] == (
        "    pushjuju deploy ./web_r12.charm --resource blob=./resource_blob_r1_blob.txt"
    )
    assert (tmp_path / "resource_blob_r1_blob.txt").read_text() == "one"


def test_names_that_are_alike(client: Run) -> None:
    for word in ("info", "download"):
        ended = client(word, "oter")
        assert (ended.status, ended.err.endswith("did you mean: other\n")) == (1, True), ended.err


def test_the_series_of_a_url_is_the_base(lab: Run) -> None:
    """`jammy/web` is not deployed on anything else."""
    ended = lab("deploy", "jammy/web", "--dry-run")
    assert " revision 11 in channel 14/stable on ubuntu@22.04/stable would be deployed\n" in ended.err
    ended = lab("deploy", "jammy/web", "--base", "ubuntu@24.04")
    text = 'series "jammy" of "jammy/web" and base "ubuntu@24.04/stable" do not match'
    assert (ended.status, ended.err) == (1, f"ERROR {text}\n")


def test_download_for_another_base(client: Run, shelf: HubStore, tmp_path: Path) -> None:
    shelf.add("old", shelf.entries["web"].revisions[11].data, revision=2, bases=[JAMMY])
    ended = client("download", "old")
    assert 'Base "ubuntu@24.04" is not supported for charm "old", trying base "ubuntu@22.04"' in ended.err
    assert (tmp_path / "old_r2.charm").exists()
    ended = client("download", "old", "--base", "ubuntu@20.04")
    assert ended.err == (
        'ERROR "old" does not support base "ubuntu@20.04" in channel "stable". '
        "Supported bases are: ubuntu@22.04.\n"
    )
    ended = client("download", "old", "--channel", "edge/x")
    assert ended.status == 1


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "expected a charm or bundle name"),
        (["web", "x"], 2, "expected a charm or bundle name, followed by hyphen to pipe to stdout"),
        (["web", "--revision", "3", "--channel", "edge"], 2, "--revision cannot be specified together with"),
        (["local:web"], 1, '"local:web" is not a Charmhub charm'),
        (["nothing"], 1, "unable to locate nothing: charm or bundle name not found"),
        (["web", "--revision", "3"], 1, "unable to locate web revison 3: No such revision."),
        (
            ["web", "--channel", "latest/stable"],
            1,
            '"web" has no releases in channel "stable". Type\n    pushjuju info web\nfor a list of',
        ),
        (["web", "--arch", "vax"], 2, 'unexpected architecture flag value "vax", expected <all|amd64|'),
        (["web", "--charmhub-url", "hub"], 2, 'invalid charmhub-url: parse "hub": invalid URI for request'),
    ],
)
def test_download_refused(client: Run, words: list[str], status: int, text: str) -> None:
    ended = client("download", *words)
    assert ended.status == status
    assert ended.err.startswith(f"ERROR {text}")


def test_download_of_a_charm_without_the_track_latest(client: Run, shelf: HubStore, tmp_path: Path) -> None:
    """Juju has nothing then; the charm's own default track is what `deploy` takes, too."""
    told = '"web" has no releases in channel "stable", trying channel "14/stable"\n'
    assert client("download", "web").err.startswith(told)
    assert (tmp_path / "web_r12.charm").exists()
    shelf.entries["web"].channels.pop(("14", "edge", ""))
    shelf.entries["web"].channels["14", "stable", ""] = [11]
    assert client("download", "web").err.startswith(told)
    assert (tmp_path / "web_r11.charm").exists()
    ended = client("download", "web", "--base", "ubuntu@24.04")
    assert ended.err.startswith('ERROR "web" has no releases in channel "stable". Type\n')


def test_a_wrong_checksum(client: Run, shelf: HubStore) -> None:
    shelf.fail("download", "wrong")
    ended = client("download", "other")
    assert ended.err.splitlines()[1:3] == [
        'ERROR Checksum of download failed for "other":',
        f"Expected:   {shelf.entries['other'].revisions[3].sha256}",
    ]


def test_charm_resources_of_the_store(lab: Run, client: Run) -> None:
    table = "Resource  Revision\nblob      1\n"
    assert ok(lab("charm-resources", "web", "--channel", "14/stable")) == table
    assert ok(client("charm-resources", "web", "--channel", "14/stable")) == table
    (entry,) = json.loads(ok(lab("charm-resources", "web", "--channel", "14/edge", "--format", "json")))
    assert (entry["revision"], entry["origin"], entry["size"]) == (2, "store", 3)
    assert lab("charm-resources", "other").err == "No resources to display.\n"
    assert lab("charm-resources", "nothing").status == 1
