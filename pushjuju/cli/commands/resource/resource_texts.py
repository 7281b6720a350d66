"""Texts that the commands for resources share."""

from __future__ import annotations

NOTHING = "No resources to display."
