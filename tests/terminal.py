"""A terminal that tests look at and type into: a private tmux server."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO
from uuid import uuid4


class Terminal:
    """One window of a tmux server of its own.

    Attributes:
        ended: File with the exit status of the program, once it has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._name = f"pushjuju-test-{uuid4().hex[:8]}"
        self.ended = folder / f"{self._name}.status"

    def _tmux(self, *words: str, check: bool = True) -> str:
        argv = ["tmux", "-L", self._name, "-f", "/dev/null", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=check).stdout

    def start(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, *, columns: int = 100, lines: int = 30
    ) -> None:
        """Start a program in a window of this size; the screen stays when it ends."""
        settings = [f"{key}={value}" for key, value in env.items() if key not in ("TERM", "TMUX")]
        # Ctrl-C is for the program; the shell that notes how it ended stays.
        line = f"trap : INT; {shlex.join(['env', '-i', *settings])} TERM=$TERM {shlex.join(argv)}"
        line += f"; echo $? >{self.ended}; sleep 1000"
        size = ("-x", str(columns), "-y", str(lines))
        self._tmux("new-session", "-d", *size, "-c", str(cwd), f"exec sh -c {shlex.quote(line)}")
        self._tmux("set-option", "-g", "history-limit", "5000")

    def text(self, *, history: bool = False) -> str:
        """Return what the screen shows, and what has scrolled away on demand."""
        return self._tmux("capture-pane", "-p", *(["-S", "-"] if history else []))

    def coloured(self) -> str:
        """Return what the screen shows with its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def keys(self, *keys: str) -> None:
        """Type; names of keys as tmux has them: `Enter`, `C-c`."""
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def until(self, condition: Callable[[str], object], limit: float = 60.0) -> str:
        """Wait until the screen is as it should be, and return it.

        Raises:
            AssertionError: It is not in time.
        """
        end = time.monotonic() + limit
        while True:
            shown = self.text()
            if condition(shown):
                return shown
            assert time.monotonic() < end, f"the screen never came:\n{shown}\nended: {self.status()}"
            time.sleep(0.05)

    def shows(self, part: str, limit: float = 60.0) -> str:
        """Wait until a text is on the screen."""
        return self.until(lambda shown: part in shown, limit)

    def status(self) -> int | None:
        """Return the exit status of the program, None while it runs."""
        text = self.ended.read_text() if self.ended.exists() else ""
        return int(text) if text.strip() else None

    def end(self, limit: float = 60.0) -> int:
        """Wait until the program has ended and return its exit status."""
        until = time.monotonic() + limit
        while (found := self.status()) is None:
            assert time.monotonic() < until, f"it does not end:\n{self.text()}"
            time.sleep(0.05)
        return found

    def hang_up(self) -> None:
        """End the terminal as a closed window does: everything in it gets SIGHUP."""
        self._tmux("kill-server", check=False)

    def kill(self) -> None:
        """End the terminal without a word to anybody in it."""
        with suppress(ValueError, ProcessLookupError):
            os.kill(int(self._tmux("display-message", "-p", "#{pid}", check=False)), signal.SIGKILL)


@contextmanager
def on_terminal(
    argv: Sequence[str], env: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[str], TextIO]]:
    """Run a program whose output goes to a terminal until the block ends; yield it, and what it shows."""
    reader, writer = pty.openpty()
    with os.fdopen(reader, errors="replace") as shown:
        process = subprocess.Popen(argv, env=env, stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        try:
            yield process, shown
        finally:
            process.kill()
            process.communicate()


@contextmanager
def terminal(folder: Path) -> Iterator[Terminal]:
    """Open a terminal, and close it with all that runs in it."""
    found = Terminal(folder)
    try:
        yield found
    finally:
        found.hang_up()
