"""A machine that builds a charm runs the work of strangers: what it sends is bounded."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from pushjuju.core import limits
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm
from pushjuju.services.supply import build_machine
from pushjuju.services.supply.build_machine import BuildMachine
from pushjuju.services.supply.pip_settings import PipSettings

KEY = asyncssh.generate_private_key("ssh-ed25519")


class Anybody(asyncssh.SSHServer):
    """Lets everybody in."""

    def __init__(self, known: list[asyncssh.SSHServerConnection]) -> None:
        self._known = known

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._known.append(conn)

    def begin_auth(self, username: str) -> bool:
        return False

    def server_requested(self, listen_host: str, listen_port: int) -> bool:
        return True


async def answer(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Do what the command says: send without end, fail with much to say, end by a signal, or echo."""
    word = (process.command or "").split()[-1]
    try:
        while word == "flood":
            process.stdout.write(b"x" * 65536)
            await process.stdout.drain()
        if word == "fail":
            process.stderr.write(b"y" * 100_000 + b" the end")
            await process.stderr.drain()
            return process.exit(3)
        if word == "killed":
            return process.exit_with_signal("KILL")
        process.stdout.write(await process.stdin.read() or b"nothing")
        process.exit(0)
    except (BrokenPipeError, asyncssh.Error):
        process.exit(1)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[BuildMachine]:
    """A machine that is there already, behind a real SSH server."""
    made = BuildMachine(Base.parse("ubuntu@24.04"), "amd64", tmp_path, {}, lambda _: None)
    loop, known = made._loop, list[asyncssh.SSHServerConnection]()

    async def begin() -> asyncssh.SSHAcceptor:
        server = await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[KEY], server_factory=lambda: Anybody(known),
            process_factory=answer,
            encoding=None,
        )  # fmt: skip
        made._connection = await asyncssh.connect(
            "127.0.0.1", server.get_port(), known_hosts=([KEY.convert_to_public()], [], []), config=None,
            client_keys=None,
        )  # fmt: skip
        return server

    async def end() -> None:
        for connection in (made._connection, *known):
            connection.abort()
            await connection.wait_closed()
        server.close()
        await server.wait_closed()

    server = loop.run_until_complete(begin())
    yield made
    loop.run_until_complete(end())
    loop.close()


def test_a_build_that_sends_without_end_is_given_up(
    machine: BuildMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BUILT", 4 << 20)
    with pytest.raises(InvalidCharm, match="the build failed: the output is larger than 4 MiB"):
        machine._run("flood")
    assert machine._run("echo") == b"nothing"


def test_of_much_that_a_build_says_the_end_is_shown(machine: BuildMachine) -> None:
    with pytest.raises(InvalidCharm, match="cannot build x") as caught:
        machine._run("fail", failed="cannot build x")
    assert caught.value.detail.endswith("y the end")
    assert len(caught.value.detail) == build_machine._TAIL


def test_a_build_that_is_killed_has_failed(machine: BuildMachine) -> None:
    with pytest.raises(InvalidCharm, match="the build failed"):
        machine._run("killed")


def test_what_is_sent_comes_back_whole(machine: BuildMachine) -> None:
    data = bytes(range(256)) * 8192
    assert machine._run("echo", stdin=data) == data


def fetched(machine: BuildMachine, url: str) -> bytes:
    """Return what a program of the machine reads at an address; nothing when there is no file."""

    def read() -> bytes:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            error.close()
            return b""

    return machine._loop.run_until_complete(asyncio.to_thread(read))


def test_folders_of_packages_on_this_computer_are_read_through_the_connection(
    machine: BuildMachine, tmp_path: Path
) -> None:
    """Like pip, which follows the links of an index to files beside the index."""
    index, files = tmp_path / "own index/simple/fast", tmp_path / "own index/files"
    index.mkdir(parents=True)
    files.mkdir()
    (files / "fast-1.whl").write_bytes(b"x" * 300_000)
    (tmp_path / "other.txt").write_text("not for machines")
    (index / "index.html").write_text('<a href="../../files/fast-1.whl#sha256=1">fast</a>')
    settings = PipSettings(options={"index-url": f"file://{tmp_path}/own%20index/simple"})
    port = machine._loop.run_until_complete(machine._share(settings))
    top = f"http://localhost:{port}{tmp_path}".replace(" ", "%20")
    assert fetched(machine, f"{top}/own%20index/files/fast-1.whl") == b""
    assert b"files/fast-1.whl#sha256=1" in fetched(machine, f"{top}/own%20index/simple/fast/")
    assert fetched(machine, f"{top}/own%20index/files/fast-1.whl") == b"x" * 300_000
    for place in ("other.txt", "own%20index/simple/../../other.txt", "own%20index/simple/none/"):
        assert fetched(machine, f"{top}/{place}") == b""


def test_a_folder_of_wheels_is_a_page_with_links(machine: BuildMachine, tmp_path: Path) -> None:
    (tmp_path / "fast & small-1.whl").write_bytes(b"wheel")
    settings = PipSettings(options={"find-links": str(tmp_path)})
    port = machine._loop.run_until_complete(machine._share(settings))
    page = fetched(machine, f"http://localhost:{port}{tmp_path}/").decode()
    assert page == '<a href="fast%20%26%20small-1.whl">fast &amp; small-1.whl</a>\n'
    assert fetched(machine, f"http://localhost:{port}{tmp_path}/fast%20%26%20small-1.whl") == b"wheel"


def test_a_loopback_index_of_this_computer_is_reached_at_the_same_address(
    machine: BuildMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[str, int, str, int]]()

    async def forward(*places: object) -> None:
        asked.append(places)  # type: ignore[arg-type]

    monkeypatch.setattr(machine._connection, "forward_remote_port", forward)
    settings = PipSettings(options={"index-url": "http://localhost:3141/simple"})
    assert machine._loop.run_until_complete(machine._share(settings)) == 0
    assert asked == [("localhost", 3141, "localhost", 3141)]


def test_settings_go_to_the_machine_on_the_standard_input(
    machine: BuildMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = list[tuple[str, bytes]]()

    def run(_machine: BuildMachine, words: list[str], *, stdin: bytes = b"") -> bytes:
        ran.append((" ".join(words), stdin))
        return b""

    monkeypatch.setattr(BuildMachine, "_run", run)
    machine._hand_over(PipSettings(options={"index-url": "https://ann:s3cret-word@x/"}))
    assert not any("s3cret-word" in words for words, _ in ran)
    assert any("600 /dev/stdin /etc/pip.conf" in words and b"s3cret-word" in text for words, text in ran)


def test_an_archive_with_a_password_is_not_taken(
    machine: BuildMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        archive.writestr("env.txt", "s3cret-word")
    machine._settings = PipSettings(options={"index-url": "https://ann:s3cret-word@x/"})
    monkeypatch.setattr(BuildMachine, "_run", lambda *_words: (tmp_path / "made.zip").read_bytes())
    with pytest.raises(InvalidCharm, match=r"wrote a password of pip's settings .* into env.txt"):
        machine._bring("/root/build/built.zip", tmp_path / "built.zip")
    assert not (tmp_path / "built.zip").exists()
