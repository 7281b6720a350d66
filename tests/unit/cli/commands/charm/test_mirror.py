"""Mirrors: written from a stand-in of Charmhub, read from a folder and over HTTP, also without the store."""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.cli.commands.charm.mirror import make_server
from tests.charms_tools.hubstore import FOCAL, JAMMY, NOBLE, HubStore
from tests.world.charms import Charms
from tests.world.commandline import Ended, Run, ok

RESOURCE = {"blob": {"type": "file", "filename": "blob.txt", "description": "Some text."}}


pytestmark = pytest.mark.usefixtures("unworked")


@pytest.fixture
def shelf(hub: HubStore, packs: Charms) -> HubStore:
    web = packs.make("web", resources=RESOURCE, series=["jammy", "noble"]).path
    hub.add("web", web, revision=11, channels=["14/stable"], bases=[JAMMY], resources={"blob": 1})
    hub.add("web", web, revision=12, channels=["14/stable"], bases=[NOBLE], resources={"blob": 1})
    hub.add("web", web, revision=15, channels=["14/edge"], bases=[NOBLE], resources={"blob": 1})
    hub.entries["web"].default_track = "14"
    hub.add_resource("web", "blob", 1, b"one", "blob.txt")
    hub.add("old", packs.make("old", series=["focal"]).path, revision=2, bases=[FOCAL])
    return hub


@pytest.fixture
def mirror(cached: Run, shelf: HubStore, tmp_path: Path) -> Path:
    """A mirror of `web` (both bases of 14/stable, and 14/edge) and of `old`; the store is down afterwards."""
    folder, url = tmp_path / "mirror", ("--charmhub-url", shelf.url)
    ended = cached(
        "mirror", str(folder), "web", "web@14/edge", "--base", "ubuntu@24.04", *url
    )  # fmt: skip
    assert ended.err == (
        'Mirrored "web" revision 12 in channel 14/stable with 1 resources\n'
        'Already there: "web" revision 15 in channel 14/edge with 1 resources\n'
    )
    ok(cached("mirror", str(folder), "web", "--base", "ubuntu@22.04", *url))
    ok(cached("mirror", str(folder), "old", *url))
    shelf.entries.clear()
    return folder


@pytest.fixture(params=["folder", "http"])
def address(request: pytest.FixtureRequest, mirror: Path) -> Iterator[str]:
    """The mirror's address, of both kinds."""
    if request.param == "folder":
        yield f"file://{mirror}"
        return
    server = make_server(mirror, ("127.0.0.1", 0))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"mirror+http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def lab(cached: Run, address: str, tmp_path: Path) -> Run:
    """A model that has nothing but the mirror, and a cache of its own."""

    def call(*argv: str) -> Ended:
        return cached(*argv, env={"PUSHJUJU_CACHE": str(tmp_path / "other")})

    ok(call("bootstrap", "local", "home"))
    ok(call("add-model", "shop", "--config", f"charmhub-url={address}"))
    return call


def test_deploy_and_refresh_from_a_mirror(lab: Run) -> None:
    assert "revision 12 in channel 14/stable on ubuntu@24.04" in lab("deploy", "web").err
    assert "revision 11 in channel 14/stable" in lab("deploy", "web", "a", "--base", "ubuntu@22.04").err
    assert "revision 2 in channel latest/stable on ubuntu@20.04" in lab("deploy", "old").err
    assert "revision 15 in channel 14/edge" in lab("refresh", "web", "--channel", "edge").err
    assert ok(lab("resources", "web")).splitlines()[1].split() == ["blob", "store", "1"]
    ended = lab("refresh", "old")
    assert ended.err == 'charm "old": already up-to-date\n'


def test_what_a_mirror_lacks(lab: Run) -> None:
    assert 'resolving error: charm or bundle name not found: "none"' in lab("deploy", "none").err
    ended = lab("deploy", "web", "--channel", "16/stable")
    assert ended.err.splitlines()[:2] == [
        'ERROR selecting releases: charm or bundle not found for channel "16/stable", base "amd64"',
        "available releases are:",
    ]
    assert (
        "resolving error: revision not found"
        in lab("deploy", "web", "--revision", "9", "--channel", "edge").err
    )


def test_the_rest_of_the_client_reads_a_mirror(cached: Run, address: str, tmp_path: Path) -> None:
    url = ("--charmhub-url", address)
    assert "14/stable" in ok(cached("info", "web", *url))
    assert "web" in ok(cached("find", "we", *url))
    ok(cached("download", "web", "--channel", "14/stable", *url))
    assert (tmp_path / "web_r12.charm").exists()


def test_a_mirror_tells_what_it_has(cached: Run, shelf: HubStore, tmp_path: Path) -> None:
    """Not what the store had besides; what a bundle asks of its charms is judged before they are fetched."""
    folder = tmp_path / "part"
    ok(cached("mirror", str(folder), "web", "--base", "ubuntu@24.04", "--charmhub-url", shelf.url))
    shelf.entries.clear()
    address = f"file://{folder}"
    told = json.loads(ok(cached("info", "web", "--format", "json", "--charmhub-url", address)))["channels"]
    assert {track: list(risks) for track, risks in told.items()} == {"14": ["stable"]}
    ok(cached("bootstrap", "local", "home"))
    ok(cached("add-model", "shop", "--config", f"charmhub-url={address}"))
    (tmp_path / "b.yaml").write_text("applications: {web: {charm: web, num_units: 1, options: {nosuch: 1}}}")
    ended = cached("deploy", str(tmp_path / "b.yaml"), "--dry-run")
    assert 'configuration option "nosuch" not found in charm "web" (applications.web.options' in ended.err
    assert ended.out == ""


def test_a_mirror_is_not_fetched_again(cached: Run, shelf: HubStore, tmp_path: Path) -> None:
    words = ("mirror", str(tmp_path / "m"), "old", "--charmhub-url", shelf.url)
    assert cached(*words).err.startswith("Mirrored")
    assert cached(*words).err.startswith("Already there")
    assert len(shelf.asked("download")) == 1


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "expected a directory"),
        (["./m"], 2, "expected the names of charms, or --serve"),
        (["./m", "none"], 1, "none: resolving error: charm or bundle name not found"),
        (["./m", "web@a/b"], 1, 'risk in channel "a/b" not valid'),
        (["./m", "--serve", "8080"], 2, 'expected HOST:PORT for --serve, got "8080"'),
        (["./m", "--serve", "127.0.0.1:1"], 1, "m is not a mirror of charms: mirror.json is missing"),
    ],
)
def test_refused(
    cached: Run, shelf: HubStore, tmp_path: Path, words: list[str], status: int, text: str
) -> None:
    ended = cached("mirror", *words, "--charmhub-url", shelf.url)
    assert ended.status == status
    assert ended.err.startswith(f"ERROR {text}")
    assert not (tmp_path / "m").exists()


def test_a_damaged_mirror(lab: Run, mirror: Path) -> None:
    index = mirror / "mirror.json"
    whole = json.loads(index.read_text())
    for entry in whole["charms"]:
        entry["name"] = "../x"
    index.write_text(json.dumps(whole))
    assert "is damaged" in lab("deploy", "web").err
    index.write_text("[]")
    assert "is not a mirror of charms" in lab("deploy", "web").err
    for text in ("{", "[" * 100_000):
        index.write_text(text)
        assert re.search(r'mirror.json"? (cannot be read|answers without JSON)', lab("deploy", "web").err)


def test_a_damaged_file(lab: Run, mirror: Path) -> None:
    for path in (mirror / "files").iterdir():
        path.write_bytes(bytes(path.stat().st_size))
    assert "detected SHA256 hash mismatch" in lab("deploy", "web").err


def test_a_server_gives_nothing_but_the_mirror(mirror: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (mirror / "link").symlink_to(tmp_path / "secret")
    server = make_server(mirror, ("127.0.0.1", 0))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        for path in ("/", "/files/", "/link", "/../secret", "/%2e%2e/secret"):
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(f"http://127.0.0.1:{server.server_address[1]}{path}")
            caught.value.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


BUNDLE = """
default-base: ubuntu@24.04
applications:
  front: {charm: web, channel: 14/stable, num_units: 1, resources: {blob: 2}}
  back: {charm: old, num_units: 1, base: ubuntu@20.04}
  own: {charm: ./own, num_units: 1}
"""


def test_all_charms_of_a_bundle(
    cached: Run, shelf: HubStore, packs: Charms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.add_resource("web", "blob", 2, b"two", "blob.txt")
    (tmp_path / "bundle.yaml").write_text(BUNDLE)
    own = packs.make("own", series=["noble"]).path.with_suffix("")
    (tmp_path / "own").symlink_to(own)
    folder = tmp_path / "mirror"
    ended = cached("mirror", str(folder), "./bundle.yaml", "--charmhub-url", shelf.url)
    assert sorted(ended.err.splitlines()) == [
        'Mirrored "old" revision 2 in channel latest/stable',
        'Mirrored "web" revision 12 in channel 14/stable with 1 resources',
    ]
    shelf.entries.clear()
    ok(cached("bootstrap", "local", "home"))
    ok(cached("add-model", "shop", "--config", f"charmhub-url=file://{folder}"))
    ended = cached("deploy", "./bundle.yaml")
    assert ended.status == 0, ended.err
    shown = json.loads(ok(cached("status", "--format", "json")))["applications"]
    assert {name: item["charm-rev"] for name, item in shown.items()} == {"front": 12, "back": 2, "own": 0}
    assert ok(cached("resources", "front")).splitlines()[1].split() == ["blob", "store", "2"]
