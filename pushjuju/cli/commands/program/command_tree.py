"""Imports all commands of the program, for help, manual page and completion."""

from __future__ import annotations

import click

from pushjuju.cli.syntax.command import Command


def root_group() -> click.Group:
    found = click.get_current_context().find_root().command
    assert isinstance(found, click.Group), "commands run under the root group"
    return found


def all_commands() -> list[Command]:
    root, context = root_group(), click.get_current_context().find_root()
    found = (root.get_command(context, name) for name in root.list_commands(context))
    return [entry for entry in found if isinstance(entry, Command)]
