"""The firewall `nftables`: the machine guards itself, with a table of its own.

It guards machines of clouds that have no firewall: always those of `local`, and machines that somebody gave
(`manual`) in models whose maker named a `firewall-mode`. Other plugins use it for clouds of theirs.
"""

from __future__ import annotations

from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo
from pushjuju.plugins.firewalls.nftables.firewall import NftablesFirewall
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl

PUSHJUJU_API = PLUGIN_API
_OURS = "local"
_GIVEN = "manual"


@hookimpl
def pushjuju_open_firewall(model: ModelInfo, asked: bool, provider_type: str) -> Firewall | None:
    """Guard machines that pushjuju made, and the user's machines on request."""
    if provider_type != _OURS and not (provider_type == _GIVEN and asked):
        return None
    return NftablesFirewall(model)
