"""Jump hosts: `[user@]host[:port]`, separated by commas; the host nearest to the controller comes first.

This is the syntax of OpenSSH's ProxyJump. The texts may come from users and go into an ssh_config, so only
names, addresses and numbers are accepted.
"""

from __future__ import annotations

import ipaddress

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex

_HOP = regex(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63})@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_MOST = 8  # hops


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One jump host.

    Attributes:
        user: The login name; empty when `~/.ssh/config` decides.
        host: Name or address, or an alias of `~/.ssh/config`.
        port: The port, or None when `~/.ssh/config` decides.
    """

    host: str
    user: str = ""
    port: int | None = None

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{user}{host}{f':{self.port}' if self.port else ''}"


def parse(text: str) -> tuple[Hop, ...]:
    """Return the jump hosts on the way to a machine; an empty text gives ().

    Raises:
        NotValid: The text is not a list of jump hosts.
    """
    hops = tuple(_hop(part.strip()) for part in text.split(",")) if text.strip() else ()
    if len(hops) > _MOST:
        raise NotValid(f"{len(hops)} jump hosts one behind the other: {_MOST} at most")
    return hops


def _hop(text: str) -> Hop:
    found = _HOP.fullmatch(text)
    port = int(found["port"]) if found and found["port"] else None
    if found is None or (port is not None and not 0 < port < 65536) or not _is_address(found["six"]):
        raise NotValid(
            f'jump host "{text}" not valid', hint="expected [user@]host[:port], several with commas between"
        )
    return Hop(host=found["six"] or found["host"], user=found["user"] or "", port=port)


def _is_address(six: str | None) -> bool:
    try:
        return six is None or bool(ipaddress.IPv6Address(six))
    except ValueError:
        return False
