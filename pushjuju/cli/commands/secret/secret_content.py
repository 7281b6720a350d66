"""Parses the arguments of the commands for secrets."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.charms.archive import named_files
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive
from pushjuju.core.errors import UsageError
from pushjuju.core.model.secrets import Content, content_of
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote_list
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.secret import user_secrets

CONTENT = (
    flags.text("info", "The secret description"),
    flags.text("file", "A YAML file containing secret key values"),
)

BASE64 = (
    "With the suffix #base64 on its key, a value is in base64 already; with #file, the value is in a file.\n"
)


def content_given(cli: Cli, words: Sequence[str], file: str) -> Content:
    """Return the content that the arguments and `--file` give."""
    document = user_secrets.read_settings(file, values.read_file(file, cli.console.stdin)) if file else {}
    return content_of(words, document, named_files.read)


def go_on(cli: Cli, opened: sessions.Session) -> None:
    """Work on the model: units that see the change run their hooks."""
    drive.settle(cli, opened.ctx, opened.uuid, touched=[])


GRANTS = "<ID>|<name> <application>[,<application>...]"


def granted_to(args: Sequence[str]) -> tuple[str, list[str]]:
    """Parse a secret and names of applications."""
    if len(args) < 2:
        raise UsageError("missing secret URI or application name")
    if len(args) > 2:
        raise UsageError(f"unrecognized args: {quote_list(args[2:])}")
    names = args[1].split(",")
    for name in names:
        if not is_application(name):
            raise UsageError(f'application name "{name}" not valid')
    return args[0], names
