"""Users and models that are made and changed from another computer, and a real server and real commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.waiting import comes
from tests.world.commandline import Home, ok
from tests.world.remote import PASSWORD, ServedHouse


def test_a_user_changes_her_own_password(kim: Home) -> None:
    assert (
        kim("change-user-password", "--no-prompt", stdin="another\n").err
        == "Your password has been changed.\n"
    )
    ok(kim("status"))
    assert kim("login", "-c", "team", "--no-prompt", stdin=f"{PASSWORD}\n").status == 1


def test_a_superuser_adds_a_user_who_registers(kim: Home, served: ServedHouse, tmp_path: Path) -> None:
    assert "ERROR permission denied" in kim("add-user", "lee").err
    ok(served.host("grant", "kim", "superuser"))
    string = re.search(r"register (\S+)", ok(kim("add-user", "lee", "Lee L")))
    assert string is not None
    home = tmp_path / "lee"
    home.mkdir()
    answers = f"\n{PASSWORD}\n{PASSWORD}\n"
    assert 'now logged into "team"' in Home(home)("register", string[1], stdin=answers).err
    assert "Ask the user to run:\n    pushjuju register " in kim("change-user-password", "lee", "--reset").err


def test_a_model_is_made_and_destroyed(kim: Home, served: ServedHouse) -> None:
    assert kim("add-model", "lab").status == 1
    ok(served.host("grant-cloud", "kim", "add-model", "local"))
    assert "Added 'lab' model on local/default for user 'kim'" in kim("add-model", "lab", "local").err
    assert "current-model: lab" in ok(kim("models", "--format", "yaml"))
    assert kim("destroy-model", "lab", stdin="no\n").status == 1
    assert "Destroying model" in kim("destroy-model", "lab", stdin="lab\n").err
    assert "No model in focus." in kim("status").err
    assert "kim/lab" not in ok(served.host("models"))


def test_a_server_and_commands_in_processes_of_their_own(tmp_path: Path) -> None:
    host, kim = (Processes(tmp_path / name) for name in ("host", "kim"))
    host("bootstrap", "local", "home")
    host("add-model", "shop")
    log = tmp_path / "api.log"
    words = [sys.executable, "-m", "pushjuju.cli", "api", "--listen", "127.0.0.1:0"]
    with log.open("w") as stream, subprocess.Popen(words, env=host.env, stderr=stream) as server:
        try:
            comes(lambda: "The API listens" in log.read_text(), "the server starts")
            string = host("add-user", "kim").split("register ")[1].split()[0]
            host("grant", "kim", "read", "shop")
            kim("register", string, stdin=f"team\n{PASSWORD}\n{PASSWORD}\n")
            assert kim("switch") == "team:admin/shop\n"
            assert kim("status").startswith("Model  Controller  Cloud/Region")
        finally:
            server.terminate()


class Processes:
    """The home of a user whose command lines run as processes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        own = {"HOME": str(folder), "PUSHJUJU_DATA": str(folder / "data"), "PUSHJUJU_WAIT": "0"}
        self.env = {**os.environ, **own}

    def __call__(self, *argv: str, stdin: str = "") -> str:
        """Run a command line, which must succeed; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "pushjuju.cli", *argv],
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
