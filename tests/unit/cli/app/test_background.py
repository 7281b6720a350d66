"""Commands that were started in the background of a shell, where Ctrl-C is ignored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import comes
from tests.world import CHECKOUT

ROOT = CHECKOUT
PROGRAM = Path(sys.executable).with_name("pushjuju")
# What `sh -c 'COMMAND &'` does before it starts the command.
BACKGROUND = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")


@pytest.mark.parametrize("words", [("debug-log", "--tail"), ("controller", "run")])
def test_what_runs_in_the_background_of_a_shell_ends_on_sigterm(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    environ = {
        **os.environ, "PUSHJUJU_DATA": str(tmp_path / "data"), "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    made = [PROGRAM, "bootstrap", "local", "lab", "--add-model", "shop"]
    subprocess.run(made, env=environ, check=True, capture_output=True)
    with subprocess.Popen(
        [*BACKGROUND, PROGRAM, *words], env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        _until_it_waits(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)


def _until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """Return when a process sleeps in a call that waits; it has started up then."""
    assert process.stdout is not None

    def waits() -> bool:
        if process.poll() is not None:
            return True
        where = Path(f"/proc/{process.pid}/wchan").read_text()
        return any(name in where for name in ("poll", "nanosleep", "futex"))

    comes(waits)


def test_children_of_tests_take_ctrl_c_also_when_the_tests_run_in_the_background() -> None:
    look = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    program = f"""
import subprocess, sys
def shown():
    print(subprocess.run([sys.executable, "-c", {look!r}], capture_output=True, text=True).stdout, end="")
shown()
import tests.conftest
shown()
"""
    argv = [*BACKGROUND, sys.executable, "-c", program]
    assert (
        subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "True\nFalse\n"
    )
