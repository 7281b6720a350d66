"""Actions and commands on real machines, through the program itself and through jubilant."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jubilant
import pytest

from tests.charms.client import HELLO, PUSHJUJU, Client

pytestmark = pytest.mark.machine
UNIT = "hello-page/0"


@pytest.fixture(scope="module")
def web(shared_client: Client) -> Client:
    """A unit of hello-page."""
    shared_client.run("deploy", HELLO)
    return shared_client


@pytest.fixture
def juju(web: Client, monkeypatch: pytest.MonkeyPatch) -> jubilant.Juju:
    """Jubilant on the same model; once in the foreground, once by way of the background process."""
    for name, value in web.environ.items():
        monkeypatch.setenv(name, value)
    return jubilant.Juju(cli_binary=str(PUSHJUJU))


@pytest.fixture(params=["", "0"], ids=["foreground", "background"])
def both_ways(request: Any, web: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in the foreground, and leave it to the background process."""
    monkeypatch.setenv("PUSHJUJU_WAIT", request.param)
    yield
    web.end_processes()


def test_an_action_with_its_progress(web: Client) -> None:
    done = web.try_run("run", UNIT, "greet", "name=Kim", "times=2")
    assert done.rc == 0, str(done)
    assert done.stdout == "message: Hello, Kim! Hello, Kim!\nunit: hello-page/0\n\n"
    number = re.search(
        r"Running operation (\d+) with 1 task\n  - task (\d+) on unit-hello-page-0\n", done.stderr
    )
    assert number, done.stderr
    progress = rf"Waiting for task {number[2]}\.\.\.\n(..:..:.. greeting [12] of 2\n){{2}}\n(?!\n)"
    assert re.search(progress, done.stderr), done.stderr
    task = json.loads(web.run("show-task", number[2], "--format", "json", "--utc"))
    assert task["results"] == {"message": "Hello, Kim! Hello, Kim!", "return-code": 0, "unit": UNIT}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC greeting 1 of 2", task["log"][0])
    assert web.json("show-operation", number[1])["summary"] == "greet run on unit-hello-page-0"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((UNIT, "dance"), 'action "dance" not defined on unit "hello-page/0"'),
        (("hello-page/9", "greet"), 'unit "hello-page/9" not found'),
        (("nobody/leader", "greet"), 'could not determine leader for "nobody"'),
        ((UNIT, "greet"), '"name" property is missing and required, given {}'),
        ((UNIT, "greet", "name=x", "times=99"), "(root).times : "),
    ],
)
def test_what_cannot_be_run(web: Client, words: tuple[str, ...], error: str) -> None:
    done = web.try_run("run", *words)
    assert (done.rc, done.stdout) == (0, "")
    assert re.match(r"Operation \d+ failed to schedule any tasks:\n", done.stderr)
    assert error in done.stderr


def test_an_action_that_says_it_failed(web: Client) -> None:
    done = web.try_run("run", UNIT, "greet", "name= ", "--string-args", "--format", "json")
    assert done.rc == 0, str(done)
    task = json.loads(done.stdout)[UNIT]
    assert (task["status"], task["message"]) == ("failed", "name is empty")


def test_commands_of_a_unit_have_the_hook_tools(web: Client) -> None:
    assert web.run("exec", "--unit", UNIT, "echo $JUJU_UNIT_NAME; config-get greeting; pwd") == (
        "hello-page/0\nHello\n/var/lib/juju/agents/unit-hello-page-0/charm\n"
    )
    assert web.run("exec", "--unit", "hello-page/leader", "--", "printf", "%s|", "a b", "c") == "a b|c|\n"
    env = web.run("exec", "-u", UNIT, "env")
    assert "\nJUJU_HOOK_NAME=\n" in env
    assert "JUJU_DISPATCH_PATH" not in env


def test_what_commands_write_is_kept(web: Client) -> None:
    done = web.fail("exec", "--unit", UNIT, "state-set kept=yes; echo out; echo err >&2; exit 3")
    assert done.stdout == "out\nerr\n"
    assert re.fullmatch(
        r'ERROR the following task failed:\n - id "\d+" with return code 3\n\n'
        r"use 'pushjuju show-task' to inspect the failure\n",
        done.error,
    )
    assert web.run("exec", "--unit", UNIT, "state-get kept") == "yes\n"


def test_commands_of_a_machine_have_no_unit(web: Client) -> None:
    environment = "whoami; pwd; echo $HOME $USER $LOGNAME; echo ${JUJU_UNIT_NAME:-none}"
    tools = "type config-get || echo no tools"
    out = web.run("exec", "--machine", "0", f"{environment}; {tools}")
    home = "/home/ubuntu"
    assert out.splitlines()[:4] == ["ubuntu", home, f"{home} ubuntu ubuntu", "none"]
    assert "no tools" in out
    assert web.json("exec", "--all", "true")["0"]["machine"] == "0"


def test_tasks_in_the_background_and_their_end(web: Client) -> None:
    done = web.try_run("exec", "--background", "--unit", UNIT, "sleep 60")
    found = re.search(r"Scheduled operation (\d+) with task (\d+)\n", done.stderr)
    assert found, str(done)
    number = found[2]
    web.until(lambda: web.json("show-task", number)["status"] == "running")
    assert web.json("operations", "--status", "running")[found[1]]["tasks"][number]["status"] == "running"
    begun = time.monotonic()
    cancelled = web.json("cancel-task", number)["actions"][0]
    web.until(lambda: web.json("show-task", number)["status"] == "aborted")
    assert cancelled["status"] in ("aborting", "aborted")
    assert time.monotonic() - begun < 20
    assert web.json("show-task", number)["message"] == "terminated"
    web.end_processes()


def test_the_clients_patience(web: Client) -> None:
    done = web.fail("exec", "--wait", "1.5s", "--unit", UNIT, "sleep 30")
    assert done.error == f"ERROR timed out waiting for results from: unit {UNIT}\n"
    assert done.stdout == ""
    operation = max(map(int, web.json("operations")))
    number = next(iter(web.json("show-operation", str(operation))["tasks"]))
    web.until(lambda: web.json("show-task", number)["status"] == "failed")
    assert web.json("show-task", number)["message"] == "command cancelled"
    web.end_processes()


@pytest.mark.usefixtures("both_ways")
def test_jubilant_runs_actions(juju: jubilant.Juju) -> None:
    task = juju.run("hello-page/leader", "greet", {"name": "Kim", "times": 3})
    assert task.success
    assert task.results == {"message": "Hello, Kim! " * 2 + "Hello, Kim!", "unit": UNIT}
    assert len(task.log) == 3
    with pytest.raises(jubilant.TaskError) as failed:
        juju.run(UNIT, "greet", {"name": " "})
    assert failed.value.task.message == "name is empty"
    with pytest.raises(ValueError, match="not defined"):
        juju.run(UNIT, "dance")
    with pytest.raises(ValueError, match="not found"):
        juju.run("hello-page/42", "greet", {"name": "x"})
    with pytest.raises(TimeoutError):
        juju.run(UNIT, "greet", {"name": "x"}, wait=0.001)


@pytest.mark.usefixtures("both_ways")
def test_jubilant_runs_commands(juju: jubilant.Juju) -> None:
    task = juju.exec("echo", "a b", unit=UNIT)
    assert (task.success, task.stdout, task.stderr, task.return_code) == (True, "a b\n", "", 0)
    assert juju.exec("echo foo", machine=0).stdout == "foo\n"
    with pytest.raises(jubilant.TaskError) as failed:
        juju.exec("sleep", "x", unit=UNIT)
    assert "invalid time interval" in failed.value.task.stderr
    assert failed.value.task.return_code == 1
    with pytest.raises(TimeoutError):
        juju.exec("sleep", "5", unit=UNIT, wait=0.001)
    with pytest.raises(ValueError, match="not found"):
        juju.exec("true", unit="hello-page/42")
    with pytest.raises(ValueError, match="not found"):
        juju.exec("true", machine=42)


def test_parameters_from_a_file(web: Client, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text("name: Kim\ntimes: 2\n")
    assert web.run("run", UNIT, "greet", "times=1", "--params", path).startswith("message: Hello, Kim!\n")


def test_what_an_application_offers(web: Client) -> None:
    assert web.run("actions", "hello-page") == (
        "Action     Description\n"
        "greet      Greet somebody.\n"
        "show-page  Return the page that the charm serves now.\n"
    )
    assert web.run("show-action", "hello-page", "greet").startswith("Greet somebody.\n\nArguments\nname:\n")


def _operations(web: Client, *words: str) -> set[str]:
    return set(json.loads(web.run("operations", "--format", "json", *words) or "{}"))


def _begun(web: Client, words: tuple[str, ...]) -> tuple[str, Any]:
    """Start a command that runs a task; return the task's number, once it runs, and the process."""
    known = _operations(web)
    process = web.start(*words)
    web.until(lambda: _operations(web, "--status", "running") - known)
    (operation,) = _operations(web) - known
    return next(iter(web.json("show-operation", operation)["tasks"])), process


@pytest.mark.parametrize("target", [("--unit", UNIT), ("--machine", "0")], ids=["unit", "machine"])
def test_a_task_goes_on_without_its_controller(web: Client, target: tuple[str, str]) -> None:
    wait = "until [ -e /tmp/go-on ]; do sleep 0.1; done"
    command = f"echo x >> /tmp/ran-once; {wait}; cat /tmp/ran-once; rm /tmp/ran-once"
    number, process = _begun(web, ("exec", *target, command))
    web.until(lambda: web.on("0", "cat /tmp/ran-once || true"))
    process.kill()
    process.communicate()
    web.on("0", "touch /tmp/go-on")
    task = json.loads(web.run("show-task", number, "--wait", "30s", "--format", "json"))
    assert (task["status"], task["results"]) == ("completed", {"return-code": 0, "stdout": "x\n"})
    web.on("0", "rm /tmp/go-on")


def test_an_interrupted_person_is_told_how_to_go_on(web: Client) -> None:
    waits = "until [ -e /root/go-on ]; do sleep 0.05; done; echo there"
    number, process = _begun(web, ("exec", "--unit", UNIT, waits))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    web.on("0", "sudo touch /root/go-on")
    assert "What was asked for goes on" in err
    assert web.run("show-task", number, "--watch") == "\nthere\n"


def test_what_takes_long_elsewhere_does_not_hold_up_a_task(web: Client) -> None:
    web.run("add-machine")
    number, process = _begun(web, ("exec", "--machine", "1", "sleep 100"))
    begun = time.monotonic()
    assert web.run("exec", "--unit", UNIT, "echo here") == "here\n"
    assert time.monotonic() - begun < 60
    assert process.poll() is None
    web.run("cancel-task", number)
    process.communicate(timeout=60)
    web.run("remove-machine", "1", "--no-prompt")
    web.end_processes()


def test_a_reboot_ends_an_action_for_good(web: Client) -> None:
    number, process = _begun(web, ("exec", "--unit", UNIT, "touch /root/began; sleep 60"))
    web.until(lambda: "began" in web.on("0", "ls /root").split())
    web.try_run("ssh", "0", "sudo", "reboot")
    process.communicate(timeout=90)
    task = json.loads(web.run("show-task", number, "--wait", "60s", "--format", "json"))
    assert (task["status"], task["message"]) == ("failed", "action terminated")
    assert web.agents("hello-page") == {UNIT: ("active", "idle")}
