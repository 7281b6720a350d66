"""Runs programs on PATH as commands. Mirrors: juju cmd/juju/commands/plugin.go (3.6)"""

from __future__ import annotations

import os
import shutil

from pushjuju.cli.syntax.command import Exited
from pushjuju.core import children


def run(word: str, args: list[str]) -> None:
    """Run `pushjuju-WORD` or `juju-WORD` from PATH; return when PATH has neither.

    Raises:
        Exited: The plugin has ended; the exception carries its exit status.
    """
    if "/" in word or word.startswith("-"):
        return
    program = shutil.which(f"pushjuju-{word}") or shutil.which(f"juju-{word}")
    if program is None:
        return
    pid = children.start_at_terminal(program, [program, *args])
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    raise Exited(status if status >= 0 else 128 - status)
