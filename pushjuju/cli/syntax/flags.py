"""Flags that several commands share.

A flag may be the default of a dataclass's field, and the field has the type of the flag's value. So the
functions return `Any`. Mirrors: juju cmd/modelcmd (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.core.errors import NotValid
from pushjuju.portable.names import is_unit


def switch(name: str, about: str, *, default: bool = False, **more: Any) -> Any:
    """Make a boolean flag."""
    return FlagSpec(name=name, kind=Kind.BOOL, default=default, help=about, **more)


def text(name: str, about: str, **more: Any) -> Any:
    """Make a flag with one text; the last value wins."""
    return FlagSpec(name=name, kind=Kind.STRING, help=about, **{"default": "", **more})


def number(name: str, about: str, *, default: int = 0, **more: Any) -> Any:
    """Make a flag with an integer."""
    return FlagSpec(name=name, help=about, default=default, **{"kind": Kind.INT, **more})


def duration(name: str, about: str, *, default: str = "unset", **more: Any) -> Any:
    """Make a flag with a duration; the command gets seconds, or None for `unset`."""
    return FlagSpec(name=name, kind=Kind.DURATION, default=default, help=about, **more)


def many(name: str, about: str, *, kind: Kind = Kind.LIST, **more: Any) -> Any:
    """Make a flag that may be repeated."""
    return FlagSpec(name=name, kind=kind, help=about, **more)


def _storage_directive(value: str) -> None:
    name, equals, directive = value.partition("=")
    if not (name and equals and directive):
        raise NotValid(f'expected "name=constraints" where "constraints" must be specified, got "{value}"')


def _storage_ids(value: str) -> None:
    for item in value.split(",") if value else ():
        if not is_unit(item):  # ids of storage have the form of unit names
            raise NotValid(f'storage ID "{item}" not valid')


MODEL = (
    text("model", "Model to operate in. Accepts [<controller name>:]<model name>|<model UUID>", short="m"),
)
CONTROLLER = (text("controller", "Controller to operate in", short="c"),)
LOGIN = (switch("no-browser-login", "Never open a browser; no login needs one", short="B", void=True),)
CLIENT_OR_CONTROLLER = (
    switch("client", "Act on this client's own records"),
    text("controller", "Act on this controller", short="c"),
    *LOGIN,
)
IN_MODEL, AT_CONTROLLER = (*MODEL, *LOGIN), (*CONTROLLER, *LOGIN)
NO_PROMPT = (switch("no-prompt", "Do not ask for confirmation"),)
COLOUR = (switch("color", "Force colours", void=True), switch("no-color", "Never use colours", void=True))
CONFIG_NO_RESET = (
    FlagSpec(name="file", kind=Kind.PATH, default="", help="YAML file with the settings, - for stdin"),
    *COLOUR,
)
CONFIG = (
    *CONFIG_NO_RESET,
    many("reset", "Reset these keys to their defaults, comma separated or repeated", split=True),
)
UNIT = (
    text("to", "Placement directives, comma separated, one for each unit"),
    many("attach-storage", "Existing storage to attach to the one unit", split=True, check=_storage_ids),
)
TASK = (
    switch("background", "Return at once with the ids of operation and tasks"),
    duration("wait", "Give up waiting after this; negative: never", default="0s"),
    *COLOUR,
    switch("utc", "Show times in UTC"),
)
WAIT = (
    text("query", "Condition to wait for", default="per subcommand"),
    duration("timeout", "Give up after this", default="10m"),
    switch("summary", "Print a summary on exit", default=True),
)
CHARMHUB = (text("charmhub-url", "Charmhub server to ask", default="https://api.charmhub.io"),)
STORAGE = FlagSpec(
    name="storage",
    kind=Kind.STORAGE,
    help="Storage directive, [<app>:]<name>=<directive>",
    check=_storage_directive,
)
BUILD_SCRIPTS = switch(
    "allow-build-scripts",
    "Run a source tree's scripts, and build packages without wheels, in a local machine that is thrown away",
)
NO_WAIT = (
    switch(
        "no-wait", "Record the change and return; a background process does the work (also PUSHJUJU_WAIT=0)"
    ),
)
