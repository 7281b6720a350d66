"""The requests of add-secret, update-secret, remove-secret, grant-secret and revoke-secret.

Mirrors: juju apiserver/facades/client/secrets/secrets.go (3.6)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from pushjuju.core import limits
from pushjuju.core.errors import NotFound, NotPermitted, NotValid
from pushjuju.core.model.secrets import Content, OwnerKind, is_uri, new_id, parse_uri, uri
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote
from pushjuju.runner.remote.tools import goyaml
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import MODEL, Change
from pushjuju.store.rows.secret_records import SecretRow
from pushjuju.store.tx import ModelTx

_LINE = regex(r"\bline [0-9]+")


def add(ctx: Context, model: str, name: str, content: Content, description: str = "") -> str:
    """Add a secret that the model owns; return its URI."""
    change = Change(content=content, label=name, description=description)
    with ctx.change(model) as tx:
        return uri(secrets.create(ctx, tx, new_id(os.urandom), MODEL, change).id)


def goes_to_backend(ctx: Context, model: str) -> bool:
    """Return True when a model keeps new content in a backend, so that a worker has to move it there."""
    with ctx.read(model) as tx:
        return bool(secrets.active_backend(tx))


def update(ctx: Context, model: str, which: str, change: Change) -> None:
    """Change a secret that the model owns."""
    with ctx.change(model) as tx:
        secrets.update(ctx, tx, own(tx, which), change)


def remove(ctx: Context, model: str, which: str, revision: int | None = None) -> None:
    """Remove a secret that the model owns, or one of its revisions."""
    with ctx.change(model) as tx:
        row = own(tx, which)
        if revision is not None:
            secrets.revision(tx, row, revision)
        secrets.remove(tx, row, None if revision is None else [revision])


def grant(ctx: Context, model: str, which: str, names: Iterable[str]) -> None:
    """Grant applications access to a secret that the model owns; after an error, to none of them."""
    _for_each(
        ctx, model, which, names, lambda tx, row, name: secrets.grant(tx, row, OwnerKind.APPLICATION, name)
    )


def _for_each(
    ctx: Context,
    model: str,
    which: str,
    names: Iterable[str],
    do: Callable[[ModelTx, SecretRow, str], object],
) -> None:
    with ctx.change(model) as tx:
        row = own(tx, which)
        for name in names:
            applications.get(tx, name)
            do(tx, row, name)


def revoke(ctx: Context, model: str, which: str, names: Iterable[str]) -> None:
    """Revoke the access of applications to a secret that the model owns, with the errors of `grant`."""
    _for_each(ctx, model, which, names, secrets.revoke)


def lookup(tx: ModelTx, which: str) -> SecretRow:
    """Return the secret that has an id, a URI, or a name among the secrets of the model."""
    if is_uri(which):
        source, secret = parse_uri(which)
        if source and source != tx.model:
            raise NotValid(f"secret {quote(which)} belongs to another model")
        found = secrets.find(tx, secret)
        if found is not None:
            return found
    named = secrets.by_label(tx, MODEL, which)
    if named is None:
        raise NotFound(f"secret {quote(which)} not found")
    return named


def require(ctx: Context, model: str, which: str) -> None:
    """Raise an error when a secret does not exist or belongs to a charm."""
    with ctx.read(model) as tx:
        own(tx, which)


def own(tx: ModelTx, which: str) -> SecretRow:
    """Return a secret that the model owns."""
    row = lookup(tx, which)
    if row.owner_kind != OwnerKind.MODEL:
        raise NotPermitted(
            f"secret {quote(which)} is owned by {row.owner_kind} {row.owner}: only its charm can change it"
        )
    return row


# --- files ------------------------------------------------------------------------------------------------


def read_settings(name: str, data: bytes) -> dict[str, str]:
    """Return the content of a secret from a file, with numbers as written; errors never quote the file."""
    if len(data) > limits.SECRET:
        raise NotValid(f"secret content in file {quote(name)} too large: {len(data)} bytes")
    try:
        return goyaml.read_settings(data)
    except goyaml.YamlError as error:
        line = _LINE.search(str(error))
        raise NotValid(f"{name}: {line[0] + ': ' if line else ''}not a map of keys and texts") from None
