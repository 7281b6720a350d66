"""Keys of a model: adding, listing, removing, importing from a server on this computer."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pushjuju.services.entities.basis.context import open_context
from pushjuju.services.entities.model import models
from pushjuju.services.requests.model import ssh_keys
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.records import Machine
from pushjuju.workers.machine import keywriter
from tests.world.commandline import Run, ok

KIM = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILTw1yJzqNmzJc4p7Qz0oT4yZ0hYJtO6cQkqNq9bH2r1"
ROB = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAGTnxSVmVQ9ITRwPEsoCnNGWLkXZCYCXpLtLQ4NdEr"


pytestmark = pytest.mark.usefixtures("unworked")


def _md5(key: str) -> str:
    digest = hashlib.md5(b64decode(key.split()[1]), usedforsecurity=False).hexdigest()
    return ":".join(digest[at : at + 2] for at in range(0, 32, 2))


def test_keys_are_added_listed_and_removed(lab: Run) -> None:
    ended = lab("ssh-keys")
    assert (ended.status, ended.out, ended.err) == (0, "", "No keys to display.\n")
    ended = lab("add-ssh-key", f"{KIM} kim@laptop", f"{ROB} rob", "badness", f"{KIM} again")
    assert ended.status == 0
    assert ended.err == (
        'cannot add key "badness": invalid ssh key: badness\n'
        f'cannot add key "{KIM} again": duplicate ssh key: {KIM} again\n'
    )
    assert ok(lab("ssh-keys")) == (
        f"Keys used in model: admin/shop\n{_md5(KIM)} (kim@laptop)\n{_md5(ROB)} (rob)\n"
    )
    assert ok(lab("ssh-keys", "--full")) == f"Keys used in model: admin/shop\n{KIM} kim@laptop\n{ROB} rob\n"
    ended = lab("remove-ssh-key", "kim@laptop", "nobody")
    assert (ended.status, ended.err) == (0, 'cannot remove key id "nobody": key not found: nobody\n')
    assert "kim" not in ok(lab("ssh-keys"))
    ok(lab("remove-ssh-key", _md5(ROB)))
    assert lab("ssh-keys").err == "No keys to display.\n"


@pytest.mark.parametrize(
    "text",
    [
        "", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-what AAAAC3NzaC1lZDI1NTE5AAAAILTw",
        "ssh-rsa " + KIM.split()[1], f"{KIM}\nssh-rsa x", 'command="rm" ' + KIM, "ssh-ed25519 !!!!",
        "ssh-ed25519 " + "A" * 20000, f"{KIM} \x1b[2J",
    ],
)  # fmt: skip
def test_what_is_no_key_is_not_taken(lab: Run, text: str) -> None:
    ended = lab("add-ssh-key", "--", text)
    assert ended.status == 0
    assert "invalid ssh key: " in ended.err
    assert lab("ssh-keys").err == "No keys to display.\n"


def test_internal_keys_are_not_added(lab: Run) -> None:
    assert "may not add key with comment juju-client-key" in lab("add-ssh-key", f"{KIM} juju-client-key").err


def test_every_machine_is_asked_to_take_a_change(lab: Run, tmp_path: Path) -> None:
    ok(lab("add-machine", "--no-wait"))
    ok(lab("add-ssh-key", f"{KIM} kim"))
    ok(lab("add-machine", "--no-wait"))
    ctx = open_context(DataDir(tmp_path / "data"), "lab")
    model = models.list_models(ctx)[0].uuid
    with ctx.read(model) as tx:
        due = {item.id: item.keys_due for item in tx.list(Machine, "machine_list")}
    ctx.close()
    assert due == {"0": 1, "1": 1}


# --- the script -------------------------------------------------------------------------------------------


def _machine(user: str) -> Machine:
    return Machine(
        model="m-1",
        id="0",
        life="alive",
        base="ubuntu@24.04/stable",
        ssh={"user": user},
        created=datetime(2025, 3, 1, tzinfo=UTC),
    )


def _run_write(home: Path, keys: str) -> None:
    words = ["/bin/sh", "-c", keywriter._WRITE, "sh", str(home), keywriter.mark("m-1")]
    subprocess.run(words, input=keys.encode(), check=True)


def test_the_file_keeps_what_others_wrote(tmp_path: Path) -> None:
    file = tmp_path / ".ssh" / "authorized_keys"
    _run_write(tmp_path, "")
    assert not file.exists()
    file.parent.mkdir()
    file.write_text("ssh-rsa AAAA own\nssh-rsa BBBB pushjuju:m-2\nlast")
    _run_write(tmp_path, f"{KIM} kim {keywriter.mark('m-1')}\n")
    kept = "ssh-rsa AAAA own\nssh-rsa BBBB pushjuju:m-2\nlast\n"
    assert file.read_text() == f"{kept}{KIM} kim pushjuju:m-1\n"
    before = file.stat().st_ino
    _run_write(tmp_path, f"{KIM} kim {keywriter.mark('m-1')}\n")
    assert file.stat().st_ino == before
    _run_write(tmp_path, "")
    assert file.read_text() == kept
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["authorized_keys"]


def test_as_many_keys_as_a_model_may_have_reach_their_file(tmp_path: Path) -> None:
    """A thousand RSA keys are more than a kernel takes in one argument of a program."""
    stubs = {"getent": f"echo user:x:0:0::{tmp_path}:/bin/sh", "id": "echo 0"}
    for name, line in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    keys = [f"ssh-rsa {'A' * 716} user-{number}" for number in range(ssh_keys.MOST)]
    script = keywriter.script(_machine("user"), keys).encode()
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["/bin/sh", "-s"], input=script, env=env, check=True)
    written = (tmp_path / ".ssh/authorized_keys").read_text()
    assert written == "".join(f"{key} {keywriter.mark('m-1')}\n" for key in keys)


def test_the_script_is_sound_whatever_a_comment_holds(tmp_path: Path) -> None:
    text = keywriter.script(_machine("no-such-user"), [f'{KIM} it\'s $(touch {tmp_path}/x) `id` "q"'])
    subprocess.run(["/bin/sh", "-n"], input=text.encode(), check=True)
    assert not (tmp_path / "x").exists()


# --- import -----------------------------------------------------------------------------------------------


class _Keys(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        pages = {"/kim.keys": f"{KIM}\n{ROB}\n", "/~rob/+sshkeys": f"{ROB} rob@home\n", "/empty.keys": ""}
        if self.path in pages:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(pages[self.path].encode())
        else:
            self.send_error({"/down.keys": 503}.get(self.path, 404))

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[dict[str, str]]:
    """Serve keys; return the environment that names the server."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Keys)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{http.server_port}"
    yield {"PUSHJUJU_GITHUB_URL": url, "PUSHJUJU_LAUNCHPAD_URL": url}
    http.shutdown()
    thread.join()
    http.server_close()


def test_keys_of_people_are_imported(lab: Run, server: dict[str, str]) -> None:
    ended = lab("import-ssh-key", "gh:kim", "lp:rob", "gh:empty", env=server)
    assert ended.status == 0
    assert "cannot import key id" in ended.err
    assert 'cannot import key id "gh:empty": no keys found' in ended.err
    shown = ok(lab("ssh-keys", "--full"))
    assert f"{KIM} # ssh-import-id gh:kim\n" in shown
    assert shown.count("ssh-ed25519") == 2


@pytest.mark.parametrize(
    ("who", "text"),
    [
        ("gh:nobody", 'cannot import key id "gh:nobody": GitHub knows no user "nobody"'),
        ("gh:down", 'cannot import key id "gh:down": cannot read keys from GitHub: the server answers 503'),
    ],
)
def test_a_person_that_cannot_be_found(lab: Run, server: dict[str, str], who: str, text: str) -> None:
    ended = lab("import-ssh-key", "gh:kim", who, env=server)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == f"ERROR {text}\n"
    assert lab("ssh-keys").err == "No keys to display.\n"


def test_a_server_that_is_away(lab: Run) -> None:
    ended = lab("import-ssh-key", "gh:kim", env={"PUSHJUJU_GITHUB_URL": "http://127.0.0.1:9"})
    assert ended.status == 1
    assert ended.err.startswith('ERROR cannot import key id "gh:kim": cannot read keys from GitHub: ')
    ended = lab("import-ssh-key", "gh:kim", env={"PUSHJUJU_GITHUB_URL": "http://example.com"})
    assert "must be an https:// URL" in ended.err


@pytest.mark.parametrize("who", ["kim", "xx:kim", "gh:", "gh:../etc", "gh:a b", "gh:a/b"])
def test_an_id_that_is_none(lab: Run, who: str) -> None:
    ended = lab("import-ssh-key", who)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("ERROR key id ")
