"""The commands api and controller run --api, as processes of their own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import NotValid
from pushjuju.web import certificates
from pushjuju.web.server import Address
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def folder(tmp_path: Path, empty_controller: Path, packs: Charms) -> Path:
    """A data directory with a controller."""
    return TestController.copy(empty_controller, tmp_path, packs).keep()


@contextmanager
def started(folder: Path, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command until the block ends."""
    environ = {**os.environ, "PUSHJUJU_DATA": str(folder), **variables}
    argv = [sys.executable, "-X", "importtime", "-m", "pushjuju.cli", *words]
    process = subprocess.Popen(argv, env=environ, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()  # it deletes its temporary files
        try:
            process.communicate(timeout=30)
        finally:
            process.kill()


def listening(process: subprocess.Popen[str]) -> int:
    """Return the port at which a process says that it listens."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(
            r"The API listens at 127\.0\.0\.1:(\d+); its CA has the fingerprint \w\w:", line
        ):
            return int(found[1])
    raise AssertionError("it never listens")


async def health(port: int, folder: Path) -> bytes:
    """Ask a server whether it runs."""
    trust = ssl.create_default_context(cafile=folder / "controllers" / "home" / "api" / "ca.pem")
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize("words", [("api", "--listen"), ("controller", "run", "--api")])
async def test_the_api_is_served_until_a_signal_comes(folder: Path, words: tuple[str, ...]) -> None:
    with started(folder, *words, "127.0.0.1:0") as process:
        port = await asyncio.to_thread(listening, process)
        assert (await health(port, folder)).endswith(b"running\n")
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate, timeout=30)
        assert process.returncode == 0


async def test_the_server_beside_the_workers_has_the_own_certificate(folder: Path, tmp_path: Path) -> None:
    other = certificates.ready(tmp_path / "other", ["juju.example.com"], SystemClock().now())
    cert = ("--cert", str(other.server), "--key", str(other.server_key))
    with started(folder, "controller", "run", "--api", "127.0.0.1:0", *cert) as process:
        port = await asyncio.to_thread(listening, process)
        trust = ssl.create_default_context(cafile=str(other.ca))
        name = {"ssl": trust, "server_hostname": "juju.example.com"}
        _, writer = await asyncio.open_connection("127.0.0.1", port, **name)
        writer.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "--api", ":1", "--key", "x"), "--key is the key of a certificate"),
        (("run", "--cert", "x"), "are for the API: say with --api where"),
        (("run", "--dashboard-hosts", "a.example"), "are for the API: say with --api where"),
        (
            ("run", "--api", ":1", "--dashboard-hosts", "a,b:1"),
            'takes names without ports, HOST[,...], not "b:1"',
        ),
        (("run", "--metrics", ""), '--metrics needs a value, not ""'),
        (("run", "--metrics-file="), '--metrics-file needs a value, not ""'),
        (("renew-key", "--cert", "x"), "controller renew-key does not take that flag"),
    ],
)
def test_flags_of_the_api_that_do_not_fit(folder: Path, words: tuple[str, ...], said: str) -> None:
    with started(folder, "controller", *words) as process:
        _, told = process.communicate(timeout=60)
        assert process.returncode == 2
    assert said in told


@pytest.mark.parametrize("words", [("models",), ("status",), ("controller", "--help"), ("api", "--help")])
def test_ordinary_commands_load_nothing_of_the_api(folder: Path, words: tuple[str, ...]) -> None:
    with started(folder, *words) as process:
        _, loaded = process.communicate(timeout=60)
        assert process.returncode == 0
    assert "pushjuju.cli.app" in loaded
    assert "aiohttp" not in loaded
    assert "pushjuju.web" not in loaded


def test_the_files_of_clients_are_for_their_owner_alone(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "juju"
    with started(folder, "api", "client-config", str(home), "--listen", "127.0.0.1:17171") as process:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    account = yaml.safe_load((home / "accounts.yaml").read_text())["controllers"]["home"]
    assert (account["user"], len(account["password"])) == ("admin", 24)
    assert account["password"] not in said
    about = yaml.safe_load((home / "controllers.yaml").read_text())["controllers"]["home"]
    assert about["api-endpoints"] == ["127.0.0.1:17171"]
    assert about["ca-cert"].startswith("-----BEGIN CERTIFICATE-----")


def test_a_new_ca_replaces_the_old_one_and_tells_who_needs_the_certificate(folder: Path) -> None:
    root, now = folder / "controllers" / "home" / "api", SystemClock().now()
    old = certificates.ready(root, ["juju.example.com"], now).ca.read_text()
    with started(folder, "api", "renew-ca") as process:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    made = certificates.Certificates(root)
    assert made.ca.read_text() != old
    for text in (certificates.fingerprint(made), str(made.ca), "client-config", "pushjuju login"):
        assert text in said
    server = made.server.read_text()
    certificates.ready(root, ["juju.example.com"], now)
    assert made.server.read_text() == server  # it has the names of the former, and the new CA has signed it


@pytest.mark.parametrize("former", ["ca-key.pem", "ca.pem", "server.pem"])
def test_a_renewal_that_was_cut_is_completed_at_the_next_start(folder: Path, former: str) -> None:
    root, now = folder / "controllers" / "home" / "api", SystemClock().now()
    certificates.ready(root, [], now)
    left = (root / former).read_text()
    certificates.renew_ca(root, now)
    (root / former).write_text(left)
    found = certificates.ready(root, [], now)
    ca, server = (x509.load_pem_x509_certificate(path.read_bytes()) for path in (found.ca, found.server))
    server.verify_directly_issued_by(ca)
    certificates.server_context(found)


@pytest.mark.parametrize("text", ["", "user@host", "host/path", "host:port", "host:65536", "[::1"])
def test_no_slip_opens_the_api_to_every_address(text: str) -> None:
    """What is empty, as after a comma too many, is not every address of the host."""
    with pytest.raises(NotValid, match="is not an address to listen at"):
        Address.parse(text)
    assert Address.parse(":17070").is_every
