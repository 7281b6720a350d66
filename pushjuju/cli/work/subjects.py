"""How commands say what they are about, for problems to be told apart from problems elsewhere."""

from __future__ import annotations

EVERY_MACHINE = ("every machine",)
"""What a command touched that is about the machines of the model, whatever runs on them."""
