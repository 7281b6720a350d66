"""Finds the data directory at the start of a command; importing this module costs next to nothing."""

from __future__ import annotations

from pushjuju.store.files.places import here, locate
from pushjuju.store.files.waits import told_by

__all__ = ["here", "locate", "told_by"]
