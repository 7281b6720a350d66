"""Scan YAML 1.1: places in the text, white space, comments, and the four kinds of scalars.

`goparse` builds lists and maps upon this scanner. Imported when a tool reads a file.
Runs on machines: Python 3.8, builtins only.

Mirrors: gopkg.in/yaml.v2 scannerc.go (as used by juju 3.6)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BLANK = " \t"
_END = "\0"  # ends the text, so that looking ahead needs no check of the length
SPACE = " \t\n\0"
FLOW_ENDS = ",[]{}"
_SIMPLE_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "'": "'", "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028",
    "P": "\u2029",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}


class YamlError(ValueError):
    """The text is not valid YAML; the message starts with "yaml: "."""


class Node:
    """A scalar, a list or a map."""

    __slots__ = ("at", "items", "kind", "pairs", "plain", "tag", "text")

    def __init__(self, kind: str, at: int, text: str = "", plain: bool = False) -> None:
        self.kind = kind  # "scalar", "seq" or "map"
        self.at = at
        self.text = text
        self.plain = plain  # True for a scalar without quotes
        self.tag = ""  # the tag as written, or ""
        self.items: list[Node] = []
        self.pairs: list[tuple[Node, Node]] = []  # keys and values of a map, in order


def _is_allowed(char: str) -> bool:
    return (
        char >= " "
        and not "\x7f" <= char <= "\x9f"
        and not "\ud800" <= char <= "\udfff"
        and char not in "\ufffe\uffff"
    )


class Scanner:
    """A text and a position in it, with methods that read from the position on."""

    def __init__(self, text: str) -> None:
        text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        if not text.isprintable() and not all(_is_allowed(char) or char in "\n\t\x85" for char in text):
            raise YamlError("yaml: control characters are not allowed")
        self.text = text + _END
        self.pos = 0

    # --- places -------------------------------------------------------------------------------

    def line(self, at: int) -> int:
        """Return the line (from 1) of an offset."""
        return self.text.count("\n", 0, at) + 1

    def fail(self, problem: str) -> NoReturn:
        raise YamlError("yaml: line %d: %s" % (self.line(self.pos), problem))

    def column(self) -> int:
        return self.pos - self.text.rfind("\n", 0, self.pos) - 1

    def ahead(self, offset: int = 1) -> str:
        return self.text[min(self.pos + offset, len(self.text) - 1)]

    def skip_blanks(self) -> None:
        while self.text[self.pos] in BLANK:
            self.pos += 1

    def skip_space(self) -> bool:
        """Skip blanks, comments and line ends; return True when a line ended."""
        crossed = False
        while True:
            self.skip_blanks()
            char = self.text[self.pos]
            # After an opening bracket or a comma, a comment needs no blank before it.
            if char == "#" and (
                self.pos == 0 or self.text[self.pos - 1] in SPACE or self.text[self.pos - 1] in "{[,"
            ):
                self.pos = self.line_end()
            elif char == "\n":
                crossed = True
                self.pos += 1
            else:
                return crossed

    def line_end(self) -> int:
        end = self.text.find("\n", self.pos)
        return len(self.text) - 1 if end < 0 else end

    def at_end(self) -> bool:
        """Return True at the end of the document."""
        if self.pos == len(self.text) - 1:
            return True
        marker = self.text[self.pos : self.pos + 3]
        return marker in ("---", "...") and self.ahead(3) in SPACE and self.column() == 0

    def at_indicator(self, char: str) -> bool:
        return self.text[self.pos] == char and self.ahead() in SPACE

    # --- scalars ------------------------------------------------------------------------------

    def plain_end(self, *, flow: bool) -> int:
        """Return the offset at which an unquoted scalar ends on its first line."""
        text, at = self.text, self.pos
        while True:
            char = text[at]
            if char in "\n\0" or (flow and char in FLOW_ENDS):
                return at
            if char == ":" and (text[at + 1] in SPACE or (flow and text[at + 1] in FLOW_ENDS)):
                return at
            if char == "#" and at > self.pos and text[at - 1] in BLANK:
                return at
            at += 1

    def plain(self, parent: int, *, flow: bool = False) -> Node:
        """Parse an unquoted scalar, which goes on in lines that are indented more than `parent`."""
        start = self.pos
        out = ""
        while True:
            begin = self.pos
            self.pos = self.plain_end(flow=flow)
            out += self.text[begin : self.pos].rstrip(BLANK)
            if self.text[self.pos] != "\n":
                break
            resume = self.pos
            breaks = 0
            while self.text[self.pos] == "\n":
                breaks += 1
                self.pos += 1
                self.skip_blanks()
            shallow = not flow and self.column() <= parent
            if (
                self.at_end()
                or shallow
                or self.text[self.pos] == "#"
                or (flow and self.text[self.pos] in FLOW_ENDS)
            ):
                self.pos = resume
                break
            if flow and self.at_indicator(":"):
                self.pos = resume
                break
            out += " " if breaks == 1 else "\n" * (breaks - 1)
        if not out:
            self.fail("did not find expected node content")
        return Node("scalar", start, out, plain=True)

    def quoted(self) -> Node:
        quote, start = self.text[self.pos], self.pos
        self.pos += 1
        end = self.text.find(quote, self.pos)
        segment = self.text[self.pos : end]
        if end > 0 and "\n" not in segment and "\\" not in segment and self.text[end + 1] != quote:
            self.pos = end + 1
            return Node("scalar", start, segment)
        return Node("scalar", start, self._quoted_slowly(quote))

    def _quoted_slowly(self, quote: str) -> str:
        text, out, last = self.text, [], len(self.text) - 1
        ends = {quote: -1, "\n": -1, "\\": -1 if quote == '"' else last}
        while True:
            for char, known in ends.items():
                if known < self.pos:
                    found = text.find(char, self.pos)
                    ends[char] = found if found >= 0 else last
            stop = min(ends.values())
            chunk, char, self.pos = text[self.pos : stop], text[stop], stop
            if stop == last:
                self.fail("found unexpected end of stream")
            if char == "\n":
                out.append(chunk.rstrip(BLANK) + self._fold())
                continue
            out.append(chunk)
            if char == "\\":
                out.append(self._escape())
                continue
            self.pos += 1
            if quote == '"' or text[self.pos] != quote:
                return "".join(out)
            out.append(quote)
            self.pos += 1

    def _fold(self) -> str:
        """Skip line ends and blanks inside quotes: a single line end is a blank, n + 1 line ends are n."""
        breaks = 0
        while self.text[self.pos] in " \t\n":
            breaks += self.text[self.pos] == "\n"
            self.pos += 1
        return " " if breaks == 1 else "\n" * (breaks - 1)

    def _escape(self) -> str:
        char = self.ahead()
        self.pos += 2
        if char == "\n":
            self.skip_blanks()
            blank_lines = 0
            while self.text[self.pos] == "\n":
                blank_lines += 1
                self.pos += 1
                self.skip_blanks()
            return "\n" * blank_lines
        if char in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[char]
        if char not in _HEX_ESCAPES:
            self.fail("found unknown escape character")
        code = self._hex(_HEX_ESCAPES[char])
        if 0xD800 <= code <= 0xDBFF and self.text.startswith("\\u", self.pos):  # a surrogate pair of JSON
            resume = self.pos
            self.pos += 2
            low = self._hex(4)
            if 0xDC00 <= low <= 0xDFFF:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
            self.pos = resume
        if 0xD800 <= code <= 0xDFFF:
            return "\ufffd"
        if code > 0x10FFFF:
            self.fail("found invalid Unicode character escape code")
        return chr(code)

    def _hex(self, size: int) -> int:
        digits = self.text[self.pos : self.pos + size]
        if len(digits) < size or digits.strip("0123456789abcdefABCDEF"):
            self.fail("did not find expected hexadecimal number")
        self.pos += size
        return int(digits, 16)

    # --- block scalars ------------------------------------------------------------------------

    def block_scalar(self, parent: int) -> Node:
        start, folded = self.pos, self.text[self.pos] == ">"
        chomp, indent = self._block_header()
        least = max(parent + 1, 1)
        indent = max(parent, 0) + indent if indent else self._detect_indent(least)
        lines, ended = self._block_lines(indent)
        if not ended and not lines[-1]:  # a line of blanks at the end of the text does not count
            lines.pop()
            ended = True
        tail = len(lines)
        while lines and not lines[-1]:
            lines.pop()
        tail -= len(lines)
        if not lines:
            return Node("scalar", start, "\n" * tail if chomp == "+" else "")
        text = _folded(lines) if folded else "\n".join(lines)
        if chomp != "-" and ended:
            text += "\n" * (1 + tail if chomp == "+" else 1)
        return Node("scalar", start, text)

    def _block_header(self) -> tuple[str, int]:
        chomp, indent = "", 0
        self.pos += 1
        while self.text[self.pos] in "+-123456789":
            char = self.text[self.pos]
            if char in "+-":
                chomp = char
            else:
                indent = int(char)
            self.pos += 1
        self.skip_blanks()
        if self.text[self.pos] == "#":
            self.pos = self.line_end()
        if self.text[self.pos] not in "\n\0":
            self.fail("did not find expected comment or line break")
        return chomp, indent

    def _detect_indent(self, least: int) -> int:
        """Return the indent of the first line that is not blank, at least `least`."""
        at, deepest = self.pos + 1, 0
        while at < len(self.text):
            begin = at
            while self.text[at] == " ":
                at += 1
            deepest = max(deepest, at - begin)
            if self.text[at] != "\n":
                break
            at += 1
        return max(deepest, least)

    def _block_lines(self, indent: int) -> tuple[list[str], bool]:
        """Read the lines of a block scalar; return them, and True when the last line ended with an LF."""
        lines: list[str] = []
        if self.text[self.pos] == "\n":
            self.pos += 1
        while self.pos < len(self.text) - 1:
            end = self.line_end()
            line = self.text[self.pos : end]
            if line[:indent].strip(" "):
                break  # a line with less indent ends the block
            lines.append(line[indent:])
            if self.text[end] != "\n":
                self.pos = end
                return lines, False
            self.pos = end + 1
        return lines, True


def _folded(lines: list[str]) -> str:
    """Join the lines of a `>` block by blanks; empty or further indented lines keep their line ends."""
    out = lines[0]
    empty = 0  # empty lines since the last line with text
    last = lines[0]
    for line in lines[1:]:
        if not line:
            empty += 1
            continue
        if last and last[0] not in BLANK and line[0] not in BLANK:
            out += "\n" * empty or " "
        else:
            out += "\n" * (empty + 1)
        out += line
        last, empty = line, 0
    return out
