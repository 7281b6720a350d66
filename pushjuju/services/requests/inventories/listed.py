"""A host that a file names, and the faults of such a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pushjuju.core import jumps
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass

MOST = 10_000  # hosts that one file may name
PROXY_COMMAND = "proxycommand"  # stands for a ProxyCommand, whose text may contain a password
_MOST_FAULTS = 50  # faults that one message lists


def jump_of(command: str) -> str:
    """Return the jump host of a ProxyCommand `ssh -W %h:%p HOST`, or PROXY_COMMAND for any other command.

    The command is neither run nor shown, because its text may contain a password.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return PROXY_COMMAND
    values, rest = {"-W": "", "-p": "", "-l": ""}, words[1:]
    hosts: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in values and rest:
            values[word] = rest.pop(0)
        elif word[:1] != "-":
            hosts.append(word)
        elif set(word[1:]) - set("qTaAx"):
            return PROXY_COMMAND
    plain = words[:1] == ["ssh"] and values["-W"] in ("%h:%p", "[%h]:%p") and len(hosts) == 1
    if not plain or ":" in hosts[0]:
        return PROXY_COMMAND
    user = f"{values['-l']}@" if values["-l"] and "@" not in hosts[0] else ""
    return f"{user}{hosts[0]}{values['-p'] and ':' + values['-p']}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A host that a file names."""

    name: str
    host: str
    user: str = ""
    port: int = 22
    identity: str = ""  # path of a private key; empty for the user's own key
    # the jump hosts on the way to the host, `[user@]host[:port]` with commas, the first hop first
    jump: str = ""

    @property
    def target(self) -> str:
        """`ssh:[user@]host[:port]`, as add-machine takes it."""
        host = f"[{self.host}]" if ":" in self.host and self.port != 22 else self.host
        user = f"{self.user}@" if self.user else ""
        return f"ssh:{user}{host}{'' if self.port == 22 else f':{self.port}'}"


class Faults:
    """The faults of a file, which are collected and reported together."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[str] = []
        self.notes: list[str] = []

    def add(self, text: str, *, file: str = "", line: int = 0) -> None:
        place = file or self.file
        told = f"{place}, line {line}: {text}" if line else f"{place}: {text}"
        if told not in self._found:
            self._found.append(told)

    def refuse(self) -> None:
        """Raise an error when the file has faults.

        Raises:
            NotValid: The file has faults; the message has a line for each.
        """
        if self._found:
            more = len(self._found) - _MOST_FAULTS
            left = [f"and {more} more"] if more > 0 else []
            raise NotValid("\n".join([*self._found[:_MOST_FAULTS], *left]))

    def words(self, text: str, line: int, file: str = "") -> list[str]:
        """Return the words of a line without their quotes; empty for a comment or a line with a fault."""
        try:
            return shlex.split(text, comments=True)
        except ValueError:
            self.add("a quote is not closed", file=file, line=line)
            return []

    def host(
        self,
        alias: str,
        address: str,
        *,
        user: str | None = None,
        port: str | None = None,
        identity: str | None = None,
        jump: str | None = None,
    ) -> Iterator[Listed]:
        """Yield a host, or add a fault when its address, user, port or jump host is not valid."""
        problem = _problem(address, user or "", port or "", identity or "")
        if problem:
            self.add(f"host {alias}: {problem}")
            return
        if jump == PROXY_COMMAND:
            jump = ""
            self.notes.append(
                f"{alias}: the ProxyCommand is not used; "
                "model-config ssh-jump-host=... sets a jump host for the model"
            )
        try:
            jumps.parse(jump or "")
        except NotValid as error:
            self.add(f"host {alias}: {error.message}")
            return
        yield Listed(
            name=alias, host=address, user=user or "", port=int(port or 22), identity=identity or "",
            jump=jump or "",
        )  # fmt: skip


def _problem(address: str, user: str, port: str, identity: str) -> str:
    words = (address, user, port, identity)
    if any("{{" in word or "{%" in word for word in words):
        return "pushjuju does not evaluate templates of Ansible: write the value itself"
    if any("$ANSIBLE_VAULT" in word for word in words):
        return "pushjuju does not decrypt values of Ansible's vault: write the value itself"
    if port and (not port.isascii() or not port.isdigit() or not 0 < int(port[:6]) < 65536):
        return f'invalid port "{port}"'
    if not address or address.startswith("-") or any(char.isspace() or char in "/@" for char in address):
        return f'invalid address "{address}"'
    if user and (user.startswith("-") or any(char.isspace() or char in "/@:" for char in user)):
        return f'invalid user "{user}"'
    return ""
