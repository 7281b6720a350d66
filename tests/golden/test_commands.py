"""Every command and flag of the Juju 3.6 client: what is there, what differs by choice, what is not built.

`commands.toml` holds the facts of Juju; the click tree is compared with it. A difference has its entry in one
of the tables here, with its reason, or the test names it.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands import registry
from pushjuju.cli.syntax.command import Command
from tests.world.commandline import Ended, call

TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())["command"]
BY_NAME = {entry["name"]: entry for entry in TABLE}
ROOT = Root()
CONTEXT = click.Context(ROOT)
FOUND = {name: ROOT.get_command(CONTEXT, name) for name in ROOT.list_commands(CONTEXT)}
THERE = {name: found for name, found in FOUND.items() if found is not None}

# Commands that Juju does not have.
OURS = {
    "update-status",
    "controller",
    "doctor",
    "explain",
    "plugins",
    "plan",
    "show-relation",
    "hooks",
    "replay",
    "apply",
}
OURS |= {"mirror", "pack", "timeline", "audit", "notify"}
OURS |= {"metrics"}  # Juju before 3.0 had another command of this name
OURS |= {"api", "completion", "man", "backups", "restore-backup", "schema"}
# Flags that Juju does not have, on any command.
OWN_FLAGS = {
    "allow-build-scripts": "builds source trees; Juju takes what charmcraft packed",
    "from": "takes the hosts of a file of another tool; Juju takes one host at a time",
    "no-wait": "leaves the work to the background; Juju's client never works itself",
}
# Words of Juju that are gone in its last 3.6, or come with a feature flag only: as unknown as any other.
GONE = {"collect-metrics", "set-meter-status"}
# Differences by choice: (command, what) -> why.
BY_CHOICE: dict[tuple[str, str], str] = {
    ("controllers", "managed"): "Juju's newer clients ask JAAS with it; refused with one line",
    ("config", "branch"): "comes with the feature flag of branches only",
    ("clouds", "import-juju"): "copies the clouds and credentials of a Juju client, which Juju has already",
    ("bootstrap", "store"): "the model is in a file unless a database is named",
    ("bootstrap", "insecure-store"): "as above",
    ("dashboard", "controller"): "shows all models of a controller; Juju's shows a charm's of one model",
    ("dashboard", "model"): "as above",
    ("dashboard", "no-browser-login"): "the link logs in",
    ("dashboard", "no-browser"): "the browser opens by default",
    ("dashboard", "no-drive"): "what becomes due is done while the dashboard is open",
    ("dashboard", "listen"): "several dashboards on one computer, tunnels",
    ("dashboard", "link"): "Juju's dashboard has no links that log in",
    ("dashboard", "as"): "shows the pages with the rights of another user",
    ("dashboard", "read-only"): "lets no page change anything",
    ("status", "formats"): "pictures too: svg, dot and mermaid",
    ("status", "machines"): "draws machines instead of applications",
    (
        "export-bundle",
        "with-charms",
    ): "what was uploaded is written beside the file, so that it deploys elsewhere",
}


def differences(name: str, command: Command, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (what, how it differs) for a command and its entry in the table."""
    if list(command.aliases) != entry.get("aliases", []):
        yield "aliases", f"{command.aliases}, not {entry.get('aliases', [])}"
    if list(command.formats) != entry.get("formats", []):
        yield "formats", f"{command.formats}, not {entry.get('formats', [])}"
    if bool(command.usage) is not bool(entry.get("args")):
        yield "args", f"{command.usage!r}, not {entry.get('args')!r}"
    flags = {spec.name: spec for spec in command.specs if spec.name not in ("format", "output")}
    wanted = {flag["name"]: flag for flag in entry.get("flags", [])}
    for flag in wanted.keys() - flags.keys():
        yield flag, "is missing"
    for flag in flags.keys() - wanted.keys() - OWN_FLAGS.keys():
        yield flag, "is not Juju's"
    for flag in wanted.keys() & flags.keys():
        yield from ((flag, text) for text in _flag_differences(flags[flag], wanted[flag]))


def _flag_differences(spec: Any, flag: Mapping[str, Any]) -> Iterator[str]:
    pairs = {
        "short": (spec.short, flag.get("short", "")),
        "aliases": (list(spec.aliases), flag.get("aliases", [])),
        "type": (str(spec.kind), flag["type"]),
        "default": (_shown_default(spec.default), _shown_default(flag["default"])),
        "long form": (len(spec.name) > 1, flag.get("long", True)),
        "help": (bool(spec.help), True),
    }
    for what, (ours, theirs) in pairs.items():
        if ours != theirs:
            yield f"{what} is {ours!r}, not {theirs!r}"


def _shown_default(value: Any) -> Any:
    return "" if value in (None, [], ()) else value


@pytest.mark.parametrize("name", sorted(set(THERE) & set(BY_NAME)))
def test_a_command_takes_what_jujus_takes(name: str) -> None:
    command = THERE[name]
    assert isinstance(command, Command)
    found = [
        f"{name} {what}: {how}"
        for what, how in differences(name, command, BY_NAME[name])
        if (name, what) not in BY_CHOICE
    ]
    assert not found, "\n".join(found)


def test_every_command_is_jujus_or_named_as_ours() -> None:
    assert set(THERE) - {name.split()[0] for name in BY_NAME} <= OURS


def test_the_registry_knows_every_command_of_the_table() -> None:
    assert {name.split()[0] for name in BY_NAME} <= registry.known()
    assert not GONE & registry.known()
    aliases = {alias: entry["name"] for entry in TABLE for alias in entry.get("aliases", [])}
    assert aliases == registry.ALIASES


def test_every_command_of_the_table_is_there() -> None:
    assert {name.split()[0] for name in BY_NAME} <= set(THERE)


def typed(tmp_path: Path, *argv: str, stdin: str = "") -> Ended:
    """Run a command line that does not work the model."""
    return call(tmp_path, *argv, stdin=stdin, env={"PUSHJUJU_WAIT": "0"})


@pytest.mark.parametrize("word", sorted(GONE))
def test_what_juju_has_given_up_is_unknown(word: str, tmp_path: Path) -> None:
    status, out, err = typed(tmp_path, word)
    assert (status, out) == (1, "")
    assert f'"{word}" is not a pushjuju command' in err


def test_no_word_has_two_nouns() -> None:
    every = [word for words in (*registry.NOUNS.values(), registry.REFUSED) for word in words.split()]
    assert len(every) == len(set(every))


def test_every_command_is_alone_in_its_file_unless_it_is_refused() -> None:
    for word, name in registry.words().items():
        assert _commands_in(name) == (registry.REFUSED.split() if name == "refused" else [word])


def _commands_in(name: str) -> list[str | None]:
    module = importlib.import_module(f"pushjuju.cli.commands.{name}")
    return [found.name for found in vars(module).values() if isinstance(found, Command)]


@pytest.mark.parametrize("name", sorted(THERE))
def test_a_command_explains_itself(name: str) -> None:
    command = THERE[name]
    assert isinstance(command, Command)
    assert command.summary.endswith(".")
    keys = [spec.key for spec in command.specs]
    assert len(keys) == len(set(keys))
    if command.into is not None:
        fields = {field.name for field in dataclasses.fields(command.into)}
        assert fields == {spec.key for spec in command.specs if not spec.void}
    for related in command.see_also:
        assert related in registry.known()


# --- examples ---------------------------------------------------------------------------------------------


EXAMPLES = sorted(
    {
        line.strip()
        for command in THERE.values()
        if isinstance(command, Command)
        for line in command.examples.splitlines()
        if line.strip().startswith("pushjuju ")
    }
)


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_a_command_line_that_is_understood(line: str) -> None:
    """Its words and flags are there, and it has as many arguments as are taken."""
    word, *rest = shlex.split(re.split(r" [|<>;&] ?|    ", line)[0])[1:]
    found = ROOT.get_command(CONTEXT, word)
    assert isinstance(found, Command), line
    found.make_context(word, rest, parent=click.Context(ROOT))


@pytest.mark.parametrize("word", sorted({entry["name"].split()[0] for entry in TABLE if entry["tier"] == 1}))
def test_every_command_of_the_first_tier_has_an_example(word: str) -> None:
    found = THERE[word]
    assert isinstance(found, Command)
    assert found.examples
