"""The data directory and the TOML files that people edit."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, StoreError
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.places import locate
from pushjuju.store.files.toml_files import edit_toml, read_toml

CLOUDS = """\
# Clouds of the team. Ask Ann before you change one.

[clouds.lab]   # the rack in the cellar
type = "manual"
"""


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path / "share" / "pushjuju")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("env", "in_checkout", "expected"),
    [
        ({"PUSHJUJU_DATA": "/srv/pj", "HOME": "/home/a"}, True, "/srv/pj"),
        ({"PUSHJUJU_DATA": "/srv/pj", "JUJU_DATA": "/srv/j", "HOME": "/home/a"}, True, "/srv/pj"),
        ({"JUJU_DATA": "/srv/j", "HOME": "/home/a"}, True, "/srv/j"),
        ({"HOME": "/home/a"}, True, "CWD/state"),
        ({"HOME": "/home/a"}, False, "/home/a/.local/share/pushjuju"),
        ({"HOME": "/home/a", "XDG_DATA_HOME": "/x"}, False, "/x/pushjuju"),
    ],
)
def test_where_the_data_lies(tmp_path: Path, env: dict[str, str], in_checkout: bool, expected: str) -> None:
    (tmp_path / "state").mkdir()
    if in_checkout:
        (tmp_path / "state" / "pushjuju.toml").touch()
    assert str(locate(env, tmp_path)) == expected.replace("CWD", str(tmp_path))


def test_a_working_directory_that_may_not_be_entered(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    if os.geteuid() == 0:
        os.seteuid(65534)  # for root there is no such directory
    try:
        assert locate({"HOME": "/home/a"}, tmp_path) == Path("/home/a/.local/share/pushjuju")
    finally:
        os.seteuid(os.getuid())
        tmp_path.chmod(0o700)


def test_a_new_data_directory_is_empty(data: DataDir) -> None:
    assert data.controllers() == []
    assert data.current_controller() is None
    assert (data.clouds(), data.cloud_files.all_credentials(), data.main()) == ({}, {}, {})
    assert not data.root.exists()
    with pytest.raises(NotFound, match="controller none not found"):
        data.controller("none")


def test_a_controller_is_private_and_whole(data: DataDir) -> None:
    made = data.create_controller("lab", {"uuid": "u", "cloud": "local"})
    assert made.settings() == {"uuid": "u", "cloud": "local"}
    assert data.controllers() == ["lab"]
    assert data.controller("lab").root == made.root
    for path in [data.root, *data.root.rglob("*")]:
        expected = 0o700 if path.is_dir() else 0o644 if path.suffix == ".pub" else 0o600
        assert mode(path) == expected, path
    assert made.private_key.read_text().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert made.public_key.read_text().startswith("ssh-ed25519 ")
    assert made.public_key.read_text().endswith(" pushjuju-lab\n")


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="openssh-client is not installed")
def test_ssh_reads_the_key(data: DataDir) -> None:
    made = data.create_controller("lab", {})
    shown = subprocess.run(
        ["ssh-keygen", "-y", "-f", made.private_key], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split()[:2] == made.public_key.read_text().split()[:2]


def test_a_controller_is_made_once(data: DataDir) -> None:
    made = data.create_controller("lab", {"uuid": "1"})
    key = made.private_key.read_bytes()
    with pytest.raises(AlreadyExists, match='controller "lab" already exists'):
        data.create_controller("lab", {"uuid": "2"})
    assert made.settings() == {"uuid": "1"}
    assert made.private_key.read_bytes() == key


def test_a_half_made_controller_is_none_and_is_finished_later(data: DataDir) -> None:
    (data.root / "controllers" / "lab" / "ssh").mkdir(parents=True)
    assert data.controllers() == []
    data.create_controller("lab", {})
    assert data.controllers() == ["lab"]


def test_making_a_controller_may_be_cut_short_anywhere(data: DataDir) -> None:
    def die(made: ControllerDir) -> None:
        made.store_path.touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data.create_controller("lab", {}, die)
    assert data.controllers() == []
    key = data.root / "controllers" / "lab" / "ssh" / "id_ed25519.pub"
    key.unlink()
    made = data.create_controller("lab", {}, lambda made: Store.open(made.store_path, create=True).close())
    assert data.controllers() == ["lab"]
    assert made.public_key.exists()
    Store.open(made.store_path).close()


RACE = """
import sys, time
from pathlib import Path
from pushjuju.core.errors import AlreadyExists
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
root, start, me = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
time.sleep(max(0, start - time.time()))
for number in range(5):
    name = f"c{number}"
    try:
        DataDir(root).create_controller(name, {"maker": me})
        print("made", name)
    except AlreadyExists:
        print("there", name)
    Store.open(DataDir(root).controller(name).store_path, create=True).close()
"""


def test_two_processes_make_one_controller_together(data: DataDir) -> None:
    import time

    start = str(time.time() + 0.5)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(data.root), start, me], stdout=subprocess.PIPE, text=True
        )
        for me in "abc"
    ]
    printed = [run.communicate(timeout=60)[0].split("\n") for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    for number in range(5):
        assert sum(lines.count(f"made c{number}") for lines in printed) == 1
        assert sum(lines.count(f"there c{number}") for lines in printed) == 2
    assert data.controllers() == [f"c{number}" for number in range(5)]


def test_the_current_controller(data: DataDir) -> None:
    data.set_current_controller("lab")
    assert data.current_controller() == "lab"
    data.set_current_controller(None)
    data.set_current_controller(None)
    assert data.current_controller() is None


def test_settings_of_a_controller(data: DataDir) -> None:
    made = data.create_controller("lab", {})
    made.set("current-model", "admin/x")
    assert made.settings()["current-model"] == "admin/x"
    made.set("current-model", None)
    made.set("current-model", None)
    assert "current-model" not in made.settings()


def test_places_inside_a_controller(tmp_path: Path) -> None:
    made = ControllerDir(tmp_path / "lab")
    assert made.name == "lab"
    assert made.store_path == tmp_path / "lab" / "state.db"
    assert made.blobs.root == tmp_path / "lab" / "blobs"
    assert made.machines == tmp_path / "lab" / "machines"
    assert made.background_log == tmp_path / "lab" / "log" / "controller.log"
    assert made.known_hosts("uuid") == tmp_path / "lab" / "known_hosts" / "uuid"


def test_clouds_and_credentials_are_read(data: DataDir) -> None:
    data.root.mkdir(parents=True)
    (data.root / "clouds.toml").write_text(CLOUDS)
    (data.root / "credentials.toml").write_text('[credentials.lab.ann]\nauth-type = "empty"\n')
    assert data.clouds() == {"lab": {"type": "manual"}}
    found = data.cloud_files.credentials("lab").credentials
    assert {name: item.auth_type for name, item in found.items()} == {"ann": "empty"}


def test_an_edit_keeps_what_people_wrote(tmp_path: Path) -> None:
    path = tmp_path / "clouds.toml"
    path.write_text(CLOUDS)
    edit_toml(path, lambda document: document["clouds"].update({"more": {"type": "local"}}))
    assert path.read_text().startswith(CLOUDS)
    assert read_toml(path)["clouds"] == {"lab": {"type": "manual"}, "more": {"type": "local"}}
    assert mode(path) == 0o600


@pytest.mark.parametrize(
    "text", [b"[clouds\n", b"a = 1\na = 2\n", b"x = \xff\n"], ids=["syntax", "twice", "bytes"]
)
def test_a_broken_file_is_refused_untouched(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "clouds.toml"
    path.write_bytes(text)
    for action in (
        lambda: read_toml(path),
        lambda: edit_toml(path, lambda document: document.update({"b": 1})),
    ):
        with pytest.raises(NotValid) as caught:
            action()
        assert str(path) in caught.value.message
        assert str(path) in caught.value.hint
    assert path.read_bytes() == text


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a directory"):
        read_toml(tmp_path)


def test_an_edit_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "clouds.toml"
    path.write_text(CLOUDS)
    with pytest.raises(KeyError):
        edit_toml(path, lambda document: document["none"])
    assert path.read_text() == CLOUDS
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".new-")] == []


def test_a_full_disk_keeps_the_old_text(small_disk: Path) -> None:
    path = small_disk / "clouds.toml"
    path.write_text(CLOUDS)
    with pytest.raises(StoreError) as caught:
        edit_toml(path, lambda document: document.update({"big": "x" * 4_000_000}))
    assert f"cannot write {path}: no space left on device" in caught.value.message
    assert path.read_text() == CLOUDS
    assert [entry.name for entry in small_disk.iterdir() if entry.name.startswith(".new-")] == []


def test_a_read_only_disk_is_named(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StoreError) as caught:
        DataDir(small_disk / "data").create_controller("lab", {})
    assert "read-only file system" in caught.value.message
    assert "PUSHJUJU_DATA" in caught.value.hint


EDIT = """
import sys
from pathlib import Path
from pushjuju.store.datadir import edit_toml
path, me = Path(sys.argv[1]), sys.argv[2]
for number in range(50):
    edit_toml(path, lambda document: document.update({f"{me}{number}": number}))
"""


def test_edits_of_two_processes_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "pushjuju.toml"
    runs = [subprocess.Popen([sys.executable, "-c", EDIT, str(path), me]) for me in "ab"]
    assert [run.wait(60) for run in runs] == [0, 0]
    assert read_toml(path) == {f"{me}{number}": number for me in "ab" for number in range(50)}


def test_a_failed_beginning_leaves_no_folder_and_deletes_none_that_was_there(
    data: DataDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushjuju.store.ssh_key.new_pair", lambda: 1 / 0)
    folder = data.root / "controllers" / "lab"
    with pytest.raises(ZeroDivisionError):
        data.create_controller("lab", {})
    assert not folder.exists()
    folder.mkdir()
    (folder / "state.db").write_text("a store")
    with pytest.raises(ZeroDivisionError):
        data.create_controller("lab", {})
    assert (folder / "state.db").read_text() == "a store"
