"""What the commands for constraints share."""

from __future__ import annotations

FORMATS = ("constraints", "yaml", "json")

DETAILS = (
    "Machines that exist stay as they are. The new constraints replace all earlier ones; an empty value\n"
    "(mem=) overrides the constraint of the model."
)
