"""The built-in plugin `nftables`: each machine guards itself, with an nftables table of its own.

It serves clouds without a firewall: always for machines of `local`, and for machines of `manual` when the
model was created with a `firewall-mode`. Other plugins use this firewall for their clouds.
"""

from __future__ import annotations

from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo
from pushjuju.plugins.firewalls.nftables import firewall
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl

PUSHJUJU_API = PLUGIN_API
_OURS = "local"
_GIVEN = "manual"


@hookimpl
def pushjuju_open_firewall(model: ModelInfo, asked: bool, provider_type: str) -> Firewall | None:
    """Return the firewall for machines that pushjuju made, and on request for machines of the user."""
    if provider_type != _OURS and not (provider_type == _GIVEN and asked):
        return None
    return firewall.NftablesFirewall(model)
