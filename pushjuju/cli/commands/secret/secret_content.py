"""Arguments of the commands about secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive, session
from pushjuju.core import limits
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.model.secrets import Content, content_of
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote, quote_list
from pushjuju.runner.remote.tools import goyaml

CONTENT = (
    flags.text("info", "The secret description"),
    flags.text("file", "A YAML file containing secret key values"),
)

_LINE = re.compile(r"\bline [0-9]+")

BASE64 = (
    "A value with the suffix #base64 on its key is in base64 already; #file names a file that holds it.\n"
)


def content_given(cli: Cli, words: Sequence[str], file: str) -> Content:
    """Read what arguments and `--file` give.

    Raises:
        UsageError: A key or a value is not valid.
        NotValid: The file cannot be read.
    """
    document = _settings(file, values.read_file(file, cli.console.stdin)) if file else {}
    return content_of(words, document, lambda path: Path(path).expanduser().read_bytes())


def _settings(name: str, data: bytes) -> dict[str, str]:
    """Read a map of texts, a number as written; an error never quotes what the file holds.

    Raises:
        NotValid: The file is not a map of texts.
    """
    if len(data) > limits.SECRET:
        raise NotValid(f"secret content in file {quote(name)} too large: {len(data)} bytes")
    try:
        return goyaml.read_settings(data)
    except goyaml.YamlError as error:
        line = _LINE.search(str(error))
        raise NotValid(f"{name}: {line[0] + ': ' if line else ''}not a map of keys and texts") from None


def go_on(cli: Cli, opened: session.Session) -> None:
    """Let units that see the change run their hooks."""
    drive.settle(cli, opened.ctx, opened.uuid, touched=[])


GRANTS = "<ID>|<name> <application>[,<application>...]"


def granted_to(args: Sequence[str]) -> tuple[str, list[str]]:
    """Read secret and applications.

    Raises:
        UsageError: A name is missing or wrong; the messages are Juju's.
    """
    if len(args) < 2:
        raise UsageError("missing secret URI or application name")
    if len(args) > 2:
        raise UsageError(f"unrecognized args: {quote_list(args[2:])}")
    names = args[1].split(",")
    for name in names:
        if not is_application(name):
            raise UsageError(f'application name "{name}" not valid')
    return args[0], names
