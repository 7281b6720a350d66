"""Decides what a YAML 1.1 reader makes of a word without quotes, as Juju's YAML library does.

The emitter asks which strings need quotes; the readers ask which value a word has.

Mirrors: gopkg.in/yaml.v2 resolve.go, sorter.go (as used by juju 3.6)
"""

from __future__ import annotations

from pushjuju.portable.quote import unsigned_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRUE = frozenset("y Y yes Yes YES true True TRUE on On ON".split())
FALSE = frozenset("n N no No NO false False FALSE off Off OFF".split())
NULL = frozenset(("", "~", "null", "Null", "NULL"))
FLOATS = {
    **dict.fromkeys(".nan .NaN .NAN".split(), float("nan")),
    **dict.fromkeys(".inf .Inf .INF +.inf +.Inf +.INF".split(), float("inf")),
    **dict.fromkeys("-.inf -.Inf -.INF".split(), float("-inf")),
}
# "<<" and "=" have tags of their own in YAML 1.1: with quotes, every reader reads them as strings.
_WORDS = TRUE | FALSE | NULL | frozenset(FLOATS) | frozenset(("<<", "="))
_NUMBER_START = frozenset("0123456789+-.")
_NUMBER_CHARS = "0123456789abcdefABCDEFxXoO_.+-"
_SIGNS = "+-"
_LONGEST = 400  # digits of a number


def _split_sign(text: str) -> str:
    return text[1:] if text[:1] in ("+", "-") else text


def number_of(text: str) -> int | float | None:
    """Return the number that a bare word is, or None when the word is not a number."""
    if (
        text.strip(_NUMBER_CHARS) or not text.isascii() or text.count(".") > 1
    ):  # the usual case: an address, a name, words
        return None
    plain = text.replace("_", "") if "_" in text else text
    if plain.isdigit() and plain[0] != "0" and len(plain) < 19:
        return int(plain)
    body = _split_sign(plain)
    if not body or body[0] not in _NUMBER_START or body[0] in _SIGNS or len(body) > _LONGEST:
        return None
    number: int | float | None = unsigned_of(body)
    try:
        if number is None:
            return float(plain)
        number = -number if plain[0] == "-" else number
        return number if -(1 << 63) <= number < 1 << 64 else float(number)
    except (OverflowError, ValueError):
        return None


def _is_number_to_others(text: str) -> bool:
    """Return True for words that other YAML readers read as numbers: `0x_`, or hundreds of digits."""
    if len(text) > _LONGEST:
        body = _split_sign(text.replace("_", ""))
        return body.isdigit() or unsigned_of(body) is not None
    return "_" in text and _split_sign(text.replace("_", "")) in ("0x", "0b")


def number_tag(text: str) -> str:
    """Return "!!int" or "!!float" when `text` reads as a number, else ""."""
    number = number_of(text)
    if number is None:
        return "!!int" if _is_number_to_others(text) else ""
    return "!!int" if isinstance(number, int) else "!!float"


def is_base60(text: str) -> bool:
    """Return True for a base-60 number such as `12:34:56`, which older readers would convert."""
    if ":" not in text:
        return False
    parts = _split_sign(text).split(":")
    last, dot, fraction = parts[-1].partition(".")
    parts[-1] = last
    head = parts[0].replace("_", "")
    if not head.isdigit() or not parts[0][0].isdigit() or not text.isascii():
        return False
    if dot and fraction.replace("_", "").strip("0123456789"):
        return False
    return all(part.isdigit() and len(part) <= 2 and int(part) < 60 for part in parts[1:])


def _is_date(text: str) -> bool:
    parts = text.split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return False
    return len(parts[0]) == 4 and len(parts[1]) <= 2 and len(parts[2]) <= 2


def _is_clock(text: str) -> bool:
    clock, dot, fraction = text.partition(".")
    if dot and not fraction.isdigit():
        return False
    parts = clock.split(":")
    return len(parts) == 3 and all(part.isdigit() and len(part) <= 2 for part in parts)


def is_timestamp(text: str) -> bool:
    """Return True when `text` is a date, or a time in one of the forms that Juju's reader converts.

    `2025-03-01T10:00:00Z` and `2025-03-01 10:00:00` are; `2025-03-01 10:00:00Z` stays text.
    """
    if len(text) < 8 or text[4] != "-" or not text.isascii() or not text[:4].isdigit():
        return False
    if _is_date(text):
        return True
    for mark in "Tt":
        date, found, rest = text.partition(mark)
        if found:
            if rest.endswith("Z"):
                return _is_date(date) and _is_clock(rest[:-1])
            zone = rest[-6:]
            zoned = (
                len(zone) == 6 and zone[0] in _SIGNS and zone[3] == ":" and (zone[1:3] + zone[4:]).isdigit()
            )
            return zoned and _is_date(date) and _is_clock(rest[:-6])
    date, found, rest = text.partition(" ")
    return bool(found) and _is_date(date) and _is_clock(rest)


def resolve_tag(text: str) -> str:
    """Return the short tag (`!!str`, `!!int`, ...) of a bare word."""
    if text in TRUE or text in FALSE:
        return "!!bool"
    if text in NULL:
        return "!!null"
    if text in FLOATS:
        return "!!float"
    if text[0] in _NUMBER_START:
        if is_timestamp(text):
            return "!!timestamp"
        return number_tag(text) or "!!str"
    return "!!str"


def needs_quotes(text: str) -> bool:
    """Return True when a reader would read a bare word as anything but the same string (syntax apart)."""
    if text in _WORDS:
        return True
    if text[0] not in _NUMBER_START:
        return False
    if " " in text:  # a text with a blank is neither a number nor base 60
        return is_timestamp(text)
    return bool(number_tag(text)) or is_timestamp(text) or is_base60(text)


def key_order(text: str) -> tuple[Any, ...]:
    """Return a sort key: runs of digits compare as numbers; other characters before digits before letters."""
    key: list[tuple[int, int, int]] = []
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char.isdecimal():
            stop = at + 1
            while stop < end and text[stop].isdecimal():
                stop += 1
            # A long run of digits is a hash, not a counter. It is cut, because int() of it is slow or fails.
            key.append((1, int(text[at : min(stop, at + 300)]), stop - at))
            at = stop
            continue
        key.append((2 if char.isalpha() else 0, ord(char), 0))
        at += 1
    return tuple(key)


def map_key(key: Any) -> tuple[Any, ...]:
    """Return the sort key of a YAML map key: numbers before strings, strings in natural order."""
    if isinstance(key, str):
        return (1, key_order(key))
    return (0, float(key))
