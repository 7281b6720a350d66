"""Two people share a controller of real machines: the command lines of share-a-controller.md, in order."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charms.client import HELLO, Client
from tests.waiting import comes
from tests.world import how_to

pytestmark = pytest.mark.machine
PASSWORD = "a-password-of-kim"


@pytest.fixture
def kim(tmp_path: Path) -> Iterator[Client]:
    """A second person, on another computer, whose key is in an agent."""
    made = Client(tmp_path / "kim" / "data", tmp_path / "kim")
    made.work.mkdir()
    socket = made.work / "agent"
    made.environ["SSH_AUTH_SOCK"] = str(socket)
    with subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL) as agent:
        comes(socket.exists)
        yield made
        made.end_processes()
        agent.terminate()


def new_key(person: Client) -> str:
    """Give a person's agent a new key; return its public part."""
    key = person.work / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    subprocess.run(["ssh-add", "-q", key], env=person.environ, check=True)
    return key.with_suffix(".pub").read_text().strip()


def serve(host: Client, words: list[str]) -> None:
    process = host.start(*("127.0.0.1:0" if word == "192.0.2.7" else word for word in words))
    assert process.stderr is not None
    assert any("The API listens at" in line for line in process.stderr)


def test_the_page_about_sharing_works_line_by_line(client: Client, kim: Client) -> None:
    client.run("bootstrap", "local", "here", "--add-model", "web")
    invitation = ""

    def run(line: str) -> tuple[int, str]:
        nonlocal invitation
        words = line.split()[1:]
        match words[0]:
            case "controller":
                serve(client, words)
                return 0, ""
            case "add-user" | "change-user-password":
                done = client.try_run(*words)
                (invitation,) = re.findall(r"pushjuju register (\S+)", done.stdout + done.stderr)
            case "grant":
                done = client.try_run(*words)
            case "register":
                done = kim.try_run("register", invitation, stdin=f"team\n{PASSWORD}\n{PASSWORD}\n")
            case "login":
                done = kim.try_run("login", "--no-prompt", stdin=f"{PASSWORD}\n")
            case _:
                done = kim.try_run(*words)
        return done.rc, done.stdout + done.stderr

    named = ["pushjuju api", "pushjuju controller run --api"]
    how_to.play(
        "share-a-controller.md",
        run,
        left_out={
            **dict.fromkeys(named, "named in a sentence; the second is run with an address"),
            "pip install 'pushjuju[api]'": "the tests have the extra",
            "pushjuju unregister team": "ends what the test goes on with; tests/unit/client unregisters",
        },
    )
    kim.run("deploy", HELLO, "front")
    comes(lambda: kim.units("front")["front/0"]["workload-status"]["current"] == "active", "not active")
    comes(lambda: client.status()["applications"] == kim.status()["applications"], "they differ")
    kim.run("config", "front", "greeting=Hello from Kim")
    assert client.run("config", "front", "greeting").strip() == "Hello from Kim"
    assert "Hello from Kim, Kim!" in kim.run("run", "front/0", "greet", "name=Kim")
    words = ("exec", "--unit", "front/0", "--", "echo", "here")
    assert "pushjuju grant kim admin MODEL" in kim.fail(*words).error  # commands run as root
    client.run("grant", "kim", "admin", "web")
    assert kim.run(*words).strip() == "here"
    kim.fail("remove-user", "kim")
    kim.run("add-ssh-key", new_key(kim))
    comes(lambda: kim.try_run("ssh", "front/0", "echo", "there").stdout == "there\n", "the key does not work")
    kim.run("unregister", "team", "--no-prompt")
    kim.fail("status")
