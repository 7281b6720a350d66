"""Reads YAML of unknown authors: plain data only, within limits.

Reads the events of PyYAML's C parser and builds the data itself. So values are counted before they are built
(aliases count as often as they are used), keys are unique, and plain words mean what they mean to Juju's
parser: dates, times and `1:30` stay text, `1e3` is a number. Mirrors: gopkg.in/yaml.v2 as juju/charm uses it.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator
from dataclasses import field
from typing import Any

import yaml

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.yamlwords import FALSE, FLOATS, NULL, TRUE, number_of

_TAG = "tag:yaml.org,2002:"
_LETTERS = ("y", "Y", "n", "N")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(NULL), **dict.fromkeys(TRUE, True), **dict.fromkeys(FALSE, False), **FLOATS,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlLimits:
    """The greatest size of a document."""

    size: int = 2 * 1024 * 1024  # bytes of the text
    # values after every alias is replaced; a long text counts once more for each 64 characters
    nodes: int = 200_000
    depth: int = 64  # levels after every alias is replaced


@dataclass(frozen=True, slots=True)
class Mark:
    """The position of a value: its line, from 1; for a plain word, also the word as it was written."""

    line: int
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A YAML document with the position of each value in the file."""

    root: Any
    # id() of a list or map in the data -> index or key -> position. An alias has the id of its container.
    marks: dict[int, dict[Any, Mark]]
    line: int = 1  # the line at which the document begins
    # errors for duplicate keys, as Juju's strict reader words them; the later value is used
    doubled: tuple[str, ...] = ()


@dataclass(slots=True)
class _Weighed:
    value: Any
    weight: int
    height: int
    text: str | None = None


@dataclass(slots=True)
class _Frame:
    container: Any
    anchor: str | None
    weight: int = 1
    height: int = 1
    key: Any = None
    has_key: bool = False
    merging: bool = False
    merged: list[dict[Any, Any]] = field(default_factory=list)
    lines: dict[Any, int] = field(default_factory=dict)


def load(
    data: bytes | str,
    limits: YamlLimits | None = None,
    *,
    text_keys: int = 0,
    text_tags: Collection[str] = (),
) -> Any:
    """Return the plain data of the first document, or None for an empty text.

    Args:
        limits: The greatest size of the document.
        text_keys: Keys down to this level stay text (`on:`, `5:`), as in Juju's typed maps.
        text_tags: Tags of other tools (`!vault`); a word with such a tag is read as text.

    Raises:
        NotValid: The text is not YAML or plain data, has duplicate keys, or is too large; the message starts
            with `yaml: `.
    """
    limits = limits or YamlLimits()
    if len(data) > limits.size:
        raise NotValid(f"yaml: document is larger than {limits.size} bytes")
    builder = _Builder(limits, text_keys, text_tags)
    for event in _events(data):
        builder.feed(event)
        if builder.done:
            break
    return builder.root


def load_documents(
    data: bytes | str, limits: YamlLimits | None = None, *, text_keys: int = 0
) -> list[Document]:
    """Return all documents of a text with the positions of their values.

    Args:
        limits: The greatest size of all documents together.
        text_keys: As for `load`.

    Raises:
        NotValid: As for `load`, but duplicate keys are accepted.
    """
    limits = limits or YamlLimits()
    if len(data) > limits.size:
        raise NotValid(f"yaml: document is larger than {limits.size} bytes")
    found: list[Document] = []
    builder, total = _Marker(limits, text_keys), 0
    for event in _events(data):
        builder.feed(event)
        if builder.done:
            found.append(builder.document())
            total += builder.total
            builder = _Marker(limits, text_keys, start=total)
    return found


def _events(data: bytes | str) -> Iterator[Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(data, Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise NotValid(f"yaml: {line}{error.problem or error.context or 'not valid'}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        first = getattr(error, "reason", "") or (str(error).splitlines() or ["not valid"])[0]
        raise NotValid(f"yaml: {first}") from None


class _Builder:
    """Builds one document from parser events, without recursion."""

    def __init__(self, limits: YamlLimits, text_keys: int, text_tags: Collection[str] = ()) -> None:
        self.root: Any = None
        self.done = False
        self._limits = limits
        self._text_keys = text_keys
        self._text_tags = text_tags
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Weighed | None] = {}
        self._total = 0

    def feed(self, event: Any) -> None:
        line = event.start_mark.line + 1
        match type(event).__name__:
            case "ScalarEvent":
                self._scalar(event, line)
            case "AliasEvent":
                self._alias(event.anchor, line)
            case "SequenceStartEvent":
                self._open([], event, line)
            case "MappingStartEvent":
                self._open({}, event, line)
            case "SequenceEndEvent" | "MappingEndEvent":
                self._close(line)
            case "DocumentEndEvent":
                self.done = True

    def _scalar(self, event: Any, line: int) -> None:
        plain = event.implicit[0]
        if plain and event.value == "<<" and self._wants_key():
            self._stack[-1].has_key = self._stack[-1].merging = True
            return
        # A one-letter key is a name (`y: {type: string}`), although YAML 1.1 reads `y` as true.
        may_be_text = len(self._stack) <= self._text_keys or event.value in _LETTERS
        as_text = (may_be_text and self._wants_key()) or event.tag in self._text_tags
        value = event.value if as_text else _scalar_value(event, line)
        found = _Weighed(value, 1 + len(event.value) // 64, 0, event.value if plain else None)
        if event.anchor:
            self._anchors[event.anchor] = found
        self._add(found, line)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            raise NotValid(f"yaml: line {line}: unknown anchor '{anchor}' referenced")
        found = self._anchors[anchor]
        if found is None:
            raise NotValid(f"yaml: line {line}: anchor '{anchor}' value contains itself")
        self._add(found, line)

    def _open(self, container: Any, event: Any, line: int) -> None:
        kind = "seq" if isinstance(container, list) else "map"
        if event.tag not in (None, "!", _TAG + kind):
            raise NotValid(f"yaml: line {line}: tag {event.tag} is not supported")
        if self._wants_key():
            raise NotValid(f"yaml: line {line}: a list or map cannot be a key")
        if event.anchor:
            self._anchors[event.anchor] = None
        self._stack.append(_Frame(container, event.anchor))
        self._check_depth(0, line)

    def _close(self, line: int) -> None:
        frame = self._stack.pop()
        if frame.merged:
            _apply_merges(frame)
        found = _Weighed(frame.container, frame.weight, frame.height)
        if frame.anchor:
            self._anchors[frame.anchor] = found
        # The items were counted as they came; only the container itself is added here.
        self._total -= frame.weight - 1
        self._add(found, line)

    def _add(self, found: _Weighed, line: int) -> None:
        self._total += found.weight
        if self._total > self._limits.nodes:
            raise NotValid(f"yaml: line {line}: document contains excessive aliasing or too many values")
        self._check_depth(found.height, line)
        if not self._stack:
            self.root = found.value
            return
        frame = self._stack[-1]
        frame.weight += found.weight
        frame.height = max(frame.height, found.height + 1)
        if isinstance(frame.container, list):
            frame.container.append(found.value)
        elif not frame.has_key:
            self._take_key(frame, found.value, line)
        else:
            self._take_value(frame, found.value, line)

    def _take_key(self, frame: _Frame, key: Any, line: int) -> None:
        if isinstance(key, list | dict):
            raise NotValid(f"yaml: line {line}: a list or map cannot be a key")
        if key in frame.lines:
            self._twice(key, line, frame.lines[key])
        frame.lines[key] = line
        frame.key, frame.has_key = key, True

    def _twice(self, key: Any, line: int, first: int) -> None:
        raise NotValid(f"yaml: line {line}: mapping key {_shown(key)} already defined at line {first}")

    def _take_value(self, frame: _Frame, value: Any, line: int) -> None:
        frame.has_key = False
        if not frame.merging:
            frame.container[frame.key] = value
            return
        frame.merging = False
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise NotValid(f"yaml: line {line}: map merge requires map or sequence of maps as the value")
        frame.merged.extend(parts)

    def _wants_key(self) -> bool:
        return (
            bool(self._stack) and isinstance(self._stack[-1].container, dict) and not self._stack[-1].has_key
        )

    def _check_depth(self, height: int, line: int) -> None:
        if len(self._stack) + height > self._limits.depth:
            raise NotValid(f"yaml: line {line}: exceeded max depth of {self._limits.depth}")


class _Marker(_Builder):
    """A builder that also notes the position of each value, and accepts duplicate keys."""

    def __init__(self, limits: YamlLimits, text_keys: int, *, start: int = 0) -> None:
        super().__init__(limits, text_keys)
        self._total = start
        self._start = start
        self._marks: dict[int, dict[Any, Mark]] = {}
        self._begins: dict[int, int] = {}
        self._doubled: list[str] = []
        self._line = 1

    @property
    def total(self) -> int:
        """The number of values in this document."""
        return self._total - self._start

    def document(self) -> Document:
        """Return the document that the events described."""
        return Document(root=self.root, marks=self._marks, line=self._line, doubled=tuple(self._doubled))

    def feed(self, event: Any) -> None:
        if type(event).__name__ == "DocumentStartEvent":
            self._line = event.start_mark.line + 1
        super().feed(event)

    def _twice(self, key: Any, line: int, first: int) -> None:  # noqa: ARG002
        self._doubled.append(f"line {line}: key {_shown(key)} already set in map")

    def _open(self, container: Any, event: Any, line: int) -> None:
        self._begins[id(container)] = line
        self._marks[id(container)] = {}
        super()._open(container, event, line)

    def _close(self, line: int) -> None:
        frame = self._stack[-1]
        own = self._marks[id(frame.container)]
        for part in reversed(frame.merged):
            for key, mark in self._marks[id(part)].items():
                own.setdefault(key, mark)
        super()._close(line)

    def _add(self, found: _Weighed, line: int) -> None:
        if self._stack:
            frame = self._stack[-1]
            own = self._marks[id(frame.container)]
            if isinstance(frame.container, list):
                begin = self._begins.get(id(found.value), line)
                own[len(frame.container)] = Mark(begin, found.text)
            elif frame.has_key and not frame.merging:
                own[frame.key] = Mark(frame.lines[frame.key], found.text)
        super()._add(found, line)


def _apply_merges(frame: _Frame) -> None:
    own = dict(frame.container)
    for part in reversed(frame.merged):
        frame.container.update(part)
    frame.container.update(own)


def _shown(key: Any) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)


def _scalar_value(event: Any, line: int) -> Any:
    text: str = event.value
    if event.implicit[0]:
        return plain_value(text)
    if event.implicit[1] or event.tag in ("!", _TAG + "str"):
        return text
    if event.tag == _TAG + "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except ValueError:  # not base64, or bytes that are not text
            raise NotValid(f"yaml: line {line}: !!binary value contains invalid base64 data") from None
    wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}.get(event.tag.removeprefix(_TAG))
    if wanted is None:
        raise NotValid(f"yaml: line {line}: tag {event.tag} is not supported")
    value = plain_value(text)
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise NotValid(f"yaml: line {line}: cannot decode {text!r} as {event.tag.removeprefix(_TAG)}")
    return value


def plain_value(text: str) -> Any:
    """Return the value of an unquoted word: null, bool, int, float, or the word itself."""
    if text in _WORDS:
        return _WORDS[text]
    if not text or text[0] not in "+-.0123456789":
        return text
    number = number_of(text)
    return text if number is None else number
