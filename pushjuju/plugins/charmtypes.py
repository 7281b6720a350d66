"""Where plugins of API 1.5 import the types of charm sources from; see `pushjuju.plugins.types`."""

from pushjuju.plugins import types

__getattr__ = types.__getattr__
