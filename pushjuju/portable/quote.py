"""Quotes texts, and reads booleans and integers, as Go does.

Errors are ValueErrors with Go's texts. Strings may carry bytes that are not UTF-8 as lone surrogates
("surrogateescape").

Mirrors: Go strconv quote.go, atob.go and atoi.go, strings.TrimSpace
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable

_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")
_QUOTED = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_INT_MAX = (1 << 63) - 1
_UINT_MAX = (1 << 64) - 1
_DIGITS_MOST = 1000  # longer numbers are out of range, and int() would take long


def quote(text: str) -> str:
    """Quote a text as Go's `%q` does."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return '"' + text + '"'
    return '"' + "".join(map(_quote_char, text)) + '"'


def quote_list(texts: Iterable[str]) -> str:
    """Quote a list as Go's `%q` does: `["a" "b"]`."""
    return "[" + " ".join(map(quote, texts)) + "]"


def _quote_char(char: str) -> str:
    if char in _QUOTED:
        return _QUOTED[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return "\\x%02x" % code
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return "\\x%02x" % (code - 0xDC00)
    return "\\u%04x" % code if code <= 0xFFFF else "\\U%08x" % code


def trim(text: str) -> str:
    """Strip white space as Go's `strings.TrimSpace` does."""
    return text.strip(_SPACE)


def bool_of(text: str) -> bool | None:
    """Return the boolean that Go's `strconv.ParseBool` reads from a text, or None when the text is none."""
    return True if text in _TRUE else False if text in _FALSE else None


def parse_bool(text: str) -> bool:
    """Read a boolean as Go does."""
    found = bool_of(text)
    if found is None:
        raise _bad_syntax("ParseBool", text)
    return found


def atoi(text: str) -> int:
    """Read a decimal integer of 64 bits.

    Raises:
        ValueError: The text is not a decimal integer of 64 bits; the message is Go's.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise _bad_syntax("Atoi", text)
    number = None if len(digits.lstrip("0")) > 19 else int(text)
    return _in_range("Atoi", text, number, -_INT_MAX - 1, _INT_MAX)


def parse_int(text: str, *, signed: bool = True) -> int:
    """Read an integer of 64 bits; a prefix gives the base, `_` may separate digits.

    Raises:
        ValueError: The text is not an integer of 64 bits; the message is Go's.
    """
    sign = text[:1] if signed and text[:1] in ("+", "-") else ""
    body = text[len(sign) :]
    function = "ParseInt" if signed else "ParseUint"
    if len(body) > _DIGITS_MOST and body.isascii() and body.replace("_", "").isdigit():
        return _in_range(function, text, None, 0, 0)
    number = unsigned_of(body)
    if number is None:
        raise _bad_syntax(function, text)
    low, high = (-_INT_MAX - 1, _INT_MAX) if signed else (0, _UINT_MAX)
    return _in_range(function, text, -number if sign == "-" else number, low, high)


def unsigned_of(text: str) -> int | None:
    """Return an unsigned number of any size, whose prefix gives the base, or None for any other text."""
    if not (text.isascii() and text[:1].isdigit() and text[-1].isalnum()):
        return None
    if len(text) > 1 and text[0] == "0" and text[1] in "01234567_":
        text = "0o" + text[1:]
    try:
        return int(text, 0)
    except ValueError:
        return None


def _bad_syntax(function: str, text: str) -> ValueError:
    return ValueError("strconv.%s: parsing %s: invalid syntax" % (function, quote(text)))


def _in_range(function: str, text: str, number: int | None, low: int, high: int) -> int:
    if number is None or not low <= number <= high:
        raise ValueError("strconv.%s: parsing %s: value out of range" % (function, quote(text)))
    return number
