"""Reads the hosts of an Ansible inventory: ini, YAML or TOML.

Mirrors: Ansible's guide "How to build your inventory", and its inventory plugins ini, yaml and toml.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from pushjuju.charms.archive import named_files
from pushjuju.charms.format.tomlsafe import TomlFault, load_toml
from pushjuju.charms.format.yamlload import load
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.services.requests.inventories.listed import MOST, PROXY_COMMAND, Faults, Listed, jump_of

_RANGE = regex(r"\[([0-9]*|[a-zA-Z]):([0-9]+|[a-zA-Z])(?::([0-9]+))?\]")
_HEAD = regex(r"\[([^\[\]:]+)(?::(\w+))?\]")
_KINDS = ("hosts", "vars", "children")
_DEEPEST = 20  # levels of nested groups
TAGS = ("!vault", "!vault-encrypted", "!unsafe")
"""YAML tags of Ansible; the value after such a tag is read as text."""
_SSH = (
    "", "ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh", "libssh",
    "ansible.netcommon.libssh",
)  # fmt: skip
_MOST_FILES = 1000  # files that are read of one folder
_ROOT = "all"
_VAULT = "$ANSIBLE_VAULT"
_ENDS = ("", ".yml", ".yaml", ".json")


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


@dataclass(slots=True)
class Inventory:
    """The content of an inventory."""

    # host -> the settings that the inventory has for the host itself
    hosts: dict[str, dict[str, str]] = field(default_factory=dict)
    # group -> the hosts that are directly in the group
    members: dict[str, dict[str, None]] = field(default_factory=dict)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)  # group -> its settings
    # group -> the groups that are directly in the group
    children: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, group: str, host: str, settings: Mapping[str, str]) -> None:
        """Add a host to a group, with settings of the host."""
        self.hosts.setdefault(host, {}).update(settings)
        self.members.setdefault(group, {})[host] = None


def texts(value: Any) -> dict[str, str]:
    """Return settings as text; a setting without a value is an empty text."""
    if not isinstance(value, dict):
        return {}
    return {str(key): "" if item is None else str(item) for key, item in value.items()}


def listed(found: Inventory, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    """Yield the hosts of an inventory, each with its merged settings.

    Mirrors: Ansible's default `precedence` of variables, the lowest first: groups of the inventory, files of
    group_vars, hosts of the inventory, files of host_vars.
    """
    files = _Beside(folder, faults)
    for host, own in found.hosts.items():
        groups = [_ROOT, *(name for name in _groups_of(host, found) if name != _ROOT)]
        merged: dict[str, str] = {}
        for group in groups:
            merged.update(found.settings.get(group, {}))
        for group in groups:
            merged.update(files.settings("group_vars", group))
        alias, port = _split(host)
        merged.update({"ansible_port": port} if port else {})
        merged.update(own)
        merged.update(files.settings("host_vars", alias))
        yield from host_of(host, _with_folder(merged, folder), faults)


def _with_folder(settings: Mapping[str, str], folder: Path | None) -> dict[str, str]:
    """Replace `{{ inventory_dir }}`, the only template that pushjuju evaluates."""
    if folder is None:
        return dict(settings)
    here = str(folder.resolve())
    pattern = re.compile(r"\{\{\s*inventory_dir\s*\}\}")
    return {key: pattern.sub(lambda _: here, value) for key, value in settings.items()}


def _groups_of(host: str, found: Inventory) -> list[str]:
    """Return the groups of a host, the group with the lowest precedence first.

    As in Ansible, groups are ordered by depth, then by `ansible_group_priority`, then by name.
    """
    present = {group for group, members in found.members.items() if host in members}
    for _ in range(_DEEPEST):
        wider = {parent for parent, below in found.children.items() if set(below) & present}
        if wider <= present:
            break
        present |= wider
    ranks = {group: (_depth(group, found, 0), _priority(group, found), group) for group in present}
    return sorted(present, key=lambda group: ranks[group])


def _priority(group: str, found: Inventory) -> int:
    text = found.settings.get(group, {}).get("ansible_group_priority", "1")
    return int(text) if re.fullmatch(r"-?[0-9]{1,6}", text) else 1


def _depth(group: str, found: Inventory, so_far: int) -> int:
    parents = [name for name, below in found.children.items() if group in below and name != group]
    if so_far > _DEEPEST or not parents:
        return so_far
    return max(_depth(parent, found, so_far + 1) for parent in parents)


class _Beside:
    """Reads the settings in the files of group_vars and host_vars, each file once."""

    def __init__(self, folder: Path | None, faults: Faults) -> None:
        self._folder = folder
        self._faults = faults
        self._known: dict[tuple[str, str], dict[str, str]] = {}

    def settings(self, kind: str, name: str) -> Mapping[str, str]:
        """Return the settings in the files of a group or host; files of Ansible's vault are ignored."""
        if self._folder is None or "/" in name or name.startswith(".") or "\0" in name:
            return {}
        if (kind, name) not in self._known:
            found: dict[str, str] = {}
            for path in _files(self._folder / kind, name):
                found.update(self._read(path))
            self._known[kind, name] = found
        return self._known[kind, name]

    def _read(self, path: Path) -> dict[str, str]:
        try:
            text = named_files.read(path).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            self._faults.add("cannot be read", file=str(path))
            return {}
        if text.startswith(_VAULT):
            return {}
        try:
            return texts(load(text, text_tags=TAGS))
        except NotValid as error:
            self._faults.add(error.message, file=str(path))
        return {}


def _files(folder: Path, name: str) -> list[Path]:
    """Return the file `group_vars/NAME`, with or without a suffix, or all files of a folder of this name."""
    for path in (folder / f"{name}{end}" for end in _ENDS):
        if path.is_file():
            return [path]
        if path.is_dir():
            below = (item for item in sorted(path.rglob("*"))[:_MOST_FILES] if item.is_file())
            return [item for item in below if _is_read(item.relative_to(path))]
    return []


def _is_read(path: Path) -> bool:
    """Return True when Ansible reads a file of group_vars: no hidden file, backup or other suffix."""
    hidden = any(part.startswith(".") or part.endswith("~") for part in path.parts)
    return not hidden and path.suffix in _ENDS


def host_of(host: str, settings: Mapping[str, str], faults: Faults) -> Iterator[Listed]:
    """Yield a host with its merged settings, unless Ansible would not reach the host over SSH."""

    def first(*names: str) -> str | None:
        return next((settings[key] for key in names if settings.get(key)), None)

    if settings.get("ansible_connection", "") not in _SSH:
        faults.notes.append(f"{host} is left out: its connection is {settings['ansible_connection']}")
        return
    alias, port = _split(host)
    address = first("ansible_host", "ansible_ssh_host") or alias
    yield from faults.host(
        alias,
        address[1:-1] if address.startswith("[") and address.endswith("]") else address,
        user=first("ansible_user", "ansible_ssh_user", "ansible_remote_user"),
        port=first("ansible_port", "ansible_ssh_port") or port,
        identity=first("ansible_ssh_private_key_file", "ansible_private_key_file"),
        jump=_jump(settings),
    )


def _jump(settings: Mapping[str, str]) -> str:
    """Return the jump host that the arguments for ssh name, PROXY_COMMAND for any other command, or empty."""
    options = " ".join(settings.get(f"ansible_ssh_{name}_args", "") for name in ("common", "extra"))
    try:
        words = shlex.split(options)
    except ValueError:
        return PROXY_COMMAND if "proxy" in options.lower() else ""
    for number, word in enumerate(words):
        after = words[number + 1] if number + 1 < len(words) else ""
        if word == "-J":
            return after
        option = after if word == "-o" else word[2:] if word.startswith("-o") else ""
        key, _, value = (
            option.replace(" ", "=", 1).partition("=") if "=" not in option else option.partition("=")
        )
        if key.strip().lower() == "proxyjump":
            return value.strip()
        if key.strip().lower() == "proxycommand":
            return jump_of(value)
    return ""


def _split(host: str) -> tuple[str, str]:
    """Split `host:port`; an IPv6 address with a port is in brackets."""
    bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.%]+)\](?::([0-9]+))?", host)
    if bracketed:
        return bracketed[1], bracketed[2] or ""
    alias, _, port = host.partition(":") if host.count(":") == 1 else (host, "", "")
    return alias, port
