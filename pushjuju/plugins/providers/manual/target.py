"""The address of a manual machine: `ssh:[user@]host[:port]`."""

from __future__ import annotations

import ipaddress

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass

_PREFIX = "manual:"


@dataclass(frozen=True, slots=True)
class Target:
    """The address of a machine and the login; `user` is empty when the text has no user."""

    host: str
    port: int = 22
    user: str = ""

    @classmethod
    def parse(cls, text: str) -> Target:
        """Return the address in `[ssh:][user@]host[:port]`; an IPv6 address with a port needs brackets.

        Raises:
            NotValid: The text has no host, or the port is not valid.
        """
        user, _, place = text.removeprefix("ssh:").rpartition("@")
        host, port = _split_port(place)
        if not host or host.startswith("-") or any(char.isspace() or char == "/" for char in host + user):
            raise NotValid(f'invalid SSH target "{text}"')
        if not port.isascii() or not port.isdigit() or len(port) > 5 or not 0 < int(port) < 65536:
            raise NotValid(f'invalid port "{port}" in SSH target "{text}"')
        return cls(host, int(port), user)

    def __str__(self) -> str:
        """The address as users write it: `bob@host:2222`."""
        host = f"[{self.host}]" if ":" in self.host and self.port != 22 else self.host
        return f"{self.user}@" * bool(self.user) + host + f":{self.port}" * (self.port != 22)

    @property
    def instance_id(self) -> str:
        """The instance id: `manual:<host>`, with the port unless it is 22."""
        if self.port == 22:
            return f"{_PREFIX}{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_PREFIX}{host}:{self.port}"

    @property
    def address_type(self) -> str:
        """The form of the host: `ipv4`, `ipv6` or `hostname`."""
        try:
            return f"ipv{ipaddress.ip_address(self.host).version}"
        except ValueError:
            return "hostname"


def _split_port(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, bracket, rest = place[1:].partition("]")
        return host if bracket else "", rest.removeprefix(":") or "22"
    if place.count(":") > 1:  # a bare IPv6 address
        return place, "22"
    host, colon, port = place.partition(":")
    return host, port if colon else "22"
