"""The command that installs an optional library which a cloud, the API or a store needs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_NAME = "pushjuju"


def install_command(extra: str) -> tuple[str, ...]:
    """Return the command that installs the libraries of an extra into the environment of this pushjuju.

    An environment of `uv tool` gets an extra beside those that it has: uv removes what its command does not
    name. In a checkout, the command names the checkout. Otherwise the command names the libraries themselves,
    because it is not known where pushjuju was installed from.

    Args:
        extra: A name of `[project.optional-dependencies]`.
    """
    found = metadata.distribution(_NAME)
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    home = Path(sys.prefix)
    if (receipt := home / "uv-receipt.toml").is_file():
        known = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
        return ("uv", "tool", "install", *_of_tool(extra, known, origin))
    libraries = _libraries(found.requires or (), extra)
    if (home / "pipx_metadata.json").is_file():
        return ("pipx", "inject", home.name, *libraries)
    if origin.get("dir_info", {}).get("editable"):
        libraries = ("-e", f"{unquote(urlsplit(origin['url']).path)}[{extra}]")
    return (*_installer(), *libraries)


def _libraries(requires: Sequence[str], extra: str) -> tuple[str, ...]:
    marker = re.compile(rf"""\bextra\s*==\s*["']{re.escape(extra)}["']""")
    split = (text.partition(";") for text in requires)
    return tuple(wanted.strip() for wanted, _, when in split if marker.search(when))


def _installer() -> tuple[str, ...]:
    """Return the beginning of a command that installs libraries here, with or without a pip of its own."""
    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip", "install")
    if shutil.which("uv"):
        return ("uv", "pip", "install", "--python", sys.executable)
    return ("python3", "-m", "pip", "--python", sys.executable, "install")


def _of_tool(extra: str, known: Sequence[Mapping[str, Any]], origin: Mapping[str, Any]) -> list[str]:
    """Return the arguments of `uv tool install` for what a tool's environment has, and one more extra."""
    has = {extra}
    words = []
    for item in known:
        if item["name"] == _NAME:
            has.update(item.get("extras", ()))
        else:
            words += ["--with", item.get("path") or f"{item['name']}{item.get('specifier', '')}"]
    named = f"{_NAME}[{','.join(sorted(has))}]"
    url = origin.get("url")
    if url and (commit := origin.get("vcs_info", {}).get("commit_id")):
        url = f"git+{url}@{commit}"
    return [*words, f"{named} @ {url}" if url else named]


def install_hint(extra: str) -> str:
    """Return the command of `install_command` as a line for a shell."""
    return shlex.join(install_command(extra))
