"""What a person sees and types on a real terminal: progress, watching, questions, Ctrl-C, tiny windows."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charms.client import HELLO, PUSHJUJU, Client, watched_charm
from tests.terminal import Terminal, terminal

if not shutil.which("tmux"):
    pytest.skip("tmux is not installed", allow_module_level=True)

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def web(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A model with one unit, web/0, whose hooks wait as long as files on its machine say."""
    charm = watched_charm(tmp_path_factory.mktemp("charm") / "web")
    shared_client.run("bootstrap", "local", "lab", "--add-model", "shop")
    shared_client.run("deploy", charm, "web")
    return shared_client


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Terminal]:
    with terminal(tmp_path) as found:
        yield found


def type_in(screen: Terminal, client: Client, *words: str, columns: int = 100, lines: int = 30) -> None:
    """Run a command of ours in the terminal."""
    screen.start([str(PUSHJUJU), *words], client.environ, client.work, columns=columns, lines=lines)


def sleeps(client: Client, hook: str, seconds: float) -> None:
    """Let a hook wait."""
    client.on("web/0", f"echo {seconds} > /etc/hook-sleeps-{hook}")


def test_progress_is_a_tree_that_goes_away(web: Client, screen: Terminal) -> None:
    sleeps(web, "config-changed", 3)
    type_in(screen, web, "config", "web", "greeting=tree")
    shown = screen.shows("config-changed", 30)
    assert re.search(r"^Working for \d+s: .*1 running", shown, re.MULTILINE)
    machine, unit = (
        re.search(rf"^ *(?:\d+s)? *{name}\b", shown, re.MULTILINE) for name in ("machine 0", "web/0")
    )
    assert unit is not None
    assert machine is None or machine.start() < unit.start()
    screen.until(lambda text: re.search(r"[23]s +web/0 +config-changed", text), 20)
    assert screen.end() == 0
    assert screen.text().strip() == ""


def test_the_last_line_of_a_hook_is_shown(web: Client, screen: Terminal) -> None:
    type_in(screen, web, "exec", "--unit", "web/0", "echo begun; sleep 2; echo over")
    screen.shows("juju-exec", 30)
    assert screen.end() == 0
    web.on("web/0", "printf 'echo hello from the hook; sleep 3\\n' > /etc/hook-says")
    assert "begun\nover" in screen.text()


def test_a_script_gets_no_progress_and_who_asks_for_it_nothing_twice(web: Client) -> None:
    assert web.try_run("config", "web", "greeting=script").stderr == ""
    done = web.try_run("-v", "config", "web", "greeting=lines")
    assert done.rc == 0
    said = done.stderr.splitlines()
    assert "web/0: config-changed: running" in said
    assert len(said) == len(set(said))
    assert "\x1b" not in done.stderr
    assert web.try_run("-q", "config", "web", "greeting=quiet").stderr == ""
    assert "web/0: config-changed: done" in said


def test_ctrl_c_leaves_the_hook_at_work_and_says_how_to_go_on(web: Client, screen: Terminal) -> None:
    sleeps(web, "config-changed", 4)
    before = web.on("web/0", "cat /var/log/hooks-ended").count("config-changed")
    type_in(screen, web, "config", "web", "greeting=interrupted")
    screen.shows("config-changed", 30)
    screen.keys("C-c")
    assert screen.end(20) == 130
    shown = screen.text()
    assert "Interrupted. What was asked for is recorded" in shown
    assert "pushjuju update-status' continues it" in shown
    assert "Working for" not in shown
    sleeps(web, "config-changed", 0)
    web.run("update-status")
    ended = web.on("web/0", "cat /var/log/hooks-ended").count("config-changed")
    assert ended == before + 1  # that very one, and only once
    assert "interrupted, I am web/0" in web.on("web/0", "curl -s http://127.0.0.1:8080/")


@pytest.mark.parametrize(("columns", "lines"), [(20, 4), (10, 2), (300, 80)])
def test_progress_in_windows_of_any_size(web: Client, screen: Terminal, columns: int, lines: int) -> None:
    sleeps(web, "config-changed", 2)
    type_in(screen, web, "config", "web", f"greeting=size-{columns}", columns=columns, lines=lines)
    screen.shows("Working", 30)
    screen.resize(max(columns // 2, 8), max(lines // 2, 2))
    time.sleep(0.5)
    screen.resize(columns, lines)
    assert screen.end() == 0
    sleeps(web, "config-changed", 0)
    assert "Traceback" not in screen.text(history=True)


def test_status_watch_is_a_table_that_lives(web: Client, screen: Terminal) -> None:
    type_in(screen, web, "status", "--watch", "200ms")
    screen.shows("web/0*", 30)
    first = screen.text()
    assert "shop" in first.splitlines()[1]
    assert "\x1b[32mactive" in screen.coloured()
    web.run("add-machine", "-q", "--no-wait")
    screen.until(lambda text: re.search(r"^1 +(pending|started)", text, re.MULTILINE), 30)
    screen.resize(40, 5)
    assert screen.shows("more lines", 10).count("\n") <= 5
    screen.resize(120, 40)
    screen.until(lambda text: re.search(r"^1 +(pending|started)", text, re.MULTILINE), 10)
    screen.keys("C-c")
    assert screen.end(10) == 0
    assert screen.text().strip() == ""  # what was there before
    web.run("remove-machine", "1", "--no-prompt", "--force")
    web.until(lambda: list(web.status()["machines"]) == ["0"])


def test_status_watch_without_a_terminal_is_one_copy_after_the_other(web: Client) -> None:
    line = f"{PUSHJUJU} status --watch 100ms | head -n 30"
    done = subprocess.run(
        ["bash", "-c", line],
        env=web.environ,
        cwd=web.work,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.count("Model  Controller") > 1
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_questions_are_asked_and_no_is_no(web: Client, screen: Terminal) -> None:
    type_in(screen, web, "remove-application", "web")
    screen.shows("Continue [y/N]?", 30)
    screen.keys("n", "Enter")
    assert screen.end(10) == 1
    shown = screen.text()
    assert "will remove application web" in shown
    assert "ERROR application removal: aborted" in shown
    assert "web" in web.status()["applications"]


def test_a_model_is_destroyed_by_its_name_alone(web: Client, screen: Terminal, tmp_path: Path) -> None:
    web.run("add-model", "short", "--no-switch")
    type_in(screen, web, "destroy-model", "short")
    screen.shows("enter the name of the model to be destroyed:", 30)
    screen.keys("shorts", "Enter")
    assert screen.end(10) == 1
    assert "ERROR model destruction: aborted" in screen.text()
    with terminal(tmp_path) as other:
        type_in(other, web, "destroy-model", "short")
        other.shows("enter the name of the model to be destroyed:", 30)
        other.keys("short", "Enter")
        assert other.end(60) == 0
        assert "Model destroyed." in other.text()


LOCALES = [
    {"LC_ALL": "C"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("locale", LOCALES, ids=" ".join)
def test_every_locale_has_the_same_data(web: Client, screen: Terminal, locale: dict[str, str]) -> None:
    environ = {**web.environ, "LANG": "", **locale}
    screen.start([str(PUSHJUJU), "config", "web", "greeting=Hyvää päivää 日本"], environ, web.work)
    assert screen.end() == 0
    for words in (("config", "web", "greeting"), ("status",), ("debug-log", "--replay")):
        argv = [str(PUSHJUJU), *words]
        done = subprocess.run(argv, env=environ, capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        assert words[0] != "config" or done.stdout.decode() == "Hyvää päivää 日本\n"
    argv = [str(PUSHJUJU), "show-application", "ä"]
    done = subprocess.run(argv, env=environ, capture_output=True, check=False, timeout=60)
    assert done.stderr.decode().startswith("ERROR application name ä not valid")


@pytest.mark.parametrize(
    "words", ["status", "debug-log --replay", "status --format json", "help commands", "models"]
)
def test_a_reader_that_goes_away_is_no_error(web: Client, words: str) -> None:
    line = f"set -o pipefail; {PUSHJUJU} {words} | head -c 5; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line],
        env=web.environ,
        cwd=web.work,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) == 5


def test_a_closed_stdout_is_no_crash(web: Client) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{PUSHJUJU} status >&-"], env=web.environ, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_deploying_shows_the_machine_and_then_the_unit(web: Client, screen: Terminal) -> None:
    type_in(screen, web, "deploy", str(HELLO), "more")
    screen.until(lambda text: re.search(r"^ *(\d+s)? machine \d+\b", text, re.MULTILINE), 60)
    screen.until(
        lambda text: re.search(r"^ +(\d+s)? +more/0 ", text, re.MULTILINE) or screen.status() is not None, 90
    )
    assert screen.end(90) == 0
    web.run("remove-application", "more", "--no-prompt")


@pytest.fixture(scope="module")
def debugged(web: Client) -> Client:
    """The unit's machine, with tmux as a person would install it."""
    web.on("web/0", "rm -f /etc/hook-sleeps-config-changed")
    done = web.try_run(
        "ssh", "web/0", "sudo sh -c 'apt-get update -q && apt-get install -q -y tmux'", limit=180
    )
    if done.rc != 0:
        pytest.skip(f"tmux cannot be installed on the machine: {done.stderr[-200:]}")
    return web


def typed(client: Client, window: str, text: str) -> None:
    """Type a line into a window of the debug session on the machine, once its shell waits."""
    socket = "$(ls /tmp/tmux-0 | grep pushjuju)"
    client.until(
        lambda: (
            f"web/0:{window} %"
            in client.try_run(
                "ssh", "web/0", f"sudo sh -c 'tmux -L {socket} capture-pane -p -t web/0:{window}'"
            ).stdout
        )
    )
    client.run("ssh", "web/0", f"sudo sh -c 'tmux -L {socket} send-keys -t web/0:{window} \"{text}\" Enter'")


def test_a_hook_is_run_by_hand(debugged: Client, screen: Terminal) -> None:
    web = debugged
    type_in(screen, web, "debug-hooks", "web/0", "config-changed")
    screen.shows("Hooks and actions of web/0 open windows here as they come: config-changed", 30)
    before = web.on("web/0", "cat /var/log/hooks-ended").count("config-changed")
    with web.start("config", "web", "greeting=by hand") as change:
        typed(web, "config-changed", "status-set maintenance looking")
        web.until(lambda: web.units("web")["web/0"]["workload-status"].get("message") == "looking", 20)
        typed(web, "config-changed", "./hooks/config-changed; exit")
        _, said = change.communicate(timeout=60)
    assert change.returncode == 0, said
    assert web.on("web/0", "cat /var/log/hooks-ended").count("config-changed") == before + 1
    assert "by hand, I am web/0" in web.on("web/0", "curl -s http://127.0.0.1:8080/")
    with web.start("config", "web", "greeting=failed by hand") as change:
        typed(web, "config-changed", "exit 1")
        _, said = change.communicate(timeout=60)
    assert change.returncode == 1, said
    assert 'hook failed: "config-changed"' in said
    screen.keys("C-b", "d")
    assert screen.end(30) == 0
    web.run("resolved", "web/0")
    assert web.agents("web") == {"web/0": ("active", "idle")}
    assert web.on("web/0", "ls /var/lib/juju/pushjuju/debug/unit-web-0").split() == ["lock"]


def test_a_closed_terminal_lets_the_hook_run_by_itself(debugged: Client, screen: Terminal) -> None:
    web = debugged
    before = web.on("web/0", "cat /var/log/hooks-ended").count("config-changed")
    type_in(screen, web, "debug-hooks", "web/0")
    screen.shows("as they come: all of them", 30)
    with web.start("config", "web", "greeting=alone") as change:
        typed(web, "config-changed", "state-set lost=1")
        screen.hang_up()
        _, said = change.communicate(timeout=60)
    assert change.returncode == 0, said
    assert web.on("web/0", "cat /var/log/hooks-ended").count("config-changed") == before + 1
    assert "alone, I am web/0" in web.on("web/0", "curl -s http://127.0.0.1:8080/")
    assert web.run("exec", "--unit", "web/0", "state-get lost").strip() == ""
    web.until(lambda: "tmux" not in web.on("web/0", "ps -eo comm="))


def _reads_the_store(process: subprocess.Popen[str]) -> bool:
    with contextlib.suppress(FileNotFoundError):  # one that was closed meanwhile
        return any("/controllers/" in str(fd.readlink()) for fd in Path(f"/proc/{process.pid}/fd").iterdir())
    return False


def test_wait_for_drives_what_nobody_else_does(web: Client) -> None:
    web.run("deploy", str(HELLO), "later", env={"PUSHJUJU_WAIT": "0"})
    query = 'status=="active" && forEach(units, u => startsWith(u.name, "later/"))'
    done = web.try_run("wait-for", "application", "later", "--query", query, "--timeout", "90s")
    assert done.rc == 0, str(done)
    assert "status: active\n" in done.stdout
    assert 'application "later" is running' in done.stderr
    with web.start("wait-for", "unit", "later/0", "--query", 'life=="dead"', "--timeout", "60s") as waiting:
        web.until(lambda: _reads_the_store(waiting))
        web.run("remove-application", "later", "--no-prompt")
        _, said = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, said
    assert 'unit "later/0" has been removed' in said
