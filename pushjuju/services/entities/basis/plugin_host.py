"""The plugins, and the values in which they describe clouds: what commands need of them."""

from __future__ import annotations

from pushjuju.plugins.api.clouds import Attr, DetectedCredential, ProviderType, Question
from pushjuju.plugins.manager import PluginHost

__all__ = ["Attr", "DetectedCredential", "PluginHost", "ProviderType", "Question"]
