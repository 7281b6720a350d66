"""The import path of the types of charm sources for plugins of API 1.5; see `pushjuju.plugins.types`."""

from pushjuju.plugins import types

__getattr__ = types.__getattr__
