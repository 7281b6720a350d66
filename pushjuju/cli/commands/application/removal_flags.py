"""Flags of remove-unit and remove-application."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.work import removals

FLAGS = (
    *flags.IN_MODEL,
    *flags.NO_PROMPT,
    *removals.FLAGS,
    flags.switch("destroy-storage", "Destroy storage attached to units of the application"),
    flags.switch("force", "Completely remove and disregard any errors"),
)
