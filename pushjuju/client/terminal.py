"""Runs commands that only read a model in the process of its controller, and returns what they print.

Mirrors: juju apiserver/embeddedcli.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pushjuju.client.connection import Connection
from pushjuju.core.errors import PushjujuError, Silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a command wrote to stdout and stderr, and its error or None."""

    out: str
    err: tuple[str, ...]
    error: PushjujuError | None


class Terminal(Connection):
    """A web terminal of a model; each command line comes with name and password."""

    def type(self, line: str) -> Printed:
        """Run a command line; return what it printed.

        Raises:
            PushjujuError: The controller refuses the user, or has no such model.
        """
        proof = {"user": self.account.user, "credentials": self.account.password}
        *frames, end = self.run(self._socket.command({**proof, "commands": [line]}))
        error = self._error(end)
        if error is not None and end.get("login") is False:
            raise error
        err = _lines(frame for frame in frames if frame.get("stderr"))
        if error is not None and err and end["error"].get("message"):
            err.pop()  # the error again, for terminals that print every line
        out = _lines(frame for frame in frames if not frame.get("stderr"))
        return Printed(out="".join(f"{line}\n" for line in out), err=tuple(err), error=error)

    def _enter(self) -> None:
        self.run(self._socket.open(f"/model/{self.model}/commands"))
        self.run(self._socket.read())

    def _error(self, end: Mapping[str, Any]) -> PushjujuError | None:
        told = end.get("error")
        if not told:
            return None
        message, code = str(told.get("message", "")), str(told.get("code", ""))
        if not message:
            return Silent()
        found = self._failure(message, code, "" if end.get("login", True) else "Admin.Login")
        found.hint = str(end.get("hint", "")) or found.hint
        return found


def _lines(frames: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(line) for frame in frames for line in frame.get("output") or ()]
