"""Runs a program of the controller's user for each event."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from pushjuju.core import children, names
from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.plugins.api.notices import Event, NotifyTarget

TIMEOUT_S = 30.0
_MOST_SAID = 200  # letters of a program's last line


class Command:
    """Runs `notify.d/NAME` of the controller's folder for `command:NAME`; the event comes on standard input.

    Only root or the controller's user may be able to write the program.

    Args:
        timeout_s: Seconds after which the program is killed.
    """

    schemes: tuple[str, ...] = ("command",)
    summary = "runs a program of the folder notify.d, with the event on standard input"

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s

    def check(self, target: NotifyTarget) -> None:
        """Check that the program exists, and that nobody else may write it."""
        name = target.address.partition(":")[2]
        if not names.is_file(name):
            raise NotValid("the address is no program: command:NAME, for the program NAME in notify.d")
        program = target.folder / name
        try:
            _check_safe(target.folder)
            _check_safe(program)
        except OSError as error:
            raise NotValid(
                f"the program {program} cannot be used: {error.strerror}",
                hint=f"put the program at {program}",
            ) from None
        if not os.access(program, os.X_OK):
            raise NotValid(f"the program {program} is not executable", hint=f"chmod 700 {program}")

    def shown(self, address: str) -> str:
        return address

    def send(self, target: NotifyTarget, event: Event) -> None:
        """Run the program; an exit status other than 0 is a failure."""
        try:
            self.check(target)
        except NotValid as error:
            raise NotifyError(error.message) from None
        name = target.address.partition(":")[2]
        text = f"{json.dumps(event.document())}\n" if target.body == "json" else f"{event.text}\n"
        try:
            argv, environ = [str(target.folder / name)], children.environment()
            done = children.run_within(
                0, argv, environ=environ, stdin=text, timeout=self._timeout_s, own_session=True
            )
        except children.TimedOut:
            raise NotifyError(f"{target.address} took longer than {self._timeout_s:.0f} s") from None
        except OSError as error:
            raise NotifyError(f"{target.address} cannot be started: {error.strerror}") from None
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines() or [""]
            said = "".join(letter for letter in lines[-1][:_MOST_SAID] if letter.isprintable())
            raise NotifyError(f"{target.address} exited with {done.returncode}: {said}".rstrip(": "))


def _check_safe(path: Path) -> None:
    """Check that only root or the controller's user can change a file or folder."""
    found = path.stat()
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotValid(f"others may change {path}", hint=f"chown $(id -u) {path} && chmod go-w {path}")
