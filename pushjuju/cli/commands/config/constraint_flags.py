"""What the commands about constraints share."""

from __future__ import annotations

FORMATS = ("constraints", "yaml", "json")

DETAILS = (
    "Machines that are there stay as they are. Everything that was set before is replaced; an empty value\n"
    "(mem=) keeps what the model says from counting."
)
