"""The model key `cloudinit-userdata`: which keys it may hold, and how it merges with pushjuju's own document.

Pure. Mirrors: juju environs/config/config.go ensureStringMaps, cloudconfig/instancecfg (3.6)
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotValid

_REFUSED = {
    "users": "users not allowed",
    "runcmd": "runcmd not allowed, use preruncmd or postruncmd instead",
    "bootcmd": "bootcmd not allowed",
}
_PREFIX = "cloudinit-userdata: "
INHERITED = ("apt-primary", "apt-sources", "apt-security", "ca-certs")
"""Keys of cloud-init that containers may inherit from their host."""


def check(document: Any) -> dict[str, object]:
    """Return the content of `cloudinit-userdata` as data, checked."""
    if not isinstance(document, Mapping):
        raise NotValid(f"{_PREFIX}must be valid YAML: expected a map")
    for key, value in document.items():
        if not isinstance(key, str):
            raise NotValid(f"{_PREFIX}must be valid YAML: map keyed with non-string value")
        if key in _REFUSED:
            raise NotValid(_PREFIX + _REFUSED[key])
        if key == "packages":
            _check_packages(value)
        if key in ("preruncmd", "postruncmd"):
            commands(value, key)
    return dict(document)


def _check_packages(value: Any) -> None:
    if not isinstance(value, list) or any(not isinstance(item, str) for item in value):
        raise NotValid(f"{_PREFIX}packages must be a list of strings")


def commands(value: Any, key: str) -> list[str]:
    """Return shell commands. A command is a text, or a list of words; the words of a list are quoted."""
    if not isinstance(value, list):
        raise NotValid(f"{_PREFIX}{key} must be a list of strings or lists of strings")
    found = []
    for item in value:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list) and all(isinstance(word, str) for word in item):
            found.append(shlex.join(item))
        else:
            raise NotValid(f"{_PREFIX}{key} must be a list of strings or lists of strings")
    return found


def inherited_names(text: str) -> list[str]:
    """Read the model key `container-inherit-properties`: names separated by commas."""
    names = [word.strip() for word in text.split(",")] if text else []
    if unknown := sorted(set(names) - set(INHERITED)):
        raise NotValid(
            f"container-inherit-properties: {', '.join(unknown)} not allowed",
            hint=f"known keys: {', '.join(INHERITED)}",
        )
    return list(dict.fromkeys(names))


def merge(own: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, object]:
    """Merge the model's cloud-init data into pushjuju's.

    The model's packages and files come last. Of the commands, `preruncmd` come first and `postruncmd` last.
    Any other key of the model replaces pushjuju's. Juju writes its own files by commands, so that a model's
    `write_files` replaces nothing; pushjuju keeps the files of both.
    """
    found = {**own, **{key: value for key, value in wanted.items() if key not in _JOINED}}
    if isinstance(own.get("write_files"), list) and isinstance(wanted.get("write_files"), list):
        found["write_files"] = [*own["write_files"], *wanted["write_files"]]
    packages = [*own.get("packages", ()), *wanted.get("packages", ())]
    if packages:
        found["packages"] = list(dict.fromkeys(packages))
    before = commands(wanted.get("preruncmd", []), "preruncmd")
    after = commands(wanted.get("postruncmd", []), "postruncmd")
    ours = list(own.get("runcmd", ()))
    if before or after or ours:
        found["runcmd"] = [*before, *ours, *(["set +xe", *after] if after else [])]
    return found


_JOINED = ("packages", "preruncmd", "postruncmd")
