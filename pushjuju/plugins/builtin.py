"""The plugins that come with pushjuju.

They are loaded through the same hooks as anyone else's. Families of hook tools also run on machines and so
know nothing of plugins; each is wrapped into one here.
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
"""Name and module of each built-in plugin, the first wins where two answer."""

HOOK_TOOLS: tuple[str, ...] = (
    "actions", "config", "credentials", "goalstate", "leadership", "logging", "metrics", "network",
    "payloads", "ports", "reboot", "relations", "resources", "secrets", "state", "status", "storage",
    "version",
)  # fmt: skip
"""Families of hook tools: modules of pushjuju.plugins.hooks."""

REFUSALS = "unsupported"
"""The family that refuses what nobody else answers; it comes after everyone's."""


class HookToolsPlugin:
    """One family of hook tools as a plugin."""

    PUSHJUJU_API = PLUGIN_API

    def __init__(self, family: str) -> None:
        self._family = family

    @hookimpl
    def pushjuju_hook_tools(self) -> Sequence[HookToolFamily]:
        """Name the family's module."""
        return [HookToolFamily(name=self._family, module=f"pushjuju.plugins.hooks.{self._family}")]


class RefusalsPlugin(HookToolsPlugin):
    """The family that refuses, behind all others."""

    @hookimpl(trylast=True)
    def pushjuju_hook_tools(self) -> Sequence[HookToolFamily]:
        """Name the family's module."""
        return [HookToolFamily(name=self._family, module=f"pushjuju.plugins.hooks.{self._family}")]
