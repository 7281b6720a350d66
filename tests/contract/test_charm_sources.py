"""Every built-in source of charms passes the suites; Charmhub is a stand-in, the real one is out of reach."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.cli.commands.mirroring import make_server
from pushjuju.core.channel import Channel
from pushjuju.core.charmstore import Platform
from pushjuju.core.errors import NotValid
from pushjuju.plugins.charmtypes import CharmPlace, CharmStore, SourceServices
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.mirroring import Wanted, mirror
from pushjuju.testing.source_contract import CharmPlaceContract, CharmStoreContract, StoreBench
from tests.charms_tools.hubstore import JAMMY, NOBLE, HubStore
from tests.unit.services.world import Charms

SERVICES = SourceServices(environ={}, sleep=lambda _seconds: None)
NOBLE_P = Platform(arch=NOBLE[0], os=NOBLE[1], track=NOBLE[2])
JAMMY_P = Platform(arch=JAMMY[0], os=JAMMY[1], track=JAMMY[2])


def opened(address: str) -> CharmStore:
    return PluginHost(environ={}).open_charm_store(address, SERVICES)


def bench_of(store: CharmStore) -> StoreBench:
    return StoreBench(
        store=store, name="web", revision=12, channel=Channel.parse("14/stable"), platform=NOBLE_P,
        resource="blob",
    )  # fmt: skip


@pytest.fixture
def shelf(hub: HubStore, packs: Charms) -> HubStore:
    resource = {"blob": {"type": "file", "filename": "blob.txt"}}
    data = packs.make("web", resources=resource, series=["jammy", "noble"]).path
    hub.add("web", data, revision=11, channels=["14/stable"], bases=[JAMMY], resources={"blob": 1})
    hub.add("web", data, revision=12, channels=["14/stable"], bases=[NOBLE], resources={"blob": 1})
    hub.entries["web"].default_track = "14"
    hub.add_resource("web", "blob", 1, b"one", "blob.txt")
    return hub


@pytest.fixture
def folder(shelf: HubStore, tmp_path: Path) -> Path:
    target = tmp_path / "mirror"
    wanted = [Wanted(name="web", platforms=(NOBLE_P, JAMMY_P))]
    mirror(opened(shelf.url), wanted, target, environ={"PUSHJUJU_CACHE": str(tmp_path / "cache")})
    return target


class TestCharmhub(CharmStoreContract):
    """The protocol of Charmhub."""

    @pytest.fixture
    def bench(self, shelf: HubStore) -> StoreBench:
        return bench_of(opened(shelf.url))


class TestMirrorFolder(CharmStoreContract):
    """A mirror on this computer."""

    @pytest.fixture
    def bench(self, folder: Path) -> StoreBench:
        return bench_of(opened(f"file://{folder}"))


class TestMirrorOverHttp(CharmStoreContract):
    """A mirror behind a web server."""

    @pytest.fixture
    def bench(self, folder: Path) -> Iterator[StoreBench]:
        server = make_server(folder, ("127.0.0.1", 0))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield bench_of(opened(f"mirror+http://127.0.0.1:{server.server_address[1]}"))
        server.shutdown()
        server.server_close()
        thread.join()


def placed(address: str) -> CharmPlace:
    found = PluginHost(environ={}).open_charm_place(address, SERVICES)
    assert found is not None
    return found


class TestDirectory(CharmPlaceContract):
    """A charm's directory."""

    @pytest.fixture
    def place(self, packs: Charms) -> CharmPlace:
        return placed(str(packs.make("web").path.with_suffix("")))

    @pytest.fixture
    def empty(self, tmp_path: Path) -> CharmPlace:
        return placed(str(tmp_path / "none"))


class TestArchive(CharmPlaceContract):
    """A .charm file."""

    @pytest.fixture
    def place(self, packs: Charms) -> CharmPlace:
        return placed(str(packs.make("web").path))

    @pytest.fixture
    def empty(self, tmp_path: Path) -> CharmPlace:
        return placed(str(tmp_path / "none.charm"))


@pytest.fixture
def repository(packs: Charms, tmp_path: Path) -> Path:
    """A git repository whose branch `work` has a charm in `charms/web`."""
    root = tmp_path / "repository"
    target = root / "charms" / "web"
    target.parent.mkdir(parents=True)
    source = packs.make("web").path.with_suffix("")
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q", "-b", "work"), ("add", "."), (*who, "commit", "-q", "-m", "first")):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    return root


class TestGit(CharmPlaceContract):
    """A git checkout."""

    @pytest.fixture
    def place(self, repository: Path) -> CharmPlace:
        return placed(f"git+file://{repository}@work#charms/web")

    @pytest.fixture(params=["@none#charms/web", "@work#charms/none"])
    def empty(self, repository: Path, request: pytest.FixtureRequest) -> CharmPlace:
        return placed(f"git+file://{repository}{request.param}")


@pytest.mark.parametrize(
    "address",
    [
        "git+ext::sh -c true",
        "git+https://",
        "git+https://h/r@--upload-pack=x",
        "git+https://h/r#../x",
        "git+x",
    ],
)
def test_addresses_of_no_repository(address: str) -> None:
    with pytest.raises(NotValid):
        placed(address)
