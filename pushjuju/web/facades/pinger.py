"""Pinger: answers pings, which keep a connection open. Mirrors: juju apiserver/pinger.go (3.6)"""

from __future__ import annotations

from pushjuju.web.registry import Facade, Needs, facade, method


@facade("Pinger")
class Pinger(Facade):
    """Answers pings."""

    @method(Needs.LOGIN)
    def ping(self) -> None:
        """Return an empty answer."""

    @method(Needs.LOGIN)
    def stop(self) -> None:
        """Return an empty answer; the server runs no pinger that could be stopped."""
