"""The machine that builds gets the user's settings of pip, and passwords stay where they belong."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from pushjuju.core.errors import InvalidCharm
from pushjuju.services.supply import pip_settings, runpip
from pushjuju.services.supply.pip_settings import ENVIRONMENT, PipSettings

PRIVATE = "https://ann:s3cret-word@pypi.example/simple"


def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: str, **environ: str) -> PipSettings:
    """Return the settings of a user with a pip.conf and variables."""
    path = tmp_path / "pip.conf"
    path.write_text(conf)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))
    return pip_settings.read(environ)


def test_files_of_pip_come_along_and_paths_become_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, wheels = tmp_path / "own.pem", tmp_path / "wheels"
    own.write_text("-----BEGIN CERTIFICATE-----\n")
    wheels.mkdir()
    conf = f"""[global]
index-url = {PRIVATE}
extra-index-url =
    file://{tmp_path}/simple
    https://two.example/simple
find-links = {wheels}
cert = {own}
constraint = {tmp_path}/none.txt
require-virtualenv = true
[install]
trusted-host = two.example
"""
    found = settings(tmp_path, monkeypatch, conf)
    assert found.folders == (tmp_path / "simple", wheels)
    files = found.files(8000)
    assert files["/etc/pip.conf"].decode() == (
        "[global]\n"
        f"index-url = {PRIVATE}\n"
        f"extra-index-url = http://localhost:8000{tmp_path}/simple https://two.example/simple\n"
        f"find-links = http://localhost:8000{wheels}/\n"
        "cert = /root/.build-settings/cert-0\n"
        "trusted-host = two.example\n"
    )
    assert files["/root/.build-settings/cert-0"] == own.read_bytes()


def test_variables_count_more_than_files_and_all_certificates_come_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://three.example/simple")
    monkeypatch.setattr(runpip, "settings", lambda: {"index-url": "https://three.example/simple"})
    bundle = tmp_path / "own.pem"
    bundle.write_text("of our own\n")
    found = pip_settings.read(
        {
            "SSL_CERT_FILE": str(bundle),
            "HTTPS_PROXY": "http://ann:s3cret-word@proxy.example:3128",
            "no_proxy": "inside.example",
            "UV_FIND_LINKS": str(tmp_path),
            "UV_INDEX_OWN_PASSWORD": "hidden-word",
            "TOKEN": "stays",
        }
    )
    files = found.files(8000)
    assert b"of our own\n" in files["/root/.build-settings/certificates.pem"]
    lines = files[ENVIRONMENT].decode().splitlines()
    assert "export https_proxy=http://ann:s3cret-word@proxy.example:3128" in lines
    assert "export HTTPS_PROXY=http://ann:s3cret-word@proxy.example:3128" in lines
    assert "export no_proxy=inside.example,localhost,127.0.0.1" in lines
    assert f"export UV_FIND_LINKS=http://localhost:8000{tmp_path}/" in lines
    assert "export SSL_CERT_FILE=/root/.build-settings/certificates.pem" in lines
    assert "TOKEN" not in files[ENVIRONMENT].decode()
    assert found.secrets == {"s3cret-word", "hidden-word"}


def test_a_proxy_of_pip_is_one_for_all_programs_but_not_for_this_computer() -> None:
    files = PipSettings(options={"proxy": "http://127.0.0.1:3128"}).files(0)
    assert b"proxy" not in files["/etc/pip.conf"]
    assert b"export https_proxy=http://127.0.0.1:3128\n" in files[ENVIRONMENT]
    assert b"export NO_PROXY=localhost,127.0.0.1\n" in files[ENVIRONMENT]


def test_servers_of_this_computer_are_known_by_their_port() -> None:
    options = {
        "index-url": "http://localhost:3141/root/pypi/+simple/",
        "extra-index-url": "https://ann:s3cret-word@127.0.0.1/simple http://localhost.example/simple",
        "proxy": "http://localhost:port",
    }
    assert PipSettings(options=options).loopback == {("localhost", 3141), ("127.0.0.1", 443)}


def test_passwords_are_written_and_meant(tmp_path: Path) -> None:
    options = {"index-url": "https://__token__:a%2Fb-secret@one.example/", "find-links": "https://p@x/"}
    assert PipSettings(options=options).secrets == {"a%2Fb-secret", "a/b-secret"}


def test_passwords_do_not_show_in_texts() -> None:
    text = "fatal https://ann:pw@one.example/simple, git+ssh://git@two.example/x, the key s3cret-word"
    assert pip_settings.hidden(text, {"s3cret-word"}) == (
        "fatal https://****@one.example/simple, git+ssh://git@two.example/x, the key ****"
    )


def test_an_archive_with_a_password_is_found(tmp_path: Path) -> None:
    path = tmp_path / "built.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("src/charm.py", "pass")
        archive.writestr("pip.conf", f"index-url = {PRIVATE}")
    assert pip_settings.betrayed(path, {"s3cret-word"}) == "pip.conf"
    assert pip_settings.betrayed(path, {"other-word"}) == ""
    assert pip_settings.betrayed(path, ()) == ""


def test_an_address_with_a_password_is_not_an_argument_of_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(argv: list[str], **named: str) -> object:
        asked.append(argv)
        assert PRIVATE in named["stdin"]
        raise InvalidCharm("enough")

    monkeypatch.setattr(runpip.children, "run", run)
    with pytest.raises(InvalidCharm):
        runpip.fetch(["3.12.3", PRIVATE, str(tmp_path), "[]", "{}"])
    assert not any(PRIVATE in word for word in asked[0])
