"""What the commands about resources say."""

from __future__ import annotations

NOTHING = "No resources to display."
