"""Hosts in files of other tools: ssh_config, Ansible inventories, Terraform states. Layer: services.

Only read; what a file says is checked as what a person types is.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pushjuju.core.errors import NotValid

_MOST = 10_000  # hosts of one file
_RANGE = re.compile(r"\[([0-9]+|[a-zA-Z]):([0-9]+|[a-zA-Z])(?::([0-9]+))?\]")
_ADDRESSES = (
    "public_ip", "ipv4_address", "access_ip_v4", "public_ip_address", "ip_address", "main_ip", "nat_ip",
    "default_ip_address", "private_ip", "private_ip_address", "network_ip",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One host of a file.

    Attributes:
        name: What the file calls it.
        identity: Path of a private key; empty: the person's own.
    """

    name: str
    host: str
    user: str = ""
    port: int = 22
    identity: str = ""

    @property
    def target(self) -> str:
        """`ssh:[user@]host[:port]`, as add-machine takes it."""
        host = f"[{self.host}]" if ":" in self.host and self.port != 22 else self.host
        user = f"{self.user}@" if self.user else ""
        return f"ssh:{user}{host}{'' if self.port == 22 else f':{self.port}'}"


def read(text: str, name: str) -> list[Listed]:
    """Return the hosts of a file, each address once, in the file's order.

    Raises:
        NotValid: It is of no kind that is known, is broken, or names no host.
    """
    found = list(itertools.islice(_hosts(text, name), _MOST + 1))
    if len(found) > _MOST:
        raise NotValid(f"{name} names more than {_MOST} hosts")
    unique = {(item.host, item.port): item for item in reversed(found)}
    listed = [item for item in found if unique[item.host, item.port] is item]
    if not listed:
        raise NotValid(f"{name} names no host", hint="ssh_config, Ansible inventory or Terraform state")
    return listed


def _hosts(text: str, name: str) -> Iterator[Listed]:
    if text.lstrip().startswith("{"):
        return _terraform(text, name)
    if re.search(r"(?mi)^\s*Host[ \t=]+\S", text):
        return _ssh_config(text, name)
    if re.search(r"(?m)^[A-Za-z0-9_-]+:(?:\s|$)", text):
        return _ansible_yaml(text, name)
    return _ansible_ini(text, name)


# --- ssh_config -------------------------------------------------------------------------------------------


def _ssh_config(text: str, name: str) -> Iterator[Listed]:
    """Yield hosts without wildcards; the first value of a keyword counts, those for `Host *` come last."""
    blocks: list[tuple[list[str], dict[str, str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = _words(line.replace("=", " ", 1) if "=" in line.split("#")[0] else line, name, number)
        if not words:
            continue
        keyword = words[0].lower()
        if keyword in ("host", "match"):
            blocks.append((words[1:] if keyword == "host" else [], {}))
        elif blocks and len(words) > 1:
            blocks[-1][1].setdefault(keyword, words[1])
    general = [values for patterns, values in blocks if patterns == ["*"]]
    for patterns, values in blocks:
        for alias in patterns:
            if not set(alias) & set("*?!"):
                merged = {**(general[0] if general else {}), **values}
                yield _listed(
                    name,
                    alias,
                    merged.get("hostname", alias).replace("%h", alias),
                    merged.get("user"),
                    merged.get("port"),
                    merged.get("identityfile"),
                )


def _words(line: str, name: str, number: int) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        raise NotValid(f"{name}, line {number}: a quote is not closed") from None


# --- Ansible ----------------------------------------------------------------------------------------------


def _ansible_ini(text: str, name: str) -> Iterator[Listed]:
    hosts: dict[str, dict[str, str]] = {}
    groups: dict[str, list[str]] = {}
    settings: dict[str, dict[str, str]] = {}
    children: dict[str, list[str]] = {}
    section, kind = "all", "hosts"
    for number, line in enumerate(text.splitlines(), 1):
        words = _words(line.replace(";", "#", 1) if line.lstrip().startswith(";") else line, name, number)
        if not words:
            continue
        if words[0].startswith("[") and words[0].endswith("]") and len(words) == 1:
            section, _, kind = words[0][1:-1].partition(":")
            kind = kind or "hosts"
        elif kind == "hosts":
            for host in _expanded(words[0], name):
                hosts.setdefault(host, {}).update(_pairs(words[1:]))
                groups.setdefault(section, []).append(host)
        elif kind == "vars":
            key, _, value = line.partition("=")
            settings.setdefault(section, {})[key.strip()] = value.strip().strip("\"'")
        elif kind == "children":
            children.setdefault(section, []).append(words[0])
    for host, own in hosts.items():
        merged: dict[str, str] = dict(settings.get("all", {}))
        for group in _groups_of(host, groups, children):
            merged.update(settings.get(group, {}))
        yield _ansible_host(name, host, {**merged, **own})


def _groups_of(host: str, groups: Mapping[str, list[str]], children: Mapping[str, list[str]]) -> list[str]:
    """Return the groups of a host, the widest first."""
    found = [group for group, members in groups.items() if host in members]
    for _ in range(len(children)):
        wider = [parent for parent, below in children.items() if set(below) & set(found)]
        found = [*(parent for parent in wider if parent not in found), *found]
    return found


def _pairs(words: list[str]) -> dict[str, str]:
    return {key: value for key, equals, value in (word.partition("=") for word in words) if equals}


def _expanded(pattern: str, name: str) -> list[str]:
    """Return the hosts of `web[01:03].lan`."""
    match = _RANGE.search(pattern)
    if match is None:
        return [pattern]
    first, last, step = match[1], match[2], int(match[3] or 1) or 1
    if first.isdigit() != last.isdigit():
        raise NotValid(f"{name}: {pattern} is no range")
    if first.isdigit():
        numbers = range(int(first), int(last) + 1, step)
        values = [str(number).zfill(len(first)) for number in numbers[:_MOST]]
    else:
        values = [chr(number) for number in range(ord(first), ord(last) + 1, step)]
    head, tail = pattern[: match.start()], pattern[match.end() :]
    return [f"{head}{value}{rest}" for value in values for rest in _expanded(tail, name)][:_MOST]


def _ansible_yaml(text: str, name: str) -> Iterator[Listed]:
    from pushjuju.charms.yamlsafe import load

    try:
        document = load(text)
    except NotValid as error:
        raise NotValid(f"{name}: {error.message}") from None
    if not isinstance(document, dict):
        raise NotValid(f"{name}: expected a map of groups")
    found: dict[str, dict[str, str]] = {}
    for group in document.values():
        _walk(group, {}, found, name, depth=0)
    for host, settings in found.items():
        yield _ansible_host(name, host, settings)


def _walk(
    group: Any, above: Mapping[str, str], found: dict[str, dict[str, str]], name: str, *, depth: int
) -> None:
    if not isinstance(group, dict) or depth > 20:
        return
    settings = {**above, **_texts(group.get("vars"))}
    hosts = group.get("hosts")
    for pattern, own in (hosts if isinstance(hosts, dict) else dict.fromkeys(hosts or ())).items():
        for host in _expanded(str(pattern), name):
            found[host] = {**found.get(host, {}), **settings, **_texts(own)}
    children = group.get("children")
    for child in (children if isinstance(children, dict) else {}).values():
        _walk(child, settings, found, name, depth=depth + 1)


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _ansible_host(file: str, host: str, settings: Mapping[str, str]) -> Listed:
    def first(*names: str) -> str | None:
        return next((settings[key] for key in names if settings.get(key)), None)

    alias, _, port = host.partition(":") if host.count(":") == 1 else (host, "", "")
    return _listed(
        file,
        alias,
        first("ansible_host", "ansible_ssh_host") or alias,
        first("ansible_user", "ansible_ssh_user"),
        first("ansible_port", "ansible_ssh_port") or port,
        first("ansible_ssh_private_key_file", "ansible_private_key_file"),
    )


# --- Terraform --------------------------------------------------------------------------------------------


def _terraform(text: str, name: str) -> Iterator[Listed]:
    """Yield the machines of a state, version 4: resources with an address that people log in to."""
    try:
        document = json.loads(text)
    except ValueError:
        raise NotValid(f"{name}: not JSON") from None
    resources = document.get("resources") if isinstance(document, dict) else None
    if not isinstance(resources, list):
        raise NotValid(f"{name} is no Terraform state: it has no list of resources")
    for resource in resources:
        if not isinstance(resource, dict) or resource.get("mode", "managed") != "managed":
            continue
        if not re.search(
            r"instance|droplet|server|virtual_machine|domain|_vm$|_lxc$", str(resource.get("type"))
        ):
            continue
        for number, instance in enumerate(resource.get("instances") or ()):
            attributes = instance.get("attributes") if isinstance(instance, dict) else None
            address = _address(attributes) if isinstance(attributes, dict) else ""
            if address:
                yield _listed(name, f"{resource.get('name')}[{number}]", address, None, None, None)


def _address(attributes: Mapping[str, Any]) -> str:
    for key in _ADDRESSES:
        if isinstance(attributes.get(key), str) and attributes[key]:
            return str(attributes[key]).partition("/")[0]
    for key in ("network_interface", "access_config", "network", "addresses"):
        listed = attributes.get(key)
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, str) and item:
                return item.partition("/")[0]
            if isinstance(item, dict) and (inner := _address(_outward(item))):
                return inner
    return ""


def _outward(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an interface; the address that is reached from outside wins over its inner one."""
    config = item.get("access_config")
    outer = _address({"access_config": config}) if isinstance(config, list) else ""
    return {**item, "public_ip": outer} if outer else item


def _listed(
    file: str, alias: str, host: str, user: str | None, port: str | None, identity: str | None
) -> Listed:
    if port and (not port.isascii() or not port.isdigit() or not 0 < int(port[:6]) < 65536):
        raise NotValid(f'{file}: host {alias}: invalid port "{port}"')
    if not host or host.startswith("-") or any(char.isspace() or char in "/@" for char in host):
        raise NotValid(f'{file}: host {alias}: invalid address "{host}"')
    if user and (user.startswith("-") or any(char.isspace() or char in "/@:" for char in user)):
        raise NotValid(f'{file}: host {alias}: invalid user "{user}"')
    return Listed(name=alias, host=host, user=user or "", port=int(port or 22), identity=identity or "")
