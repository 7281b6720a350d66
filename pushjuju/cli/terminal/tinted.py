"""Colours finished YAML and JSON for terminals, without a change to the text. Pure.

Mirrors: juju cmd/output/output.go, juju/ansiterm colours (3.6)
"""

from __future__ import annotations

import re

from pushjuju.cli.terminal.paint import BOLD_CYAN, BRIGHT_MAGENTA, CYAN, GRAY, MAGENTA, escape, paint
from pushjuju.core.values import regex

_LINE = regex(
    r"(?P<lead>\s*(?:- )*)(?P<key>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s:'\"][^:]*)(?P<colon>:)(?P<rest> .*|)"
)
_ITEM = regex(r"(?P<lead>\s*(?:- )+)(?P<rest>.*)")
_PLAIN = regex(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null|~")
_ADDRESS = regex(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:/\d+)?")
_TOKEN = regex(r'"(?:[^"\\]|\\.)*"(?P<key>:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')


def _tint(text: str, colour: str) -> str:
    return escape(paint(text, colour))


def _value(text: str) -> str:
    bare = text.strip("\"'")
    if _PLAIN.fullmatch(text):
        return _tint(text, MAGENTA)
    return _tint(text, CYAN) if _ADDRESS.fullmatch(bare) else text


def yaml_tinted(text: str) -> str:
    """Return a YAML document with keys, numbers, addresses and multi-line texts coloured."""
    out, block = [], -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if block >= 0 and (indent > block or not line):
            out.append(_tint(line, GRAY) if line else line)
            continue
        block = -1
        if line.endswith(("|", "|-", "|+", "|2", "|2-")):
            block = indent
        out.append(_yaml_line(line))
    return "".join(f"{line}\n" for line in out)


def _yaml_line(line: str) -> str:
    found = _LINE.fullmatch(line)
    if found:
        key, colon = _tint(found["key"], BOLD_CYAN), _tint(found["colon"], BRIGHT_MAGENTA)
        rest = f" {_value(found['rest'][1:])}" if found["rest"] else ""
        return f"{found['lead']}{key}{colon}{rest}"
    item = _ITEM.fullmatch(line)
    return f"{item['lead']}{_value(item['rest'])}" if item else line


def json_tinted(text: str) -> str:
    """Return a JSON document with keys, numbers and addresses coloured."""
    return _TOKEN.sub(_json_token, text)


def _json_token(found: re.Match[str]) -> str:
    token = found[0]
    if found["key"]:
        return _tint(token[:-1], BOLD_CYAN) + _tint(":", BRIGHT_MAGENTA)
    if not token.startswith('"'):
        return _tint(token, MAGENTA)
    return _tint(token, CYAN) if _ADDRESS.fullmatch(token[1:-1]) else token
