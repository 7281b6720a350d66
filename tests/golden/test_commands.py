"""Every command that is there takes what Juju 3.6's takes: aliases, formats, flags, defaults."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from pushjuju.cli import registry
from pushjuju.cli.command import Command
from pushjuju.cli.root import Root

TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())["command"]
BY_NAME = {entry["name"]: entry for entry in TABLE}
ROOT = Root()
CONTEXT = click.Context(ROOT)
FOUND = {name: ROOT.get_command(CONTEXT, name) for name in ROOT.list_commands(CONTEXT)}
THERE = {name: found for name, found in FOUND.items() if found is not None}
OURS = {"update-status", "controller", "doctor", "explain", "plugins"}
OWN_FLAGS = {"no-wait"}  # the word that leaves the work to the background, where Juju has no such flag


def _shown_default(value: Any) -> Any:
    return "" if value in (None, [], ()) else value


@pytest.mark.parametrize("name", sorted(set(THERE) & set(BY_NAME)))
def test_a_command_takes_what_jujus_takes(name: str) -> None:
    command, entry = THERE[name], BY_NAME[name]
    assert isinstance(command, Command)
    assert list(command.aliases) == entry.get("aliases", [])
    assert list(command.formats) == entry.get("formats", [])
    flags = {spec.name: spec for spec in command.specs if spec.name not in ("format", "output")}
    wanted = {flag["name"]: flag for flag in entry.get("flags", [])}
    assert set(wanted) <= set(flags)
    assert set(flags) - set(wanted) <= OWN_FLAGS
    for flag_name, flag in wanted.items():
        spec = flags[flag_name]
        assert spec.short == flag.get("short", ""), flag_name
        assert list(spec.aliases) == flag.get("aliases", []), flag_name
        assert str(spec.kind) == flag["type"], flag_name
        assert _shown_default(spec.default) == _shown_default(flag["default"]), flag_name
        assert spec.help, flag_name
        assert (len(spec.name) > 1) is flag.get("long", True), flag_name


def test_every_command_is_jujus_or_named_as_ours() -> None:
    assert set(THERE) - {name.split()[0] for name in BY_NAME} <= OURS


def test_the_registry_knows_every_command_of_the_table() -> None:
    known = {word for words in registry.MODULES.values() for word in words.split()}
    assert {name.split()[0] for name in BY_NAME} <= known
    aliases = {alias: entry["name"] for entry in TABLE for alias in entry.get("aliases", [])}
    assert aliases == registry.ALIASES


def test_no_word_is_in_two_modules() -> None:
    every = [word for words in registry.MODULES.values() for word in words.split()]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", sorted(THERE))
def test_a_command_explains_itself(name: str) -> None:
    command = THERE[name]
    assert isinstance(command, Command)
    assert command.summary.endswith(".")
    keys = [spec.key for spec in command.specs]
    assert len(keys) == len(set(keys))
    for related in command.see_also:
        assert related in {word for words in registry.MODULES.values() for word in words.split()}
