"""Help texts of commands, of the program and of the topics. Pure.

Mirrors: juju/cmd help.go, documentation.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pushjuju.cli.syntax.command import GLOBAL_FLAGS, Command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.portable.flags import dashed

TOPICS = {
    "basics": "Basic Help Summary",
    "commands": "Basic help for all commands",
    "global-options": "Options common to all commands",
    "topics": "Topic list",
}

_COMMON = (
    ("bootstrap", "Creates a controller on a cloud."),
    ("add-model", "Adds a model."),
    ("deploy", "Deploys a new application."),
    ("status", "Displays the state of the model."),
    ("add-unit", "Adds extra units of a deployed application."),
    ("integrate", "Adds a relation between two applications."),
    ("config", "Gets, sets, or resets an application's settings."),
    ("run", "Runs an action on units."),
    ("add-machine", "Adds machines, or takes over existing hosts."),
    ("ssh", "Opens a shell on a machine or unit."),
    ("debug-log", "Displays the log of the model."),
    ("destroy-model", "Destroys a model and everything in it."),
)

_BASICS = """\
{title} runs real Juju machine charms on every machine that SSH reaches.
No controller machine, no agents: the command itself pushes the work.

Usage: {program} [options] <command> ...

First steps:
{common}
Without a controller, `{program} deploy` makes one for this computer.

Try '{program} help commands' for the list of all commands,
'{program} help <command>' for one of them, and
'{program} help topics' for other help.
"""


def basics(program: str) -> str:
    """Return what `pushjuju` without a command, and `--help`, print."""
    width = max(len(name) for name, _ in _COMMON)
    common = "".join(f"    {name:{width}}  {text}\n" for name, text in _COMMON)
    return _BASICS.format(title=program, program=program, common=common)


def command(found: Command, program: str, *, alias: str = "") -> str:
    """Return the help of one command; `alias` is the word that the user typed."""
    lead = f"(alias for {found.name})\n\n" if alias in found.aliases else ""
    usage = " ".join(part for part in (f"{program} {found.name} [options]", found.usage) if part)
    sections = [
        f"{lead}Usage: {usage}\n",
        f"Summary:\n{found.summary}\n",
        _options("Global Options", _global_flags()),
        _options("Command Options", found.specs),
        f"Aliases: {', '.join(found.aliases)}\n" if found.aliases else "",
        f"Details:\n{found.details.strip()}\n" if found.details else "",
        f"Examples:\n\n{found.examples.rstrip()}\n" if found.examples else "",
        _see_also(found.see_also),
    ]
    return "\n".join(section for section in sections if section)


def _global_flags() -> tuple[FlagSpec, ...]:
    return GLOBAL_FLAGS


def _see_also(names: Iterable[str]) -> str:
    listed = "".join(f"  {name}\n" for name in names)
    return f"See also:\n{listed}" if listed else ""


def _options(title: str, specs: Iterable[FlagSpec]) -> str:
    """Return a section of the help with its flags sorted by name; empty when there are none."""
    shown = sorted((spec for spec in specs if not spec.hidden), key=lambda spec: spec.name)
    if not shown:
        return ""
    return f"{title}:\n" + "".join(_option(spec) for spec in shown)


def _option(spec: FlagSpec) -> str:
    names = sorted(spec.names, key=lambda name: (len(name) > 1, name))
    return f"{', '.join(dashed(name) for name in names)}  (= {_default(spec)})\n    {spec.help}\n"


def _default(spec: FlagSpec) -> str:
    default: Any = spec.default
    if spec.kind is Kind.BOOL:
        return "true" if default else "false"
    if default in (None, (), "unset", "auto"):
        return ""
    return (
        str(default) if spec.kind in (Kind.INT, Kind.UINT, Kind.DURATION) or not default else f'"{default}"'
    )


def global_options(program: str) -> str:
    """Return the help topic about the flags that every command takes."""
    title = "These options may be used with any command, and may appear in front of it:"
    return f"{title}\n{program} [options] <command>\n\n{_options('Global Options', _global_flags())}"


def topics() -> str:
    """Return the list of the help topics."""
    width = max(map(len, TOPICS))
    return "".join(f"{name:{width}}  {text}\n" for name, text in TOPICS.items())


def all_commands(entries: Iterable[tuple[str, str]]) -> str:
    """Return the list of all commands and of their aliases, from pairs of name and summary."""
    listed = sorted(entries)
    width = max((len(name) for name, _ in listed), default=0)
    return "".join(f"{name:{width}}  {text}\n" for name, text in listed)


def markdown(found: Command, program: str, *, url: str = "") -> str:
    """Return the help of one command as a section in Markdown."""
    usage = " ".join(part for part in (f"{program} {found.name} [options]", found.usage) if part)
    related = ", ".join(f"[{name}]({url}#{name})" for name in found.see_also)
    flags = "".join(_markdown_flag(spec) for spec in sorted(found.specs, key=lambda spec: spec.name))
    parts = [
        f"# {found.name}\n",
        f"> See also: {related}\n" if related else "",
        f"**Aliases:** {', '.join(found.aliases)}\n" if found.aliases else "",
        f"## Summary\n{found.summary}\n",
        f"## Usage\n```{usage}```\n",
        f"### Options\n| Flag | Default | Usage |\n| --- | --- | --- |\n{flags}" if flags else "",
        f"## Examples\n{found.examples.rstrip()}\n" if found.examples else "",
        f"## Details\n{found.details.strip()}\n" if found.details else "",
        "---\n",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _markdown_flag(spec: FlagSpec) -> str:
    names = sorted(spec.names, key=lambda name: (len(name) > 1, name))
    shown = ", ".join(f"`{dashed(name)}`" for name in names)
    default, text = _default(spec).strip('"'), spec.help.replace("|", "&#x7c;")
    return f"| {shown} | {default} | {text} |\n"


def markdown_index(names: list[str], *, url: str = "") -> str:
    lines = "".join(f"{number}. [{name}]({url}#{name})\n" for number, name in enumerate(names, 1))
    return f"# Index\n{lines}---\n\n"
