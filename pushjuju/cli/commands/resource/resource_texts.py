"""The output of the commands about resources."""

from __future__ import annotations

NOTHING = "No resources to display."
