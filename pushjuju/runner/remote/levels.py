"""Which log lines are kept: `<root>=INFO;unit=DEBUG`. What the controller would not keep is not even sent.

Mirrors: github.com/juju/loggo config.go
"""

from __future__ import annotations

LEVELS = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def threshold(logging_config: str, module: str) -> str:
    """Return the level from which a module's lines are kept.

    Args:
        logging_config: `<root>=INFO;unit=DEBUG`.
        module: Dotted logger name; the longest configured prefix decides.
    """
    best, level = -1, "INFO"
    for part in logging_config.replace(";", " ").split():
        name, _, wanted = part.partition("=")
        name = "" if name == "<root>" else name
        fits = not name or module == name or module.startswith(name + ".")
        if fits and len(name) > best and wanted.upper() in LEVELS:
            best, level = len(name), wanted.upper()
    return level


def kept(logging_config: str, module: str, level: str) -> bool:
    """Tell whether a line is stored under a logging configuration."""
    wanted = threshold(logging_config, module)
    known = level if level in LEVELS else "INFO"
    return LEVELS.index(known) >= LEVELS.index(wanted)
