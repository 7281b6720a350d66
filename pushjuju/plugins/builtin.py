"""The list of the plugins that come with pushjuju.

They are loaded through the same hooks as other plugins. Families of hook tools also run on machines and so
cannot use the plugin API; this module wraps each family into a plugin.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from pushjuju.plugins import notifiers, storage
from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.plugins.backends import vault
from pushjuju.plugins.firewalls import nftables
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl
from pushjuju.plugins.providers import libcloud, local, lxd, maas, manual
from pushjuju.plugins.sources import charmhub_plugin, mirror_plugin, places

MODULES: tuple[tuple[str, ModuleType], ...] = (
    ("local", local),
    ("manual", manual),
    ("libcloud", libcloud),
    ("lxd", lxd),
    ("maas", maas),
    ("storage", storage),
    ("vault", vault),
    ("nftables", nftables),
    ("notifiers", notifiers),
    ("charmhub", charmhub_plugin),
    ("charm-mirror", mirror_plugin),
    ("charm-places", places),
)
"""Name and module of each built-in plugin; when two answer, the first wins."""

HOOK_TOOLS: tuple[str, ...] = (
    "actions", "config", "credentials", "goalstate", "leadership", "logging", "metrics", "network",
    "payloads", "ports", "reboot", "relations", "resources", "secrets", "state", "status", "storage",
    "version",
)  # fmt: skip
"""The families of hook tools: modules of pushjuju.plugins.hooks."""

REFUSALS = "unsupported"
"""The family of refusals. It comes after all plugins, so that a plugin can provide the tools."""


class HookToolsPlugin:
    """A plugin with one family of hook tools."""

    PUSHJUJU_API = PLUGIN_API

    def __init__(self, family: str) -> None:
        self._family = family

    @hookimpl
    def pushjuju_hook_tools(self) -> Sequence[HookToolFamily]:
        return [HookToolFamily(name=self._family, module=f"pushjuju.plugins.hooks.{self._family}")]


class RefusalsPlugin(HookToolsPlugin):
    """A plugin with the family of refusals, which comes last."""

    @hookimpl(trylast=True)
    def pushjuju_hook_tools(self) -> Sequence[HookToolFamily]:
        return [HookToolFamily(name=self._family, module=f"pushjuju.plugins.hooks.{self._family}")]
