"""Log levels, and texts that set the level of each logger: `<root>=INFO;unit=DEBUG`.

Machines use these rules to drop the lines that the controller would not keep.

Mirrors: github.com/juju/loggo config.go, level.go
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

LEVELS = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
UNSPECIFIED = "UNSPECIFIED"  # a logger that has this level takes that of the logger above it


def level_of(word: str) -> str:
    """Return the level that a word names in any case, or an empty text when the word is not a level."""
    name = word.upper()
    name = "WARNING" if name == "WARN" else name
    return name if name in LEVELS else ""


def parse_levels(spec: str) -> dict[str, str]:
    """Read `<root>=DEBUG;unit=TRACE`; the root logger has the empty name.

    Raises:
        ValueError: A level is unknown.
    """
    found = {}
    for name, word in _parts(spec):
        level = UNSPECIFIED if word.upper() == UNSPECIFIED else level_of(word)
        if not level:
            raise ValueError('unknown severity level "%s"' % word)
        found[name] = level
    return found


def _parts(spec: str) -> Iterator[tuple[str, str]]:
    """Yield (logger, level) as written; a word without `=` is the level of the root logger."""
    for part in spec.replace(":", ";").split(";"):
        name, equals, word = part.partition("=")
        if not equals:
            name, word = "<root>", name
        if equals or word.strip():
            yield "" if name.strip() == "<root>" else name.strip(), word.strip()


def threshold(logging_config: str, module: str) -> str:
    """Return the lowest level at which a module's lines are kept.

    Args:
        logging_config: `<root>=INFO;unit=DEBUG`; parts that cannot be read are ignored.
        module: Dotted logger name; the longest configured prefix of the name decides.
    """
    best, found = -1, "INFO"
    for name, word in _parts(logging_config):
        if len(name) > best and (not name or module == name or module.startswith(name + ".")):
            level = level_of(word)
            if level:
                best, found = len(name), level
    return found


def kept(logging_config: str, module: str, level: str) -> bool:
    """Return True when the logging configuration keeps a line of this level."""
    known = level if level in LEVELS else "INFO"
    return LEVELS.index(known) >= LEVELS.index(threshold(logging_config, module))
