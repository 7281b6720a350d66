"""Read the settings that a charm passes with `--file`: a YAML or JSON map of scalars, kept as written.

`1.0`, `yes` and `0777` stay text, null is the empty string, the last of several equal keys wins.
Runs on machines: Python 3.8, imported when a tool reads a file.

Mirrors: gopkg.in/yaml.v2 decode.go into map[string]string (as used by juju 3.6)
"""

from __future__ import annotations

import binascii

from pushjuju.portable.yamlwords import resolve_tag
from pushjuju.runner.remote.tools.goparse import Node, Parser, YamlError

__all__ = ["YamlError", "read_settings"]

_TARGET = "map[string]string"


class _Decoder:
    """Turns the tree of nodes into settings and collects the nodes that have a wrong type."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.faults: list[str] = []
        self.settings: dict[str, str] = {}

    def mismatch(self, node: Node, target: str) -> None:
        if node.kind == "scalar":
            tag = _short_tag(node.tag) or (resolve_tag(node.text) if node.plain else "!!str")
            text = node.text if len(node.text) <= 10 else node.text[:7] + "..."
            shown = "%s `%s`" % (tag, text)
        else:
            shown = "!!" + node.kind
        self.faults.append(
            "line %d: cannot unmarshal %s into %s" % (self.parser.line(node.at), shown, target)
        )

    def text(self, node: Node) -> str | None:
        """Return a scalar as text; record any other node as a fault and return None."""
        if node.kind != "scalar":
            self.mismatch(node, "string")
            return None
        if _short_tag(node.tag) == "!!binary":
            return self._binary(node)
        if node.plain and not node.tag and resolve_tag(node.text) == "!!null":
            return ""
        return node.text

    def _binary(self, node: Node) -> str | None:
        try:
            return binascii.a2b_base64(node.text.encode()).decode("utf-8", "replace")
        except ValueError:
            self.faults.append("!!binary value contains invalid base64 data")
            return None

    def map(self, node: Node) -> None:
        for key_node, value_node in node.pairs:
            if key_node.plain and key_node.text == "<<" and value_node.kind != "scalar":
                self._merge(value_node)
                continue
            key, value = self.text(key_node), self.text(value_node)
            if key is not None and value is not None:
                self.settings[key] = value

    def _merge(self, node: Node) -> None:
        for source in node.items if node.kind == "seq" else [node]:
            if source.kind != "map":
                raise YamlError("yaml: map merge requires map or sequence of maps as the value")
            self.map(source)


def _short_tag(tag: str) -> str:
    prefix = "!<tag:yaml.org,2002:"
    return "!!" + tag[len(prefix) : -1] if tag.startswith(prefix) else tag


def _decode_bytes(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise YamlError("yaml: invalid leading UTF-8 octet") from None


def read_settings(data: bytes) -> dict[str, str]:
    """Parse a map of scalars.

    Args:
        data: YAML or JSON text; an empty text and null are an empty map.

    Returns:
        key -> text as written.

    Raises:
        YamlError: The data is no such map; the message is Juju's.
    """
    parser = Parser(_decode_bytes(data))
    try:
        root = parser.document()
    except RecursionError:
        raise YamlError("yaml: exceeded max depth") from None
    decoder = _Decoder(parser)
    if root is None or (root.kind == "scalar" and decoder.text(root) == "" and root.plain):
        return {}
    if root.kind == "map":
        decoder.map(root)
    else:
        decoder.mismatch(root, _TARGET)
    if decoder.faults:
        raise YamlError("yaml: unmarshal errors:\n  " + "\n  ".join(decoder.faults))
    return decoder.settings
