"""The list of the plugins that come with pushjuju.

They are loaded through the same hooks as other plugins. Families of hook tools also run on machines and so
cannot use the plugin API; this module wraps each family into a plugin.
"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.plugins.api.hook_tools import HookToolFamily
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl

MODULES: tuple[tuple[str, str], ...] = (
    ("local", "pushjuju.plugins.providers.local"),
    ("manual", "pushjuju.plugins.providers.manual"),
    ("libcloud", "pushjuju.plugins.providers.libcloud"),
    ("lxd", "pushjuju.plugins.providers.lxd"),
    ("maas", "pushjuju.plugins.providers.maas"),
    ("storage", "pushjuju.plugins.storage"),
    ("vault", "pushjuju.plugins.backends.vault"),
    ("nftables", "pushjuju.plugins.firewalls.nftables"),
    ("charmhub", "pushjuju.plugins.sources.charmhub_plugin"),
    ("charm-mirror", "pushjuju.plugins.sources.mirror_plugin"),
    ("charm-places", "pushjuju.plugins.sources.places"),
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
        """Return the family of hook tools of this plugin."""
        return [HookToolFamily(name=self._family, module=f"pushjuju.plugins.hooks.{self._family}")]


class RefusalsPlugin(HookToolsPlugin):
    """A plugin with the family of refusals, which comes last."""

    @hookimpl(trylast=True)
    def pushjuju_hook_tools(self) -> Sequence[HookToolFamily]:
        """Return the family of hook tools of this plugin."""
        return [HookToolFamily(name=self._family, module=f"pushjuju.plugins.hooks.{self._family}")]
