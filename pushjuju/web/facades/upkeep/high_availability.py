"""HighAvailability: refuses `enable-ha`. Mirrors: juju apiserver/facades/client/highavailability (3.6)"""

from __future__ import annotations

from pushjuju.web import errors
from pushjuju.web.registry import Facade, Needs, facade, method


@facade("HighAvailability")
class HighAvailability(Facade):
    """The controller has no machine."""

    @method(Needs.SUPERUSER, name="EnableHA")
    def enable_ha(self) -> None:
        """Refuse: there are no controller machines to multiply."""
        raise errors.not_supported("controller machines are not supported")
