"""Reads the hosts of an Ansible inventory: ini, YAML or TOML.

Mirrors: Ansible's guide "How to build your inventory", and its inventory plugins ini, yaml and toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pushjuju.charms.format.tomlsafe import TomlFault, load_toml
from pushjuju.charms.format.yamlload import load
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.services.requests.inventories.ansible_vars import TAGS, Inventory, host_of, listed, texts
from pushjuju.services.requests.inventories.listed import MOST, Faults, Listed

_RANGE = regex(r"\[([0-9]*|[a-zA-Z]):([0-9]+|[a-zA-Z])(?::([0-9]+))?\]")
_HEAD = regex(r"\[([^\[\]:]+)(?::(\w+))?\]")
_KINDS = ("hosts", "vars", "children")
_DEEPEST = 20  # levels of nested groups


def from_ini(text: str, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    """Yield the hosts of an inventory in the form of an ini file."""
    found, group, kind = Inventory(), "ungrouped", "hosts"
    told: dict[str, int] = {}  # group that a line describes or names -> number of the line
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line or line[0] in ";#":
            continue
        head = _head(line)
        if head is not None:
            group, kind = head
            if kind not in _KINDS:
                faults.add(f"a section [{group}:{kind}] is not known: hosts, vars or children", line=number)
            if kind == "vars":
                told.setdefault(group, number)
            else:
                found.members.setdefault(group, {})
        elif kind == "hosts":
            _take_host(line, number, group, found, faults)
        elif kind == "vars":
            _take_setting(line, number, group, found, faults)
        elif kind == "children" and (words := faults.words(line, number)):
            found.children.setdefault(group, {})[words[0]] = None
            told.setdefault(words[0], number)
    for name, number in told.items():
        if name not in found.members and name not in ("all", "ungrouped"):
            faults.add(f"there is no group {name}", line=number)
    return listed(found, faults, folder)


def _head(line: str) -> tuple[str, str] | None:
    """Return group and kind of a section's first line, or None; `[01:03]` is a range and `[::1]` a host."""
    first = line.partition("#")[0].strip()
    head = _HEAD.fullmatch(first)
    if head is None or _RANGE.fullmatch(first):
        return None
    return head[1].strip(), head[2] or "hosts"


def _take_host(line: str, number: int, group: str, found: Inventory, faults: Faults) -> None:
    words = faults.words(line, number)
    for host in _expanded(words[0], faults, number) if words else ():
        found.add(group, host, _pairs(words[1:], faults, number))


def _take_setting(line: str, number: int, group: str, found: Inventory, faults: Faults) -> None:
    """Read a line of `[group:vars]`; the whole text after the first `=` is the value."""
    key, equals, value = (part.strip() for part in line.partition("="))
    if not equals:
        faults.add("expected key=value", line=number)
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    found.settings.setdefault(group, {})[key] = value[1:-1] if quoted else value


def _pairs(words: list[str], faults: Faults, line: int) -> dict[str, str]:
    """Return a host's settings; errors do not quote wrong words, which may be parts of a password."""
    if not all("=" in word for word in words):
        faults.add("expected key=value after the host", line=line)
    return {key: value for key, equals, value in (word.partition("=") for word in words) if equals}


def _expanded(pattern: str, faults: Faults, line: int = 0) -> list[str]:
    """Return the hosts that `web[01:03].lan` stands for; a range without a beginning begins with 0."""
    match = _RANGE.search(pattern)
    if match is None:
        return [pattern]
    first, last, step = match[1] or "0", match[2], int(match[3] or 1)
    if first.isdigit() != last.isdigit() or step < 1:
        faults.add(f"{pattern} is not a range", line=line)
        return []
    if first.isdigit():
        numbers = range(int(first), int(last) + 1, step)[: MOST + 1]
        values = [str(number).zfill(len(first)) for number in numbers]
    else:
        values = [chr(number) for number in range(ord(first), ord(last) + 1, step)]
    if not values:
        faults.add(f"{pattern} is an empty range", line=line)
    head, tail = pattern[: match.start()], pattern[match.end() :]
    rests = _expanded(tail, faults, line)
    return [f"{head}{value}{rest}" for value in values for rest in rests][: MOST + 1]


def from_yaml(text: str, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    """Yield the hosts of an inventory in YAML."""
    try:
        document = load(text, text_tags=TAGS)
    except NotValid as error:
        faults.add(error.message)
        return iter(())
    return _from_groups(document, faults, folder)


def from_toml(text: str, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    """Yield the hosts of an inventory in TOML, whose tables are like the maps of YAML."""
    try:
        document = load_toml(text)
    except TomlFault as error:
        faults.add(f"toml: {error}")
        return iter(())
    return _from_groups(document, faults, folder)


def _from_groups(document: Any, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    if not isinstance(document, dict):
        faults.add("expected a map of groups: is it an inventory?")
        return iter(())
    found = Inventory()
    for name, group in document.items():
        _walk(str(name), group, found, faults, depth=0)
    return listed(found, faults, folder)


def _walk(name: str, group: Any, found: Inventory, faults: Faults, *, depth: int) -> None:
    found.members.setdefault(name, {})
    if group is None:
        return
    if not isinstance(group, dict) or depth > _DEEPEST:
        faults.add(f"group {name}: expected a map with hosts, vars or children")
        return
    settings = _part(group, "vars", name, faults)
    found.settings.setdefault(name, {}).update(texts(settings))
    for pattern, own in _part(group, "hosts", name, faults).items():
        if own is not None and not isinstance(own, dict):
            faults.add(f"host {pattern}: expected a map of its settings")
        for host in _expanded(str(pattern), faults):
            found.add(name, host, texts(own))
    for child, inner in _part(group, "children", name, faults).items():
        found.children.setdefault(name, {})[str(child)] = None
        _walk(str(child), inner, found, faults, depth=depth + 1)


def _part(group: Mapping[str, Any], part: str, name: str, faults: Faults) -> Mapping[Any, Any]:
    """Return hosts, vars or children of a group as a map; names without values become its keys."""
    value = group.get(part)
    if isinstance(value, str) and part != "vars":
        value = [value]
    if isinstance(value, list) and part != "vars" and all(isinstance(item, str) for item in value):
        return dict.fromkeys(value)
    if value is not None and not isinstance(value, dict):
        faults.add(f"group {name}: expected a map of {part}")
    return value if isinstance(value, dict) else {}


def from_document(document: Mapping[str, Any], faults: Faults) -> Iterator[Listed]:
    """Yield the hosts of the output of `ansible-inventory --list`, where Ansible has merged the values."""
    known = document.get("_meta")
    settings = known.get("hostvars") if isinstance(known, Mapping) else None
    for host, own in (settings if isinstance(settings, Mapping) else {}).items():
        yield from host_of(str(host), texts(own), faults)
