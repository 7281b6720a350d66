"""Parse YAML 1.1 into a tree of nodes: blocks, flows (all of JSON), anchors, tags. Scalars stay text.

Reads the first document only. Imported when a tool reads a file; runs on machines: Python 3.8, builtins only.

Mirrors: gopkg.in/yaml.v2 parserc.go (as used by juju 3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.tools.goscan import BLANK, FLOW_ENDS, SPACE, Node, Scanner, YamlError

__all__ = ["Node", "Parser", "YamlError"]

_NAME = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-"


class Parser(Scanner):
    """A recursive-descent parser; `document` parses the whole text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.anchors: dict[str, Node] = {}

    # --- documents ----------------------------------------------------------------------------

    def document(self) -> Node | None:
        """Parse the first document; return None when it is empty."""
        self.skip_space()
        while self.text[self.pos] == "%" and self.column() == 0:
            self.pos = self.line_end()
            self.skip_space()
        if self.text.startswith("---", self.pos) and self.ahead(3) in SPACE:
            self.pos += 3
            self.skip_space()
        if self.at_end():
            return None
        node = self.block_node(-1, inline=False)
        self.skip_space()
        if not self.at_end():
            self.fail("did not find expected <document start>")
        return node

    # --- blocks -------------------------------------------------------------------------------

    def block_node(self, parent: int, *, inline: bool) -> Node:
        """Parse a node that is indented more than `parent`.

        Args:
            parent: Column of the block that contains the node.
            inline: True right behind "key:", where no map or list may begin.
        """
        start = self.pos
        anchor, tag, crossed = self._properties()
        inline = inline and not crossed
        deeper = not crossed or self.column() > parent or (self.column() == parent and self.at_indicator("-"))
        if self.at_end() or not deeper:  # an anchor or a tag without a node
            return self._named(Node("scalar", start, "", plain=not tag), anchor, tag)
        if not inline and self.at_indicator("-"):
            return self._named(self._block_list(self.column()), anchor, tag)
        if not inline and (self.at_indicator("?") or self._key_ahead()):
            if crossed or not (anchor or tag):
                return self._named(self._block_map(self.column()), anchor, tag)
            self.pos = start  # the properties belong to the first key
            return self._block_map(self.column())
        return self._named(self._leaf(parent, inline=inline), anchor, tag)

    def _leaf(self, parent: int, *, inline: bool) -> Node:
        char = self.text[self.pos]
        if char in "|>":
            return self.block_scalar(parent)
        if char in "[{":
            return self._flow_node()
        if char == "*":
            return self._alias()
        if char in "'\"":
            node = self.quoted()
        elif char in ",]}%@`" or (inline and self.at_indicator("-")):
            self.fail(
                "found character that cannot start any token"
                if char in "%@`"
                else "did not find expected node content"
            )
        else:
            node = self.plain(parent)
        self.skip_blanks()
        if self.at_indicator(":"):
            self.fail("mapping values are not allowed in this context")
        return node

    def _properties(self) -> tuple[str, str, bool]:
        """Parse an anchor and a tag; return both, and True when a line ended after them."""
        anchor = tag = ""
        crossed = False
        while self.text[self.pos] in "&!" and not crossed:
            if self.text[self.pos] == "&":
                anchor = self._anchor()
                crossed = self.skip_space()
                continue
            end = self.pos + 1
            ends = SPACE + ">" if self.text.startswith("!<", self.pos) else SPACE + FLOW_ENDS
            while self.text[end] not in ends:
                end += 1
            end += self.text[end] == ">"
            tag, self.pos = self.text[self.pos : end], end
            crossed = self.skip_space()
        return anchor, tag, crossed

    def _anchor(self) -> str:
        end = self.pos + 1
        while self.text[end] in _NAME:
            end += 1
        name = self.text[self.pos + 1 : end]
        if not name or self.text[end] not in SPACE + "?:,]}%@`":
            self.fail("did not find expected alphabetic or numeric character")
        self.pos = end
        return name

    def _named(self, node: Node, anchor: str, tag: str) -> Node:
        if tag:
            node.tag = tag
        if anchor:
            self.anchors[anchor] = node
        return node

    def _alias(self) -> Node:
        end = self.pos + 1
        while self.text[end] not in SPACE and self.text[end] not in FLOW_ENDS + ":":
            end += 1
        name, self.pos = self.text[self.pos + 1 : end], end
        if name not in self.anchors:
            raise YamlError("yaml: unknown anchor '%s' referenced" % name)
        return self.anchors[name]

    def _key_ahead(self) -> bool:
        """Return True when the text continues with a simple key and its colon on the same line."""
        start, found = self.pos, False
        if self.text[start] in "[{":  # keys that are lists or maps are useless in settings
            return False
        try:
            self._key()
            self.skip_blanks()
            found = self.at_indicator(":") and "\n" not in self.text[start : self.pos]
        except YamlError:
            pass
        self.pos = start
        return found

    def _key(self) -> Node:
        anchor, tag, crossed = self._properties()
        char = self.text[self.pos]
        if crossed or char in ",[]{}|>%@`#":
            self.fail("did not find expected key")
        if char == "*":
            return self._alias()
        if char in "'\"":
            return self._named(self.quoted(), anchor, tag)
        start, end = self.pos, self.plain_end(flow=False)
        self.pos = end
        return self._named(Node("scalar", start, self.text[start:end].rstrip(BLANK), plain=True), anchor, tag)

    def _block_map(self, column: int) -> Node:
        node = Node("map", self.pos)
        while not self.at_end() and self.column() == column:
            if self.at_indicator("?"):
                self.pos += 1
                key = self._indented(column)
                self.skip_space()
                if self.at_end() or self.column() != column or not self.at_indicator(":"):
                    node.pairs.append((key, self._null()))
                    continue
            else:
                start = self.pos
                key = self._key()
                self.skip_blanks()
                if not self.at_indicator(":") or "\n" in self.text[start : self.pos]:
                    self.fail("could not find expected ':'")
            self.pos += 1
            node.pairs.append((key, self._value(column)))
            self.skip_space()
        if not self.at_end() and self.column() > column:
            self.fail("did not find expected key")
        return node

    def _value(self, column: int) -> Node:
        """Parse the value after "key:" of a map at `column`."""
        if not self.skip_space():
            return self._null() if self.at_end() else self.block_node(column, inline=True)
        if self.at_end() or self.column() < column:
            return self._null()
        if self.column() > column or self.at_indicator("-"):
            return self.block_node(column, inline=False)
        return self._null()

    def _indented(self, column: int) -> Node:
        """Parse the node after "- " or "? " at `column`."""
        self.skip_space()
        if self.at_end() or self.column() <= column:
            return self._null()
        return self.block_node(column, inline=False)

    def _null(self) -> Node:
        return Node("scalar", self.pos, "", plain=True)

    def _block_list(self, column: int) -> Node:
        node = Node("seq", self.pos)
        while not self.at_end() and self.column() == column and self.at_indicator("-"):
            self.pos += 1
            node.items.append(self._indented(column))
            self.skip_space()
        if not self.at_end() and self.column() > column:
            self.fail("did not find expected '-' indicator")
        return node

    # --- flows --------------------------------------------------------------------------------

    def _flow_node(self) -> Node:
        start = self.pos
        anchor, tag, _ = self._properties()
        char = self.text[self.pos]
        if char == "[":
            node = self._flow_list()
        elif char == "{":
            node = self._flow_map()
        elif char == "*":
            node = self._alias()
        elif char in "'\"":
            node = self.quoted()
        elif char in ",]}:" and (anchor or tag):
            node = Node("scalar", start, "", plain=not tag)
        elif char in ",]}|>%@`\0":
            self.fail("did not find expected node content")
        else:
            node = self.plain(-1, flow=True)
        return self._named(node, anchor, tag)

    def _flow_list(self) -> Node:
        node = Node("seq", self.pos)
        self._open_flow()
        while self.text[self.pos] != "]":
            item = self._flow_node()
            self.skip_space()
            if self.text[self.pos] == ":":  # a single pair inside a list
                item = self._flow_pair_map(item)
            node.items.append(item)
            self._flow_comma("]", "did not find expected ',' or ']'")
        self.pos += 1
        return node

    def _flow_pair_map(self, key: Node) -> Node:
        node = Node("map", key.at)
        node.pairs.append((key, self._flow_value()))
        return node

    def _flow_map(self) -> Node:
        node = Node("map", self.pos)
        self._open_flow()
        while self.text[self.pos] != "}":
            marked = self.text[self.pos] == "?"
            if marked:
                self.pos += 1
                self.skip_space()
            key = self._null() if marked and self.text[self.pos] in ",}:" else self._flow_node()
            self.skip_space()
            node.pairs.append((key, self._flow_value()))
            self._flow_comma("}", "did not find expected ',' or '}'")
        self.pos += 1
        return node

    def _open_flow(self) -> None:
        self.pos += 1
        self.skip_space()

    def _flow_value(self) -> Node:
        if self.text[self.pos] != ":":
            return self._null()
        self.pos += 1
        self.skip_space()
        return self._null() if self.text[self.pos] in ",]}" else self._flow_node()

    def _flow_comma(self, close: str, problem: str) -> None:
        self.skip_space()
        if self.text[self.pos] == ",":
            self.pos += 1
            self.skip_space()
        elif self.text[self.pos] != close:
            self.fail(problem)
