"""The names that this plugin uses of pylxd and requests, which the extra `lxd` installs."""

from __future__ import annotations

from pylxd.client import _APINode, get_session_for_url
from pylxd.exceptions import LXDAPIException
from requests.utils import get_environ_proxies

__all__ = ["LXDAPIException", "_APINode", "get_environ_proxies", "get_session_for_url"]
