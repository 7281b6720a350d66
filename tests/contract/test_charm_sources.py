"""Every built-in source of charms passes the suites; Charmhub is a stand-in, the real one is out of reach."""

from __future__ import annotations

import os
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pushjuju.charms.archive.reader import read_charm
from pushjuju.cli.commands.charm.mirror import make_server
from pushjuju.core import children
from pushjuju.core.base import Channel
from pushjuju.core.charmstore import Platform
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.sources import CharmPlace, CharmStore, SourceServices
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.bundles.mirroring import Wanted, mirror
from pushjuju.testing.source_contract import CharmPlaceContract, CharmStoreContract, StoreBench
from tests.charms_tools.hubstore import JAMMY, NOBLE, HubStore
from tests.world.charms import Charms

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


def test_a_clone_starts_nothing_of_the_repository(tmp_path: Path, repository: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(repository), *words], check=True)

    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\n")
    trap.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=bad\n")
    (repository / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = x\n\turl = ext::{trap}\n')
    git("add", "-A")
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
    git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "x")
    for key in ("filter.bad.smudge", "core.fsmonitor", "uploadpack.packObjectsHook", "core.sshCommand"):
        git("config", key, str(trap))
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (repository / ".git/hooks" / hook).symlink_to(trap)
    own = tmp_path / "gitconfig"
    own.write_text("[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n")
    services = SourceServices(environ={"GIT_CONFIG_GLOBAL": str(own), "PATH": os.environ["PATH"]})
    place = PluginHost(environ={}).open_charm_place(f"git+file://{repository}@work#charms/web", services)
    assert place is not None
    ran.unlink(missing_ok=True)  # hooks of the repository ran for its owner
    with pytest.raises(ProviderError) as caught:  # its submodule names a program
        place.bring(tmp_path / "first")
    assert "transport 'ext' not allowed" in caught.value.detail
    assert not ran.exists()
    git("rm", "-q", "--cached", "x", ".gitmodules")
    git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "y")
    ran.unlink(missing_ok=True)  # a hook of the repository ran for its owner
    assert read_charm(place.bring(tmp_path / "second")).charm.name == "web"
    assert not ran.exists()


def test_a_clone_over_ssh_lends_no_agent(tmp_path: Path) -> None:
    tools, own = tmp_path / "tools", tmp_path / "gitconfig"
    tools.mkdir()
    for name in ("ssh", "mine"):
        (tools / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/said\nexit 1\n')
        (tools / name).chmod(0o755)
    environ = {"GIT_CONFIG_GLOBAL": str(own), "PATH": f"{tools}:{os.environ['PATH']}"}
    for text in ("", f"[core]\n\tsshCommand = {tools}/mine\n"):
        own.write_text(text)
        services = SourceServices(environ=environ)
        place = PluginHost(environ={}).open_charm_place("git+ssh://git@host.example/web.git", services)
        assert place is not None
        with pytest.raises(ProviderError):
            place.bring(tmp_path / f"work-{bool(text)}")
    said = (tmp_path / "said").read_text().splitlines()  # git asks first what kind of ssh there is
    assert {line.partition(" -G")[0].partition(" git@")[0].partition(" -o")[0] for line in said} == {
        f"{tools}/ssh -a -x",
        f"{tools}/mine",
    }


class Guarded(BaseHTTPRequestHandler):
    """Serves git repositories to who logs in as `me` with `hunter2`, as a code host does."""

    root: Path

    def do_GET(self) -> None:
        """Answer by git's own program for servers."""
        if self.headers["Authorization"] != "Basic " + b64encode(b"me:hunter2").decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            return self.end_headers()
        path, _, query = self.path.partition("?")
        size = self.headers.get("Content-Length", "0")
        environ = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": size,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "me",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "HTTP_CONTENT_ENCODING": "",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }  # fmt: skip
        body = self.rfile.read(int(size))
        if self.headers.get("Content-Encoding") == "gzip":
            environ["HTTP_CONTENT_ENCODING"] = "gzip"
        argv = ["git", "http-backend"]
        done = subprocess.run(argv, env=environ, input=body, stdout=subprocess.PIPE, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().splitlines():
            self.send_header(*line.split(": ", 1))
        self.end_headers()
        self.wfile.write(content)
        return None

    do_POST = do_GET  # noqa: N815 - the name is http.server's

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def code_host(repository: Path) -> Iterator[str]:
    """A server of the repository that wants a login; yields host and port."""
    handler = type("Handler", (Guarded,), {"root": repository.parent})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_password_of_a_repository_is_no_argument_of_git(
    code_host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    run = children.run

    def seen(argv: Sequence[str], **options: Any) -> children.Ended:
        ran.extend(argv)
        return run(argv, **options)

    monkeypatch.setattr(children, "run", seen)
    found = placed(f"git+http://me:hunter2@{code_host}/repository@work#charms/web").bring(tmp_path / "w")
    assert (found / "metadata.yaml").is_file()
    assert f"http://{code_host}/repository" in ran
    assert not [word for word in ran if "hunter2" in word]
    assert "hunter2" not in (tmp_path / "w/checkout/.git/config").read_text()


def test_a_wrong_password_of_a_repository_is_in_no_error(code_host: str, tmp_path: Path) -> None:
    place = placed(f"git+http://me:wrongword@{code_host}/repository@work")
    with pytest.raises(ProviderError, match=f"cannot clone http://{code_host}/repository") as failure:
        place.bring(tmp_path / "w")
    assert "wrongword" not in f"{failure.value} {failure.value.detail}"
