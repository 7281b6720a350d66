"""How a window of a debug session ends, with a tmux that is played."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pushjuju.runner.remote.operation import debugging

# Starts the window's shell, and never asks how it ended: what has ended stays a zombie.
TMUX = f"""#!{sys.executable}
import os, subprocess, sys, time
if os.fork():
    sys.exit(0)
subprocess.Popen(["bash", os.environ["JUJU_DEBUG"] + "/hook.sh"])
time.sleep(3)
os._exit(0)
"""
HOOK = (
    'echo $$ >"$JUJU_DEBUG/pid.new"; mv "$JUJU_DEBUG/pid.new" "$JUJU_DEBUG/pid"; echo 7 >"$JUJU_DEBUG/exit"\n'
)


def test_a_window_whose_end_tmux_does_not_notice_has_ended(tmp_path: Path) -> None:
    (tmp_path / "tmux").write_text(TMUX)
    (tmp_path / "tmux").chmod(0o755)
    (tmp_path / "hook.sh").write_text(HOOK)
    (tmp_path / "server.sh").write_text(debugging._SERVER)
    (tmp_path / "wanted").touch()
    lock = tmp_path / "lock"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "JUJU_DEBUG": str(tmp_path)}
    words = ["bash", str(tmp_path / "server.sh"), "web/0", "socket", "start", str(lock)]
    with lock.open("w") as held:
        holder = subprocess.Popen(["flock", str(lock), "sleep", "10"], stdout=held)
        try:
            done = subprocess.run(words, env=env, timeout=2.5, check=False)
        finally:
            holder.kill()
            holder.wait()
    assert done.returncode == 7
