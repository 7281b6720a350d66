"""Reads hosts from files of other tools: ssh_config, Ansible inventories, Terraform states.

The files are only read, never executed. Their values are checked like values that a user types, and one error
lists all faults of a file.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.services.requests.inventories import ansible, ssh_config, terraform
from pushjuju.services.requests.inventories.listed import MOST, Faults, Listed

__all__ = ["Listed", "read"]

_NO_TEXT = regex(r"[\x00-\x08\x0e-\x1f]")
_SECTION = regex(r"(?m)^\s*\[[^\[\]]+\]\s*(?:#.*)?$")
_TOML = regex(r"(?m)^\s*\[[^\[\]]+\.(?:hosts|vars)(?:\.[^\[\]]+)?\]\s*$|^\s*(?:children|hosts)\s*=\s*\[")


def no_note(note: str) -> None:
    """Ignore a note."""


def read(
    text: str, name: str, folder: Path | None = None, note: Callable[[str], None] = no_note
) -> list[Listed]:
    """Return the hosts of a file in its order, without repeated addresses.

    Args:
        folder: The folder of the file, where other files that it names are found, or None to read no other
            file.
        note: Gets a line for each host that is left out, and for each setting that add-machine does not use.
        Raises:
        NotValid: The kind of file is unknown, or the file has no host or faults, which the message lists.
    """
    faults = Faults(name)
    found = list(itertools.islice(_hosts(text, faults, folder), MOST + 1))
    if len(found) > MOST:
        faults.add(f"names more than {MOST} hosts")
    faults.refuse()
    for left_out in faults.notes:
        note(left_out)
    unique = {(item.host, item.port): item for item in reversed(found)}
    listed = [item for item in found if unique[item.host, item.port] is item]
    for item in found:
        first = unique[item.host, item.port]
        if first.name != item.name and first.user != item.user:
            note(f"{item.name} is left out: {first.name} is the same machine")
    if not listed:
        raise NotValid(f"{name} names no host", hint="ssh_config, Ansible inventory or Terraform state")
    return listed


def _hosts(text: str, faults: Faults, folder: Path | None) -> Iterator[Listed]:
    text = text.removeprefix("\ufeff")
    if _NO_TEXT.search(text):
        faults.add("is not text")
        return iter(())
    if text.lstrip().startswith("{"):
        return terraform.hosts(text, faults)
    if _TOML.search(text):
        return ansible.from_toml(text, faults, folder)
    sections = _SECTION.search(text)
    if not sections and re.search(r"(?mi)^\s*(Host|Include)[ \t=]+\S", text):
        return ssh_config.hosts(text, faults, folder)
    if not sections and re.search(r"(?m)^(?:[A-Za-z0-9_-]+:(?:\s|$)|- |---\s*$)", text):
        return ansible.from_yaml(text, faults, folder)
    return ansible.from_ini(text, faults, folder)
