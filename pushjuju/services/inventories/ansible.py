"""Hosts of an Ansible inventory: ini or YAML, with group_vars and host_vars beside it. Layer: services.

Mirrors: Ansible's guide "How to build your inventory": ranges, groups of groups, and which value counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.services.inventories.listed import MOST, Faults, Listed

_RANGE = re.compile(r"\[([0-9]+|[a-zA-Z]):([0-9]+|[a-zA-Z])(?::([0-9]+))?\]")
_HEAD = re.compile(r"\[([^\[\]:]+)(?::(vars|children|hosts))?\]")
_SSH = (
    "",
    "ssh",
    "smart",
    "paramiko",
    "paramiko_ssh",
    "ansible.builtin.ssh",
    "libssh",
    "ansible.netcommon.libssh",
)
_DEEPEST = 20  # groups in groups
_ROOT = "all"


@dataclass(slots=True)
class _Inventory:
    """What an inventory says.

    Attributes:
        hosts: Host -> its own settings.
        members: Group -> its own hosts.
        settings: Group -> its settings.
        children: Group -> the groups in it.
    """

    hosts: dict[str, dict[str, str]] = field(default_factory=dict)
    members: dict[str, dict[str, None]] = field(default_factory=dict)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)
    children: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, group: str, host: str, settings: Mapping[str, str]) -> None:
        """Note a host of a group."""
        self.hosts.setdefault(host, {}).update(settings)
        self.members.setdefault(group, {})[host] = None


def from_ini(text: str, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    """Yield the hosts of an inventory in the form of an ini file."""
    found, group, kind = _Inventory(), "ungrouped", "hosts"
    for number, line in enumerate(text.splitlines(), 1):
        words = [] if line.lstrip().startswith(";") else faults.words(line, number)
        if not words:
            continue
        head = _HEAD.fullmatch(words[0]) if words[0].startswith("[") else None
        if head and len(words) == 1 and not _RANGE.fullmatch(words[0]):
            group, kind = head[1].strip(), head[2] or "hosts"
            found.members.setdefault(group, {})
        elif kind == "hosts":
            for host in _expanded(words[0], faults, number):
                found.add(group, host, _pairs(words[1:], faults, number))
        elif kind == "vars":
            key, equals, value = line.partition("=")
            if not equals:
                faults.add(f"expected key=value: {words[0]}", line=number)
            found.settings.setdefault(group, {})[key.strip()] = value.strip().strip("\"'")
        else:
            found.children.setdefault(group, {})[words[0]] = None
    return _listed(found, faults, folder)


def _pairs(words: list[str], faults: Faults, line: int) -> dict[str, str]:
    for word in words:
        if "=" not in word:
            faults.add(f"expected key=value: {word}", line=line)
    return {key: value for key, equals, value in (word.partition("=") for word in words) if equals}


def _expanded(pattern: str, faults: Faults, line: int = 0) -> list[str]:
    """Return the hosts of `web[01:03].lan`."""
    match = _RANGE.search(pattern)
    if match is None:
        return [pattern]
    first, last, step = match[1], match[2], int(match[3] or 1)
    if first.isdigit() != last.isdigit() or step < 1:
        faults.add(f"{pattern} is no range", line=line)
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
    from pushjuju.charms.yamlsafe import load

    found = _Inventory()
    try:
        document = load(text)
    except NotValid as error:
        faults.add(error.message)
        return iter(())
    if not isinstance(document, dict):
        faults.add("expected a map of groups")
        return iter(())
    for name, group in document.items():
        _walk(str(name), group, found, faults, depth=0)
    return _listed(found, faults, folder)


def _walk(name: str, group: Any, found: _Inventory, faults: Faults, *, depth: int) -> None:
    if group is None:
        found.members.setdefault(name, {})
        return
    if not isinstance(group, dict) or depth > _DEEPEST:
        faults.add(f"group {name}: expected a map with hosts, vars or children")
        return
    found.settings.setdefault(name, {}).update(_texts(group.get("vars")))
    found.members.setdefault(name, {})
    hosts = group.get("hosts")
    for pattern, own in (hosts if isinstance(hosts, dict) else dict.fromkeys(hosts or ())).items():
        for host in _expanded(str(pattern), faults):
            found.add(name, host, _texts(own))
    children = group.get("children")
    for child, inner in (children if isinstance(children, dict) else {}).items():
        found.children.setdefault(name, {})[str(child)] = None
        _walk(str(child), inner, found, faults, depth=depth + 1)


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def from_document(document: Mapping[str, Any], faults: Faults) -> Iterator[Listed]:
    """Yield the hosts of what `ansible-inventory --list` prints: their values are worked out already."""
    known = document.get("_meta")
    settings = known.get("hostvars") if isinstance(known, Mapping) else None
    for host, own in (settings if isinstance(settings, Mapping) else {}).items():
        yield from _host(str(host), _texts(own), faults)


# --- which value counts -----------------------------------------------------------------------------------


def _listed(found: _Inventory, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    for host, own in found.hosts.items():
        merged: dict[str, str] = {}
        for group in [_ROOT, *(name for name in _groups_of(host, found) if name != _ROOT)]:
            merged.update(found.settings.get(group, {}))
            merged.update(_beside(folder, "group_vars", group, faults))
        yield from _host(host, {**merged, **own, **_beside(folder, "host_vars", host, faults)}, faults)


def _groups_of(host: str, found: _Inventory) -> list[str]:
    """Return the groups of a host, the widest first; those of one depth by name, as Ansible does."""
    depths: dict[str, int] = {}
    present = {group for group, members in found.members.items() if host in members}
    for _ in range(_DEEPEST):
        wider = {parent for parent, below in found.children.items() if set(below) & present}
        if wider <= present:
            break
        present |= wider
    for group in present:
        depths[group] = _depth(group, found, present, 0)
    return sorted(present, key=lambda group: (depths[group], group))


def _depth(group: str, found: _Inventory, among: set[str], so_far: int) -> int:
    parents = [name for name in among if group in found.children.get(name, {}) and name != group]
    if so_far > _DEEPEST or not parents:
        return so_far
    return max(_depth(parent, found, among, so_far + 1) for parent in parents)


def _beside(folder: Path | None, kind: str, name: str, faults: Faults) -> dict[str, str]:
    """Return the settings of a file of group_vars or host_vars; sealed ones (vault) are left alone."""
    if folder is None or "/" in name or name.startswith("."):
        return {}
    from pushjuju.charms.yamlsafe import load

    for path in (folder / kind / f"{name}{end}" for end in (".yml", ".yaml", "", ".json")):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if text.startswith("$ANSIBLE_VAULT"):
            return {}
        try:
            return _texts(load(text))
        except NotValid as error:
            faults.add(error.message, file=str(path))
    return {}


def _host(host: str, settings: Mapping[str, str], faults: Faults) -> Iterator[Listed]:
    def first(*names: str) -> str | None:
        return next((settings[key] for key in names if settings.get(key)), None)

    if settings.get("ansible_connection", "") not in _SSH:
        faults.notes.append(f"{host} is left out: its connection is {settings['ansible_connection']}")
        return
    alias, _, port = host.partition(":") if host.count(":") == 1 else (host, "", "")
    options = " ".join(settings.get(f"ansible_ssh_{name}_args", "") for name in ("common", "extra"))
    jump = re.search(r"ProxyJump[= ]([^\s'\"]+)|-J\s*(\S+)|(ProxyCommand)", options)
    yield from faults.host(
        alias,
        first("ansible_host", "ansible_ssh_host") or alias,
        user=first("ansible_user", "ansible_ssh_user", "ansible_remote_user"),
        port=first("ansible_port", "ansible_ssh_port") or port,
        identity=first("ansible_ssh_private_key_file", "ansible_private_key_file"),
        jump=(jump[1] or jump[2] or jump[3]) if jump else "",
    )
