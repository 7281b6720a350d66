"""add-secret, update-secret, remove-secret, show-secret, secrets, grant-secret, revoke-secret.

Mirrors: juju cmd/juju/secrets (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import drive, session
from pushjuju.core import limits
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.secrets import Content, OwnerKind, content_of
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote, quote_list
from pushjuju.services.entities.secret.secrets import MODEL, Change, Owner
from pushjuju.services.requests import user_secrets as service

_CONTENT = (
    flags.text("info", "The secret description"),
    flags.text("file", "A YAML file containing secret key values"),
)
_LINE = re.compile(r"\bline [0-9]+")
_BASE64 = (
    "A value with the suffix #base64 on its key is in base64 already; #file names a file that holds it.\n"
)


@command(
    "add-secret",
    usage="<name> [<key>[#base64|#file]=<value> ...]",
    summary="Adds a new secret.",
    flags=(*flags.MODEL, *_CONTENT),
    details=f"{_BASE64}Values on a command line can be seen by others on this computer: --file hides them.",
    examples="    pushjuju add-secret my-apitoken token#file=/path/to/token\n",
    see_also=("update-secret", "grant-secret", "secrets"),
)
def add_secret(cli: Cli, args: tuple[str, ...], *, model: str, info: str, file: str) -> None:
    """Add a secret of the model."""
    if not (args and args[0]):
        raise UsageError("missing secret name")
    content = _content(cli, args[1:], file)
    if not content:
        raise UsageError("missing secret value or filename")
    opened = session.open_model(cli, model)
    uri = service.add(opened.ctx, opened.uuid, args[0], content, info)
    cli.output.text(f"{uri}\n")
    if service.goes_to_backend(opened.ctx, opened.uuid):
        _go_on(cli, opened)


def _content(cli: Cli, words: Sequence[str], file: str) -> Content:
    """Read what arguments and `--file` give.

    Raises:
        UsageError: A key or a value is not valid.
        NotValid: The file cannot be read.
    """
    document = _settings(file, values.read_file(file, cli.console.stdin)) if file else {}
    return content_of(words, document, lambda path: Path(path).expanduser().read_bytes())


def _settings(name: str, data: bytes) -> dict[str, str]:
    """Read a map of texts, a number as it is written; what is wrong is told without what the file holds.

    Raises:
        NotValid: It is none.
    """
    from pushjuju.runner.remote.tools import goyaml

    if len(data) > limits.SECRET:
        raise NotValid(f"secret content in file {quote(name)} too large: {len(data)} bytes")
    try:
        return goyaml.read_settings(data)
    except goyaml.YamlError as error:
        line = _LINE.search(str(error))
        raise NotValid(f"{name}: {line[0] + ': ' if line else ''}not a map of keys and texts") from None


def _go_on(cli: Cli, opened: session.Session) -> None:
    """Let units that see the change run their hooks."""
    drive.settle(cli, opened.ctx, opened.uuid, touched=[])


@command(
    "update-secret",
    usage="<ID>|<name> [<key>[#base64|#file]=<value> ...]",
    summary="Updates an existing secret.",
    flags=(
        *flags.MODEL,
        *_CONTENT,
        flags.text("name", "The new secret name"),
        FlagSpec(
            name="auto-prune",
            kind=Kind.OPTIONAL_BOOL,
            default="unset",
            help="Delete revisions that nobody tracks",
        ),
    ),
    details=f"{_BASE64}New values replace all of the old ones, in a new revision.",
    examples="    pushjuju update-secret my-apitoken token#file=/path/to/token --auto-prune\n",
    see_also=("add-secret", "show-secret"),
)
def update_secret(
    cli: Cli, args: tuple[str, ...], *, model: str, info: str, file: str, name: str, auto_prune: bool | None
) -> None:
    """Change a secret of the model."""
    if not args:
        raise UsageError("missing secret URI")
    content = _content(cli, args[1:], file)
    if not (content or info or name or auto_prune is not None):
        raise UsageError("specify at least one of label, description, or content to update")
    change = Change(
        content=content or None,
        label=name or None,
        description=info or None,
        auto_prune=auto_prune,
    )
    opened = session.open_model(cli, model)
    service.update(opened.ctx, opened.uuid, args[0], change)
    _go_on(cli, opened)


@command(
    "remove-secret",
    usage="<ID>|<name>",
    summary="Removes an existing secret.",
    flags=(*flags.MODEL, flags.number("revision", "Remove the specified revision")),
    details="Removes all revisions, or the one that is named.",
    examples="    pushjuju remove-secret my-secret\n    pushjuju remove-secret my-secret --revision 4\n",
    see_also=("add-secret", "update-secret"),
)
def remove_secret(cli: Cli, args: tuple[str, ...], *, model: str, revision: int) -> None:
    """Remove a secret of the model."""
    if not args:
        raise UsageError("missing secret URI")
    if len(args) > 1:
        raise UsageError(f"unrecognized args: {quote_list(args[1:])}")
    if "revision" in cli.given and revision <= 0:
        raise UsageError("revision must be a positive integer")
    opened = session.open_model(cli, model)
    service.remove(opened.ctx, opened.uuid, args[0], revision or None)
    _go_on(cli, opened)


@command(
    "show-secret",
    usage="<ID>|<name>",
    summary="Shows details for a specific secret.",
    formats=("yaml", "json"),
    flags=(
        *flags.MODEL,
        flags.switch("reveal", "Reveal secret values, applicable to yaml or json formats only"),
        flags.switch("revisions", "Show the secret revisions metadata"),
        flags.number("revision", "Show the secret of this revision", short="r"),
    ),
    examples="    pushjuju show-secret my-secret\n    pushjuju show-secret my-secret --revision 2 --reveal\n",
    see_also=("secrets", "update-secret"),
)
def show_secret(
    cli: Cli, args: tuple[str, ...], *, model: str, reveal: bool, revisions: bool, revision: int
) -> None:
    """Show one secret."""
    if len(args) != 1:
        raise UsageError(
            "secret ID is required" if not args else f"unrecognized args: {quote_list(args[1:])}"
        )
    if reveal and revisions:
        raise UsageError("specify either --revisions or --reveal but not both")
    if revision and revisions:
        raise UsageError("specify either --revisions or --revision but not both")
    if "revision" in cli.given and revision <= 0:
        raise UsageError("revision must be a positive integer")
    opened = session.open_model(cli, model)
    document = service.show(opened.ctx, opened.uuid, args[0], reveal=reveal, every=revisions, number=revision)
    cli.output.text(formatters.secrets(cli.output.form, document))


@command(
    "secrets",
    summary="Lists secrets available in the model.",
    aliases=("list-secrets",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, flags.text("owner", "Include secrets for the specified owner")),
    details="Content is shown by show-secret alone.",
    examples="    pushjuju secrets\n    pushjuju secrets --owner application-mysql --format yaml\n",
    see_also=("add-secret", "remove-secret", "show-secret", "update-secret"),
)
def secrets(cli: Cli, _args: tuple[str, ...], *, model: str, owner: str) -> None:
    """List the secrets of a model."""
    chosen = _owner(owner) if owner else None
    opened = session.open_model(cli, model)
    document = service.documents(opened.ctx, opened.uuid, chosen)
    if cli.output.form == "tabular":
        return cli.output.text(formatters.table(document, cli.clock.now()))
    return cli.output.text(formatters.secrets(cli.output.form, document))


def _owner(text: str) -> Owner:
    """Read a tag: `application-web`, `unit-web-0`, `model-UUID`.

    Raises:
        NotValid: It is none; the message is Juju's.
    """
    kind, _, name = text.partition("-")
    unit = "/".join(name.rsplit("-", 1))
    if kind == "application" and is_application(name):
        return Owner(kind=OwnerKind.APPLICATION, name=name)
    if kind == "unit" and is_unit(unit):
        return Owner(kind=OwnerKind.UNIT, name=unit)
    if kind == "model" and name:
        return MODEL
    raise NotValid(f'invalid owner "{text}"')


_GRANTS = "<ID>|<name> <application>[,<application>...]"


def _granted(args: Sequence[str]) -> tuple[str, list[str]]:
    """Read secret and applications.

    Raises:
        UsageError: One is missing, or no name; the messages are Juju's.
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


@command(
    "grant-secret",
    usage=_GRANTS,
    summary="Grant access to a secret.",
    flags=(*flags.MODEL, *flags.LOGIN),
    details="Lets applications read the value of a secret of the model.",
    examples="    pushjuju grant-secret my-secret postgresql,redis\n",
    see_also=("revoke-secret", "show-secret"),
)
def grant_secret(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Let applications read a secret."""
    which, names = _granted(args)
    opened = session.open_model(cli, model)
    service.grant(opened.ctx, opened.uuid, which, names)


@command(
    "revoke-secret",
    usage=_GRANTS,
    summary="Revoke access to a secret.",
    flags=(*flags.MODEL, *flags.LOGIN),
    details="Takes back what grant-secret gave; a hook that runs cannot read the secret from then on.",
    examples="    pushjuju revoke-secret my-secret postgresql,redis\n",
    see_also=("grant-secret", "show-secret"),
)
def revoke_secret(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Take grants back."""
    which, names = _granted(args)
    opened = session.open_model(cli, model)
    service.revoke(opened.ctx, opened.uuid, which, names)
