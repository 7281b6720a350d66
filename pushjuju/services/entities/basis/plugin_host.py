"""Gives `cli` the host of the plugins, and the values with which plugins describe clouds."""

from __future__ import annotations

from pushjuju.plugins.api.clouds import Attr, DetectedCredential, ProviderType, Question
from pushjuju.plugins.manager import PluginHost

__all__ = ["Attr", "DetectedCredential", "PluginHost", "ProviderType", "Question"]
