"""Pinger: says that both sides are there. Mirrors: juju apiserver/pinger.go (3.6)"""

from __future__ import annotations

from pushjuju.web.registry import Facade, Needs, On, facade, method


@facade("Pinger", versions=[1], on=On.BOTH)
class Pinger(Facade):
    """Answers pings."""

    @method(Needs.LOGIN)
    def ping(self) -> None:
        """Answer."""

    @method(Needs.LOGIN)
    def stop(self) -> None:
        """Answer; users have no pinger that could end them."""
