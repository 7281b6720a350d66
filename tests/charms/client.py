"""The program as a person runs it: the installed `pushjuju`, on a data directory of its own."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushjuju.plugins.providers.nspawn.layout import Layout
from tests.world.init_process import init_process

REPOSITORY = Path(__file__).parents[2]
HELLO = REPOSITORY / "contrib" / "charms" / "hello-page"
PUSHJUJU = Path(sys.executable).with_name("pushjuju")
# a process for each of these looks would cost more than all else that a test does
_LOOKS = ["machines", "models", "resources", "secrets", "show-machine", "show-operation", "show-task"]
_LOOKS += ["show-unit", "status", "storage"]
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LIMIT_S = 240.0  # a command that hangs fails its test; a busy computer does not


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        return f"{' '.join(self.argv)} -> {self.rc}\nstdout:\n{self.stdout}\nstderr:\n{self.stderr}"

    @property
    def error(self) -> str:
        """The error text, without the lines of progress above it; it may stand behind a question."""
        found = re.search(r"(?:^|\? |: )(ERROR .*)", self.stderr, re.MULTILINE | re.DOTALL)
        return found[1] if found else ""


class Client:
    """One person at work with controllers of her own.

    Attributes:
        data: The data directory.
        work: Where commands run; also the home directory, so that nobody's SSH settings count.
        environ: What every command gets; tests may change it.
        started: The commands that `start` began.
    """

    def __init__(self, data: Path, work: Path) -> None:
        self.data = data
        self.work = work
        self.environ = {**_clean(os.environ), "PUSHJUJU_DATA": str(data), "HOME": str(work)}
        self.started: list[subprocess.Popen[str]] = []

    def try_run(
        self,
        *words: str | Path,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit: float = _LIMIT_S,
    ) -> Done:
        """Run a command and return how it ended."""
        argv = (str(PUSHJUJU), *map(str, words))
        done = subprocess.run(
            argv,
            cwd=self.work,
            env={**self.environ, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        return Done(argv=argv[1:], rc=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def call(self, *words: str) -> Done:
        """Run a command inside this process: for many that are refused at once, where starting costs most."""
        from pushjuju.cli.app.main import run

        stdin, stdout, stderr = io.StringIO(), io.StringIO(), io.StringIO()
        rc = run(words, stdin=stdin, stdout=stdout, stderr=stderr, env=self.environ)
        return Done(argv=words, rc=rc, stdout=stdout.getvalue(), stderr=stderr.getvalue())

    def run(self, *words: str | Path, **more: Any) -> str:
        """Run a command that must succeed; return its stdout."""
        done = self.try_run(*words, **more)
        assert done.rc == 0, str(done)
        return done.stdout

    def fail(self, *words: str | Path, rc: int = 1, **more: Any) -> Done:
        """Run a command that must fail with this exit code and an error text."""
        done = self.try_run(*words, **more)
        assert done.rc == rc, str(done)
        assert done.error, str(done)
        assert "Traceback" not in done.stderr, str(done)
        return done

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Start a command and return at once; what the caller does not end, `end_processes` ends."""
        process = subprocess.Popen(
            [str(PUSHJUJU), *map(str, words)],
            cwd=self.work,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    # --- what is asked again and again --------------------------------------------------------------------

    def json(self, *words: str) -> Any:
        """Return the data of a command that prints JSON."""
        ask = self._look if words[0] in _LOOKS else self.run
        return json.loads(ask(*words, "--format", "json"))

    def _look(self, *words: str) -> str:
        """Run a command that changes nothing; no process is started, unless another clock is set for it."""
        if "LD_PRELOAD" in self.environ:
            return self.run(*words)
        done = self.call(*words)
        assert done.rc == 0, str(done)
        return done.stdout

    def models(self) -> list[str]:
        """Return the names of the models that somebody made: all but the controller's own."""
        listed = self.json("models")["models"]
        return [model["short-name"] for model in listed if not model["is-controller"]]

    def status(self) -> Any:
        """Return the status of the current model."""
        return self.json("status")

    def units(self, application: str) -> dict[str, Any]:
        """Return unit -> its part of the status."""
        found: dict[str, Any] = self.status()["applications"][application].get("units", {})
        return found

    def agents(self, application: str) -> dict[str, tuple[str, str]]:
        """Return unit -> (workload status, agent status)."""
        return {
            name: (unit["workload-status"]["current"], unit["juju-status"]["current"])
            for name, unit in self.units(application).items()
        }

    def leader(self, application: str) -> str:
        """Return the unit that leads."""
        (found,) = [name for name, unit in self.units(application).items() if unit.get("leader")]
        return found

    def workload(self, unit: str) -> tuple[str, str]:
        """Return the status of a unit's workload, and its message."""
        shown = self.units(unit.partition("/")[0])[unit]["workload-status"]
        return shown["current"], shown.get("message", "")

    def revision(self, application: str) -> int:
        """Return the revision of the charm that an application is on."""
        return int(self.status()["applications"][application]["charm-rev"])

    def address(self, machine: str, model: str = "") -> str:
        """Return the address of a machine, of the current model unless another one is named."""
        return str(self.json("status", "-m", model)["machines"][machine]["dns-name"])

    def relation_rows(self) -> list[str]:
        """Return the rows of the relations in the status, their columns apart by a blank each."""
        _, _, rows = self.run("status", "--relations").partition("Integration provider")
        return [" ".join(row.split()) for row in rows.splitlines()[1:] if row.strip()]

    def check_at_rest(self) -> None:
        """Check that every unit is active and idle, subordinates too."""
        for application in self.status()["applications"].values():
            for unit, shown in application.get("units", {}).items():
                for name, status in {unit: shown, **shown.get("subordinates", {})}.items():
                    words = (status["workload-status"]["current"], status["juju-status"]["current"])
                    assert words == ("active", "idle"), name

    def log(self, *include: str) -> list[str]:
        """Return the lines of the log, of some entities or all."""
        words = [word for name in include for word in ("--include", name)]
        return self._look("debug-log", "--replay", "--no-tail", *words).splitlines()

    def hooks(self) -> dict[str, list[str]]:
        """Return unit -> the hooks that ran well there, in order, from the log."""
        found: dict[str, list[str]] = defaultdict(list)
        for line in self.log():
            ran = re.match(r'unit-(.+)-(\d+): .* ran "([^"]+)" hook', line)
            if ran:
                found[f"{ran[1]}/{ran[2]}"].append(ran[3])
        return found

    def on(self, target: str, command: str) -> str:
        """Run a shell command as root on a machine or unit; it must succeed."""
        if (pid := self._systemd_of(target)) is None:
            return self.run("ssh", target, "sudo", "sh", "-c", shlex.quote(command))
        enter = ["nsenter", "--all", f"--target={pid}", "--", "env", "-i", f"PATH={_PATH}", "HOME=/root"]
        done = subprocess.run(
            [*enter, "sh", "-c", command], capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
        assert done.returncode == 0, f"{target}: {command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _systemd_of(self, target: str) -> int | None:
        """Return the process of a local machine's systemd; None for other machines, and while there is none.

        Tests look at machines so often that the start of `pushjuju ssh` would cost more than all else.
        """
        shown = self.status()
        application, _, number = target.partition("/")
        if number:
            target = (
                shown["applications"].get(application, {}).get("units", {}).get(target, {}).get("machine")
            )
        instance = shown["machines"].get(target, {}).get("instance-id", "")
        for folder in self.machine_folders():
            layout = Layout.of(folder)
            if instance and (record := layout.read(instance)) is not None:
                return init_process(layout.cgroup(record.id))
        return None

    def until(self, condition: Callable[[], object], limit: float = 60.0) -> None:
        """Wait until a condition holds.

        Raises:
            AssertionError: It does not in time.
        """
        end = time.monotonic() + limit
        while not condition():
            assert time.monotonic() < end, f"did not come about in {limit} s:\n{self.try_run('status')}"
            time.sleep(0.2)

    def until_it_serves(self, process: subprocess.Popen[str]) -> None:
        """Wait until a `controller run` takes what comes due."""
        listed = lambda: self.json("controller", "processes")  # noqa: E731
        self.until(lambda: process.pid in [item["pid"] for item in listed()])

    # --- the end ------------------------------------------------------------------------------------------

    def processes(self) -> list[int]:
        """Return our processes that still run: those that work on the data directory."""
        wanted = f"PUSHJUJU_DATA={self.data}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if wanted in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue  # gone meanwhile, or somebody else's
        return found

    def end_processes(self) -> None:
        """End background processes, which would linger for a while."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
        end = time.monotonic() + 20
        while self.processes():
            if time.monotonic() > end:
                for pid in self.processes():
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        for process in self.started:
            with process:  # a test that failed has not read its output to the end
                pass

    def machine_folders(self) -> list[Path]:
        """Return the folders that providers keep, one per controller."""
        return [path for path in self.data.glob("controllers/*/machines") if path.is_dir()]


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what would lead a command to another model."""
    kept = {"PUSHJUJU_CACHE"}
    return {
        name: value
        for name, value in environ.items()
        if name in kept or not name.startswith(("PUSHJUJU_", "JUJU_", "SSH_", "XDG_"))
    }


# The hooks of hello-page, watched: each writes down that it began and ended; files let it wait or fail.
_WATCHED = """#!/bin/bash
set -eu
name=$(basename "$0")
echo "$name" >> /var/log/hooks-begun
sleep "$(cat "/etc/hook-sleeps-$name" 2>/dev/null || echo 0)"
if [ -e "/etc/hook-fails-$name" ]; then
  echo "$name: the file says no" >&2
  exit 7
fi
. lib/hello.sh
run_hook "$name"
echo "$name" >> /var/log/hooks-ended
"""


def watched_charm(folder: Path) -> Path:
    """Return a copy of hello-page whose hooks tell when they run.

    On the machine: `/var/log/hooks-begun` and `/var/log/hooks-ended`, a hook a line. `/etc/hook-sleeps-HOOK`
    holds the seconds that a hook waits; `/etc/hook-fails-HOOK` lets it fail.
    """
    target = folder / "watched"
    shutil.copytree(HELLO, target, symlinks=True)
    (target / "hooks" / "hook").write_text(_WATCHED)
    return target
