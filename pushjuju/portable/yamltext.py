"""Writes YAML that looks like Juju's.

Block style, lists not indented under their key, natural key order, quotes only where a reader would not read
the bare word as a string, long lines broken after column 80.

Mirrors: gopkg.in/yaml.v2 encode.go and emitterc.go (as used by juju 3.6)
"""

from __future__ import annotations

import binascii

from pushjuju.portable.gotypes import Moment, Struct, go_float
from pushjuju.portable.yamlwords import map_key, needs_quotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIDTH = 80  # the emitter breaks a line at the first blank after this column
MAX_SIMPLE_KEY = 128  # longer keys (in bytes) are written as "? key"

_BREAKS = "\n\r\x85\u2028\u2029"
_FIRST_INDICATORS = frozenset("#,[]{}&*!|>'\"%@`")
_ESCAPES = {
    0x00: "0", 0x07: "a", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0B: "v", 0x0C: "f", 0x0D: "r",
    0x1B: "e", 0x22: '"', 0x5C: "\\", 0x85: "N", 0x2028: "L", 0x2029: "P",
}  # fmt: skip


# --- YAML scalars -------------------------------------------------------------------------------


def _is_printable(char: str) -> bool:
    # The same characters as in Juju's emitter: no tab, nothing beyond the basic plane, no byte order mark.
    if char < "\x7f":
        return char >= " " or char == "\n"
    return "\xa0" <= char <= "\ud7ff" or ("\ue000" <= char <= "\ufffd" and char != "\ufeff")


def _all_printable(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return all(map(_is_printable, text)) and not ("\u2028" in text or "\u2029" in text)


def _plain_allowed(text: str) -> bool:
    """Return True when one line of printable text can be written without quotes in block context."""
    first = text[0]
    if first in _FIRST_INDICATORS or first == " " or text[-1] in " :":
        return False
    if first in "-?:" and (len(text) == 1 or text[1] == " "):
        return False
    return not (": " in text or " #" in text or text.startswith(("---", "...")))


def _literal_allowed(text: str) -> bool:
    """Return True when a text of several lines reads back unchanged from a literal block."""
    if text[-1] == " " or " \n" in text or text.endswith("\n\n") or not text.strip("\n"):
        return False
    return _all_printable(text)


def _escape(char: str) -> str:
    code = ord(char)
    if code in _ESCAPES:
        return "\\" + _ESCAPES[code]
    if code <= 0xFF:
        return "\\x%02X" % code
    return "\\u%04X" % code if code <= 0xFFFF else "\\U%08X" % code


def _double(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return '"' + text + '"'
    return '"%s"' % "".join(
        char if _is_printable(char) and char not in '"\\' + _BREAKS else _escape(char) for char in text
    )


def _binary(text: str) -> str:
    data = binascii.b2a_base64(text.encode("utf-8", "surrogateescape"), newline=False)
    return "!!binary " + data.decode()


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def yaml_string(text: str) -> str:
    """Render a string on one line: without quotes, single-quoted or double-quoted, as Juju chooses."""
    if not text:
        return '""'
    if text.isascii() and text.isprintable():
        if needs_quotes(text):
            return _double(text)
    elif not _is_text(text):
        return _binary(text)
    elif "\n" in text or not _all_printable(text) or needs_quotes(text):
        return _double(text)
    if _plain_allowed(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _yaml_float(value: float) -> str:
    if value != value:  # noqa: PLR0124 - only NaN is not itself
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    text = go_float(value)
    # YAML 1.1 readers want a dot in front of an exponent.
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _other_scalar(value: Any) -> str:
    """Render a value that is neither a plain str nor a container."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, Moment):
        return str(value)
    if isinstance(value, str):
        return yaml_string(str(value))
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _yaml_float(value)
    raise TypeError("cannot render %r" % type(value).__name__)


def _fold(rendered: str, column: int, indent: str) -> str:
    """Break a one-line scalar at blanks beyond `WIDTH`, as Juju's emitter does.

    Args:
        rendered: The scalar as `yaml_string` returns it.
        column: The column where the scalar starts.
        indent: The text with which continuation lines begin.
    """
    quote = rendered[0] if rendered[0] in "'\"" else ""
    last = len(rendered) - (2 if quote else 1)  # a blank just before the closing quote is no place to break
    out: list[str] = []
    start, blank = 0, False
    for at, char in enumerate(rendered):
        if char != " ":
            blank = False
            continue
        follows = rendered[at + 1 : at + 2]
        inside = (1 if quote else 0) < at < last
        if not blank and inside and column + at - start > WIDTH and (follows != " " or quote == '"'):
            out.append(rendered[start:at])
            # A continuation line of a double-quoted scalar loses its leading blanks, so the first is escaped.
            column, start = len(indent) + (1 if follows == " " else 0), at + 1
            out.append("\n" + indent + ("\\" if follows == " " else ""))
        blank = True
    return "".join(out) + rendered[start:]


def _literal(text: str, indent: str) -> str:
    hint = "2" if text[0] in " \n" else ""
    chomp = "" if text[-1] == "\n" else "-"
    lines = (indent + line if line else "" for line in text.rstrip("\n").split("\n"))
    return "|" + hint + chomp + "\n" + "\n".join(lines)


# --- YAML documents -----------------------------------------------------------------------------


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


class _Emitter:
    """Writes one document; caches rendered strings, because documents repeat them."""

    __slots__ = ("_cache", "_keys", "_order", "out", "sort_keys")

    def __init__(self, sort_keys: bool) -> None:
        self.out: list[str] = []
        self.sort_keys = sort_keys
        self._cache: dict[str, str] = {}  # strings short enough for any line -> rendered
        self._keys: dict[Any, str] = {}
        self._order: dict[Any, Any] = {}  # key -> its place in natural order

    def scalar(self, value: Any, lead: str, indent: str) -> None:
        """Write the line start `lead`, the scalar and a newline; `indent` begins its further lines."""
        if type(value) is not str:
            text = _other_scalar(value)
        else:
            known = self._cache.get(value)
            if known is None:
                if "\n" in value and _is_text(value) and _literal_allowed(value):
                    self.out.append(
                        lead + " " + _literal(value, indent) + "\n"
                        if lead
                        else _literal(value, indent) + "\n"
                    )
                    return
                known = self._cache[value] = yaml_string(value)
            text = known
        if len(lead) + len(text) >= WIDTH and " " in text and not text.startswith("!!"):
            text = _fold(text, len(lead) + 1 if lead else 0, indent)
        self.out.append(lead + " " + text + "\n" if lead else text + "\n")

    def _ordered(self, value: dict[Any, Any]) -> Any:
        if not self.sort_keys or isinstance(value, Struct) or len(value) < 2:
            return value
        order = self._order
        for key in value:
            if key not in order:
                order[key] = map_key(key)
        return sorted(value, key=order.__getitem__)

    def node(self, value: Any, lead: str, indent: str) -> None:
        """Write an item of a list: `lead` begins its first line, `indent` the others."""
        if isinstance(value, dict) and value:
            self.mapping(value, lead + " ", indent)
        elif isinstance(value, (list, tuple)) and value:
            self.sequence(value, lead + " ", indent)
        else:
            self._leaf(value, lead, indent)

    def _leaf(self, value: Any, lead: str, indent: str) -> None:
        if isinstance(value, dict):
            self.out.append(lead + " {}\n")
        elif isinstance(value, (list, tuple)):
            self.out.append(lead + " []\n")
        else:
            self.scalar(value, lead, indent)

    def mapping(self, value: dict[Any, Any], first: str, indent: str) -> None:
        """Write a block map: `first` comes before its first key, `indent` before the others."""
        out, keys, deeper, prefix = self.out, self._keys, indent + "  ", first
        for key in self._ordered(value):
            item = value[key]
            text = keys.get(key) or self._key(key)
            kind = type(item)
            if not text:
                self._complex(key, item, prefix, indent)
            elif kind is str:
                known = self._cache.get(item)
                if known is not None and len(prefix) + len(text) + len(known) < WIDTH:
                    out.append(f"{prefix}{text} {known}\n")
                else:
                    self.scalar(item, prefix + text, deeper)
            elif item and isinstance(item, dict):
                out.append(prefix + text + "\n")
                self.mapping(item, deeper, deeper)
            elif item and isinstance(item, (list, tuple)):
                out.append(prefix + text + "\n")
                self.sequence(item, indent, indent)
            else:
                self._leaf(item, prefix + text, deeper)
            prefix = indent

    def sequence(self, value: Any, first: str, indent: str) -> None:
        """Write a block list: `first` comes before its first dash, `indent` before the others."""
        prefix = first
        for item in value:
            self.node(item, prefix + "-", indent + "  ")
            prefix = indent

    def _key(self, key: Any) -> str:
        """Render a key with its colon; empty for a key too long for a simple key, or of several lines."""
        text = yaml_string(key) if isinstance(key, str) else _other_scalar(key)
        if isinstance(key, str) and ("\n" in key or _bytes_of(key) > MAX_SIMPLE_KEY):
            return ""
        self._keys[key] = text + ":"
        return text + ":"

    def _complex(self, key: Any, item: Any, prefix: str, indent: str) -> None:
        self.scalar(key, prefix + "?", indent + "  ")
        self.node(item, indent + ":", indent + "  ")


def to_yaml(value: Any, *, sort_keys: bool = True) -> str:
    """Render block YAML with its final newline.

    Args:
        value: None, bool, int, float, str, list, tuple and dict, nested.
        sort_keys: Put the keys of plain dicts in natural order; a `Struct` always keeps its order.
    """
    emitter = _Emitter(sort_keys)
    if isinstance(value, dict):
        if not value:
            return "{}\n"
        emitter.mapping(value, "", "")
    elif isinstance(value, (list, tuple)):
        if not value:
            return "[]\n"
        emitter.sequence(value, "", "")
    else:
        emitter.scalar(value, "", "  ")
    return "".join(emitter.out)
