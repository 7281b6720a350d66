"""The command that installs an optional library which a cloud needs."""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib import metadata
from urllib.parse import unquote, urlsplit

_NAME = "pushjuju"


def install_command(extra: str) -> tuple[str, ...]:
    """Return the command that installs the libraries of an extra into the environment of this pushjuju.

    In a checkout, the command names the checkout; otherwise the command names the libraries themselves,
    because it is not known where pushjuju was installed from.

    Args:
        extra: A name of `[project.optional-dependencies]`.
    """
    found = metadata.distribution(_NAME)
    pip = (sys.executable, "-m", "pip", "install")
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    place = urlsplit(str(origin.get("url", "")))
    if place.scheme == "file" and origin.get("dir_info", {}).get("editable"):
        return (*pip, "-e", f"{unquote(place.path)}[{extra}]")
    marker = re.compile(rf"""\bextra\s*==\s*["']{re.escape(extra)}["']""")
    split = (text.partition(";") for text in found.requires or ())
    return (*pip, *(wanted.strip() for wanted, _, when in split if marker.search(when)))


def install_hint(extra: str) -> str:
    """Return the command of `install_command` as a line for a shell."""
    return shlex.join(install_command(extra))
