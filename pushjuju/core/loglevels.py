"""Texts that say how much is logged, by logger: `<root>=INFO;unit=DEBUG`. Layer: core."""

from __future__ import annotations

from pushjuju.core.errors import NotValid

LEVELS = {
    "UNSPECIFIED": 0, "TRACE": 5, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40,
    "CRITICAL": 50,
}  # fmt: skip


def parse_levels(spec: str) -> dict[str, int]:
    """Read `<root>=DEBUG;pushjuju.runner=TRACE`; the root logger has the empty name.

    Raises:
        NotValid: A part is no `name=LEVEL` or the level is unknown.
    """
    found = {}
    for part in filter(None, (part.strip() for part in spec.split(";"))):
        name, equals, level = (text.strip() for text in part.partition("="))
        if not equals:
            name, level = "<root>", name
        if level.upper() not in LEVELS:
            raise NotValid(f'unknown severity level "{level}"')
        found["" if name == "<root>" else name] = LEVELS[level.upper()]
    return found
